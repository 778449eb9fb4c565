/**
 * Fills the sections named in a prompt with entries extracted from the conversation. A table of patterns decides which facts belong under
 * a title. A title without a match gets the user's sentences that share a word with it.
 *
 * Everything in quotes or back-quotes occurs in the conversation. The few words around it are fixed.
 */

import type { CooperativeTask } from "../../base/work.ts"
import type { SentenceKind } from "../../views/record/statements.ts"
import { asEntry, code, fenced, headOf, quote, readEntries, type Section, sentencesOf, unquote } from "./document.ts"
import type { CommandOutcome, Facts, FileFact } from "./facts.ts"
import type { OfflineStatement } from "./statements.ts"
import type { ToolCall } from "./timeline.ts"
import { type OfflineTodo, toolCommand, toolField, toolPath, toolRole } from "./toolbox.ts"

interface Filler {
  readonly pattern: RegExp
  readonly fill: (facts: Facts) => string[]
  /** Its share of a budget. Unused shares go to other sections. */
  readonly share: number
  /**
   * How entries of the same kind from an earlier summary are used. `merged` puts them first, except those with a newer entry about the
   * same thing. `logged` puts them first. `replaced` uses them only if there is nothing newer. `final` uses only them.
   */
  readonly earlier: "merged" | "logged" | "replaced" | "final"
  /** Its entries quote messages or sentences of the user. */
  readonly quotesUser?: true
  /** Updates an earlier entry with newer facts. */
  readonly review?: (entry: string, facts: Facts) => string
}

const MAX_SNIPPET = 240 // characters of a file's newest text
const MAX_TITLE = 120 // characters
const MAX_STATES = 6 // sentences about the state of the work
const MAX_LIST = 40 // entries; the first and the newest remain
const EXTRACTIVE = "These notes are extractive: quoted from the conversation, no model wrote them."
const OTHER_SHARE = 0.05 // of a budget, for a section that is not in the table
/** Precedes a file's newest text. */
export const NEWEST_TEXT = ", newest text:\n"
const PASSED_LATER = ", passed later"
const SPEAKER = /^the (?:user|latest request): /
const FIRST_WORDS = /^(?:\S+[^\S\n]+){0,7}\S+/ // enough for a title

/** The only list that is never shortened. */
const USER_MESSAGES: Filler = {
  pattern: /user.?s? messages|messages (?:from|of) the user/i,
  fill: (facts) => facts.userMessages.map(quote),
  share: 0.25,
  earlier: "merged",
  quotesUser: true,
}

/** The first match applies, so specific titles come before general ones. */
const FILLERS: readonly Filler[] = [
  USER_MESSAGES,
  { pattern: /\btitle\b/i, fill: sayTitle, share: 0.02, earlier: "final" },
  { pattern: /\bnext\b|continuing/i, fill: sayNext, share: 0.1, earlier: "replaced", quotesUser: true },
  {
    pattern: /request|intent|task spec|objective|\bgoals?\b/i,
    fill: sayRequests,
    share: 0.12,
    earlier: "merged",
    quotesUser: true,
  },
  {
    pattern: /pending|open|remaining|to.?dos?\b/i,
    fill: (facts) => [...openTodos(facts).map(sayTodo), ...quotedAs(facts, ["open"])],
    share: 0.06,
    earlier: "replaced",
  },
  {
    pattern: /error|fix|correction|dead end/i,
    fill: sayErrors,
    share: 0.12,
    earlier: "merged",
    quotesUser: true,
    review: reviewFailure,
  },
  { pattern: /problem|solv/i, fill: saySolved, share: 0.16, earlier: "merged" },
  {
    pattern: /worklog|\blog\b|steps|history/i,
    fill: (facts) => facts.calls.map(sayCall),
    share: 0.05,
    earlier: "logged",
  },
  { pattern: /current|state|progress|completed|work done/i, fill: sayCurrent, share: 0.1, earlier: "replaced" },
  { pattern: /files?|code sections|functions|artifacts/i, fill: sayFiles, share: 0.1, earlier: "merged" },
  {
    pattern: /workflow|commands/i,
    fill: (facts) => facts.outcomes.filter(({ isCommand }) => isCommand).map(sayOutcome),
    share: 0.05,
    earlier: "merged",
  },
  {
    pattern: /learn|lesson|rules|preferences|feedback/i,
    fill: (facts) => facts.standing.map(quote),
    share: 0.1,
    earlier: "merged",
    quotesUser: true,
  },
  {
    pattern: /results?|output|answers/i,
    fill: (facts) => facts.finalTexts.map(quote),
    share: 0.1,
    earlier: "merged",
  },
  {
    pattern: /concept|technical|technolog|documentation|codebase|system|architecture/i,
    fill: sayConcepts,
    share: 0.04,
    earlier: "merged",
  },
]

/** The nine sections of a summary, for a request that names none. */
export const USUAL_TITLES = [
  "Primary Request and Intent",
  "Key Technical Concepts",
  "Files and Code Sections",
  "Errors and Fixes",
  "Problem Solving",
  "All User Messages",
  "Pending Tasks",
  "Current Work",
  "Optional Next Step",
] as const

/** The share of a budget that a section gets first. */
export const sectionShare = (title: string): number => fillerOf(title)?.share ?? OTHER_SHARE

/** The entries for a section. Empty if the conversation has none for it. No entry leaves a fence or a tag open. */
export function* fillTask(title: string, facts: Facts): CooperativeTask<string[]> {
  return (yield* entriesTask(title, facts)).map(asEntry)
}

function* entriesTask(title: string, facts: Facts): CooperativeTask<string[]> {
  const filler = fillerOf(title)
  if (filler === undefined) return relatedSentences(title, facts).map(quote)
  const fresh = filler.fill(facts)
  yield
  const earlier = facts.earlier.filter((section) => fillerOf(section.title) === filler).flatMap(entriesOf)
  const before = earlier.map((entry) => filler.review?.(entry, facts) ?? entry)
  switch (filler.earlier) {
    case "merged": {
      const entries = yield* mergeTask([...before, ...fresh])
      return filler === USER_MESSAGES ? entries : shorten(entries)
    }
    case "logged":
      return shorten([...new Set([...before, ...fresh])])
    case "replaced":
      // A finished todo list is newer than the open todos of an earlier summary.
      return fresh.length > 0 || facts.todos.length > 0 ? shorten(fresh) : before
    case "final":
      return before.length > 0 ? before : fresh
  }
}

/** The user's messages in an earlier summary: its list of them, or else what it quotes in other sections. */
export function quotedMessages(sections: readonly Section[]): string[] {
  const listed = sections.filter((section) => fillerOf(section.title) === USER_MESSAGES)
  const quoting = sections.filter((section) => fillerOf(section.title)?.quotesUser)
  return (listed.length > 0 ? listed : quoting)
    .flatMap(entriesOf)
    .flatMap((entry) => unquote(entry.replace(SPEAKER, "")) ?? [])
}

function sayTodo(todo: OfflineTodo): string {
  return `[${todo.status}] ${code(todo.content)}`
}

function fillerOf(title: string): Filler | undefined {
  return FILLERS.find(({ pattern }) => pattern.test(title))
}

function entriesOf(section: Section): string[] {
  return readEntries(section.body).filter((entry) => entry !== "")
}

/** Later entries replace earlier ones about the same thing, which is the back-quoted or quoted text they start with. */
function* mergeTask(entries: readonly string[]): CooperativeTask<string[]> {
  const byKey = new Map<string, string>()
  for (const entry of entries) {
    yield
    const key = unquote(entry) ?? /^`[^`]+`/.exec(entry)?.[0] ?? entry
    byKey.delete(key)
    byKey.set(key, entry)
  }
  return [...byKey.values()]
}

/** Keeps the first entry, which shows how the work started, and the newest of the others. */
function shorten(entries: readonly string[]): string[] {
  return entries.length <= MAX_LIST ? [...entries] : [entries[0]!, ...entries.slice(1 - MAX_LIST)]
}

function sayTitle(facts: Facts): string[] {
  const [first] = [...quotedMessages(facts.earlier), ...facts.userMessages]
  return first === undefined ? [] : [headOf(FIRST_WORDS.exec(first.trim())?.[0] ?? "", MAX_TITLE), EXTRACTIVE]
}

function sayRequests(facts: Facts): string[] {
  const { userMessages } = facts
  return [...new Set([...userMessages.slice(0, 1), ...userMessages.slice(-1)])].map(quote)
}

function openTodos(facts: Facts): OfflineTodo[] {
  return facts.todos.filter(({ status }) => status !== "completed")
}

function sayErrors(facts: Facts): string[] {
  const failures = facts.outcomes.filter(({ failed }) => failed).map(sayOutcome)
  return [...sayFixed(facts), ...failures, ...facts.corrections.map((words) => `the user: ${quote(words)}`)]
}

function reviewFailure(entry: string, facts: Facts): string {
  const passed = facts.outcomes.some(({ failed, what }) => !failed && entry.startsWith(`${code(what)} failed: `))
  return passed && !entry.endsWith(PASSED_LATER) ? `${entry}${PASSED_LATER}` : entry
}

/** The assistant's sentences about decisions with reasons, failures and findings. */
function saySolved(facts: Facts): string[] {
  return [...sayFixed(facts), ...quotedAs(facts, ["decision", "failure", "finding"])]
}

const quotedAs = ({ statements }: Facts, kinds: readonly SentenceKind[]): string[] =>
  statements.ranked.filter(({ kind }) => kinds.includes(kind)).map(sayStatement)

const sayStatement = ({ kind, words }: OfflineStatement): string => `${kind}: ${quote(words)}`

function sayFixed(facts: Facts): string[] {
  return facts.fixed.map(({ what, reason }) => `${code(what)} failed: ${code(reason)}${PASSED_LATER}`)
}

function sayOutcome({ what, failed, reason }: CommandOutcome): string {
  return failed ? `${code(what)} failed: ${code(reason)}` : `${code(what)} passed`
}

function sayFiles({ files, statements }: Facts): string[] {
  return files.map((file) => sayFile(file, statements.aboutFiles))
}

function sayFile({ path, doings, snippet }: FileFact, about: ReadonlyMap<string, string>): string {
  const description = about.get(path.slice(path.lastIndexOf("/") + 1))
  const line = `${code(path)} (${doings.join(", ")})${description === undefined ? "" : `, said of it: ${quote(description)}`}`
  return snippet === undefined ? line : `${line}${NEWEST_TEXT}${fenced(headOf(snippet, MAX_SNIPPET))}`
}

function sayCall(call: ToolCall): string {
  const target = toolCommand(call) ?? toolPath(call) ?? toolField(call, "pattern")
  const outcome = call.result === undefined ? ", no result yet" : call.result.failed ? ", failed" : ""
  return `${call.name}${typeof target === "string" ? ` ${code(target)}` : ""}${outcome}`
}

function sayCurrent(facts: Facts): string[] {
  const doing = facts.todos.filter(({ status }) => status === "in_progress").map(sayTodo)
  const lastLines = facts.lastText === undefined ? [] : [`last said: ${quote(facts.lastText)}`]
  return [...doing, ...quotedAs(facts, ["progress"]).slice(-MAX_STATES), ...facts.lastCalls.map(sayCall), ...lastLines]
}

function sayNext(facts: Facts): string[] {
  const [todo] = [...facts.todos.filter(({ status }) => status === "in_progress"), ...openTodos(facts)]
  const latest = facts.userMessages.at(-1)
  return [
    ...(todo === undefined ? [] : [sayTodo(todo)]),
    ...quotedAs(facts, ["next"]).slice(-1),
    ...(latest === undefined ? [] : [`the latest request: ${quote(latest)}`]),
  ]
}

function sayConcepts(facts: Facts): string[] {
  const folders = facts.files.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))))
  const programs = facts.calls.flatMap((call) => toolCommand(call)?.split(/\s+/)[0] ?? [])
  const searches = facts.calls
    .filter((call) => toolRole(call.name) === "search")
    .map((call) => toolField(call, "pattern"))
  const names = [...folders, ...programs, ...searches].filter((name) => typeof name === "string" && name !== "")
  return [...new Set(names)].map((name) => code(String(name)))
}

function relatedSentences(title: string, facts: Facts): string[] {
  const words = title.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  return facts.userMessages
    .flatMap(sentencesOf)
    .filter((sentence) => words.some((word) => sentence.toLowerCase().includes(word)))
}
