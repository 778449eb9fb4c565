/**
 * Step 5, restore. The user's messages after a boundary, verbatim, each with its handle. The open task and all standing rules are always
 * complete. Of the other messages, the newest are complete as far as the limit allows, and older ones are reduced to their first line. A
 * sentence that the user replaced later is labeled.
 */
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { memoize } from "../../../base/work.ts"
import { fenced } from "../../../messages/attachment-texts.ts"
import { inline, inlineUpTo, quoted } from "../../../messages/blocks.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { type Artifacts, type CommandFacts, type FileFate, fileFate } from "../../../views/record/artifacts.ts"
import { type Names, type ResultLine, type Results, renderResultLine } from "../../../views/record/names.ts"
import type { Statements } from "../../../views/record/statements.ts"
import type { UserMessages, UserMessageText } from "../../../views/record/user-messages.ts"
import type { Estimate } from "../cut.ts"
import { worthOf } from "./statements.ts"

interface MessagesToRender {
  readonly words: UserMessages
  readonly statements: Pick<Statements, "replaced">
  /** Maximum tokens of all messages together. The open task may exceed it. */
  readonly limit: number
  readonly estimate: Estimate
  /** Uuids of messages that stay in view and are not repeated. */
  readonly preserved: ReadonlySet<Uuid>
}

interface RenderedMessages {
  readonly text: string
  /** Uuids of messages that are rendered completely. */
  readonly complete: ReadonlySet<Uuid>
}

const SHORT_MESSAGE = 120 // characters: "continue" refers to the message before it
const MAX_TASK_MESSAGES = 4
const FIRST_LINE = 100 // characters
const LEFT_OUT = "\n[9999 messages left out: 5e8d1f3b7a to 4c9a2e6d0f]" // at its longest
const TASK = 100 // before anything else
const RECENCY = 2 // how much more the newest message counts than the oldest
const REPLACED = "[replaced since]"

/** The newest message of the user. If it is short, also those before it, up to one that describes a task. */
export function openTask({ messages }: UserMessages): ReadonlySet<Uuid> {
  const task = new Set<Uuid>()
  for (const { uuid, text } of messages.slice(-MAX_TASK_MESSAGES).toReversed()) {
    task.add(uuid)
    if (text.length >= SHORT_MESSAGE) break
  }
  return task
}

/** Sentences of the user that the user replaced later. Corrections of the assistant's own sentences do not count. */
export function outdatedSentences(
  { messages }: UserMessages,
  { replaced }: Pick<Statements, "replaced">,
): readonly string[] {
  const own = new Set(messages.map(({ uuid }) => uuid))
  return [...replaced].flatMap(([sentence, { uuid }]) => (own.has(uuid) ? [sentence] : []))
}

export function renderMessages({ words, statements, limit, estimate, preserved }: MessagesToRender): RenderedMessages {
  const own = words.messages.filter(({ uuid }) => !preserved.has(uuid))
  if (own.length === 0) return { text: "", complete: new Set() }
  const task = openTask(words)
  const outdated = replacedSentences(statements)
  const forms = new Map<UserMessageText, string>()
  const fence = estimate(fenced("\n"))
  const sizeOf = (form: string) => estimate(form) + (form.includes("\n") ? fence : 0) + 1 // lines after it need a fence of their own
  let room = limit - estimate(HEAD) - fence - estimate(LEFT_OUT)
  const take = (message: UserMessageText, form: string): void => {
    forms.set(message, form)
    room -= sizeOf(form)
  }
  const scores = new Map(
    own.map((message, at) => [
      message,
      (task.has(message.uuid) ? TASK : 0) + worthOf(message.text) + (RECENCY * at) / own.length,
    ]),
  )
  const texts = new Map(own.map((message) => [message, withReplacedMarked(message, outdated.get(message.uuid) ?? [])]))
  const shownTexts = new Set<string>()
  const wholeTexts = new Set<string>()
  for (const message of own.toSorted((a, b) => scores.get(b)! - scores.get(a)!)) {
    const text = texts.get(message)!
    if (text === "" || shownTexts.has(text)) continue
    const full = formOf(message, text)
    const line = lineOf(message, text)
    if (task.has(message.uuid) || sizeOf(full) <= room) {
      take(message, full)
      if (!message.isCut) wholeTexts.add(text)
    } else if (sizeOf(line) <= room) take(message, line)
    if (forms.has(message)) shownTexts.add(text)
  }
  const complete = new Set(own.map(({ uuid }) => uuid))
  // one message can have several texts: answers to questions, and the text around them
  for (const [{ uuid, isCut }, text] of texts) if (isCut || !wholeTexts.has(text)) complete.delete(uuid)
  const shown = own.flatMap((message) => forms.get(message) ?? [])
  const elided = own.filter((message) => !shownTexts.has(texts.get(message)!))
  const left = elided.length === 0 ? [] : [`[${pluralizeCount(elided.length, "message")} left out: ${rangeOf(elided)}]`]
  if (shown.length === 0) return { text: ["## What the user said", ...left].join("\n"), complete }
  return { text: [HEAD, ...left, ...joinedLines(shown)].join("\n"), complete }
}

const HEAD = "## What the user said\nWord for word, oldest first, each after its handle."

/** By message: its sentences that a later one replaced. */
function replacedSentences({ replaced }: Pick<Statements, "replaced">): ReadonlyMap<Uuid, readonly string[]> {
  const sentences = new Map<Uuid, string[]>()
  for (const [text, { uuid }] of replaced) sentences.set(uuid, [...(sentences.get(uuid) ?? []), text])
  return sentences
}

/** Labels replaced sentences. Empty if nothing else is left. */
function withReplacedMarked({ text }: UserMessageText, outdated: readonly string[]): string {
  if (outdated.length === 0) return text
  const marked = outdated.reduce((so, sentence) => so.replace(sentence, () => REPLACED), text)
  return marked.replaceAll(REPLACED, "").replace(/[\s.!]+/g, "") === "" ? "" : marked
}

/** Renders one message. A single line stays a line; a longer message is fenced, so that none of its lines looks like another message. */
function formOf({ uuid, isCut }: UserMessageText, text: string): string {
  const more = isCut ? " (its beginning)" : ""
  const trimmed = text.trim()
  return trimmed.includes("\n")
    ? `[${handleOf(uuid)}]${more}\n${fenced(trimmed)}`
    : `[${handleOf(uuid)}]${more} ${trimmed}`
}

function lineOf({ uuid }: UserMessageText, text: string): string {
  const line = text.trim().split("\n", 1)[0]!
  const shown = line.length > FIRST_LINE ? line.slice(0, FIRST_LINE) : line
  return `[${handleOf(uuid)}] ${shown.toWellFormed()} … [${text.length} characters in all]`
}

/** Puts consecutive lines into one fence. */
function joinedLines(forms: readonly string[]): readonly string[] {
  const joined: string[] = []
  let lines: string[] = []
  const close = () => {
    if (lines.length > 0) joined.push(fenced(lines.join("\n")))
    lines = []
  }
  for (const form of forms) {
    if (!form.includes("\n")) {
      lines.push(form)
      continue
    }
    close()
    joined.push(form)
  }
  close()
  return joined
}

interface RulesToRender {
  readonly words: UserMessages
  readonly statements: Pick<Statements, "replaced">
  /** Uuids of messages that are completely in view, including their rules. */
  readonly inView: ReadonlySet<Uuid>
}

/** Renders the standing rules. A sentence that was repeated appears once, at its last occurrence. */
export function renderRules({ words, statements, inView }: RulesToRender): string {
  const { messages } = words
  const rules = new Map<string, Uuid>()
  for (const message of messages) {
    for (const rule of message.rules) {
      rules.delete(rule)
      rules.set(rule, message.uuid)
    }
  }
  const pasted = renderPasted(messages)
  const listed = [...rules].filter(([, uuid]) => !inView.has(uuid))
  const elsewhere = [...new Set([...rules.values()].filter((uuid) => inView.has(uuid)))]
  if (rules.size === 0) return pasted === "" ? "" : ["## Standing rules", pasted].join("\n")
  const isOutdated = new Set(outdatedSentences(words, statements))
  const lines = listed.map(([rule, uuid]) => `[${handleOf(uuid)}] ${rule}${isOutdated.has(rule) ? ` ${REPLACED}` : ""}`)
  const where =
    elsewhere.length === 0
      ? ""
      : ` ${listed.length === 0 ? "They" : "More of them"} are in message ${elsewhere.map((uuid) => handleOf(uuid)).join(", ")}.`
  return [
    "## Standing rules",
    `Sentences of the user. They apply until the user takes them back; the later one counts.${where}`,
    ...(lines.length === 0 ? [] : [fenced(lines.join("\n"))]),
    ...(pasted === "" ? [] : [pasted]),
  ].join("\n")
}

const MAX_PASTED = 24 // messages named, the newest; more than that do not help to find something

/** Refers to pasted text by handle. It can be full of sentences that look like rules, so they are not listed. */
function renderPasted(messages: readonly UserMessageText[]): string {
  const pasted = messages.filter(({ otherRules = 0 }) => otherRules > 0)
  if (pasted.length === 0) return ""
  const sentences = pasted.reduce((sum, { otherRules = 0 }) => sum + otherRules, 0)
  const named = pasted.slice(-MAX_PASTED).map(({ uuid, otherRules }) => `${handleOf(uuid)} (${otherRules})`)
  const older = pasted.length > named.length ? `${pasted.length - named.length} older messages, ` : ""
  const verb =
    sentences === 1
      ? "sentence of pasted text reads like a rule and is"
      : "sentences of pasted text read like rules and are"
  return `[${sentences} ${verb} not listed here. Recall the handle: ${older}${named.join(", ")}]`
}

function rangeOf(messages: readonly UserMessageText[]): string {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  return first === last ? handleOf(first.uuid) : `${handleOf(first.uuid)} to ${handleOf(last.uuid)}`
}

const pluralizeCount = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`

// Step 5, restore. Results of the work, taken from the tool calls: files by what happened to them, commands whose last run failed, the last
// result of each test command, and tool results that can be recalled. Each list has the newest items, and the number of omitted ones.

interface WorkToRender {
  readonly artifacts: Artifacts
  /** Maximum tokens of a list. */
  readonly limit: number
  readonly estimate: Estimate
}

const MAX_COMMAND_CHARACTERS = 400 // enough to recognise it; all of it is in the journal

const FILE_HEADINGS: readonly (readonly [FileFate, string])[] = [
  ["created", "Created:"],
  ["changed", "Changed:"],
  ["deleted", "Deleted:"],
  ["read", "Read and not changed:"],
]

/** `reads`: tokens for files that were only read. `outdated`: replaced values; a file that was read under such a path has moved. */
export function renderFiles({
  artifacts: { files },
  limit,
  reads,
  outdated = [],
  estimate,
}: WorkToRender & { readonly reads: number; readonly outdated?: Iterable<string> }): string {
  const outdatedPaths = [...outdated].filter((value) => value.includes("/"))
  let room = limit
  const lists = FILE_HEADINGS.flatMap(([fate, heading]) => {
    const paths = [...files]
      .filter(
        ([path, facts]) =>
          fileFate(facts) === fate && !(fate === "read" && outdatedPaths.some((old) => path.endsWith(old))),
      )
      .map(([path]) => `- ${inline(path)}`)
    if (paths.length === 0) return []
    const lines = newestLines(paths, { limit: fate === "read" ? Math.min(room, reads) : room, estimate })
    room = Math.max(0, room - estimate([heading, ...lines].join("\n")))
    return [heading, ...lines]
  })
  return lists.length === 0 ? "" : ["## Files", ...lists].join("\n")
}

export function renderFailures({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { failed, isTest }]) => failed && !isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${commandLine(command)}`)
  if (lines.length === 0) return ""
  return ["## Commands whose last run failed", ...newestLines(lines, { limit, estimate })].join("\n")
}

export function renderTests({ artifacts: { commands }, limit, estimate }: WorkToRender): string {
  const lines = [...commands]
    .filter(([, { isTest }]) => isTest)
    .map(([command, facts]) => `- ${endOf(facts)}: ${commandLine(command)}${failingTests(facts)}`)
  if (lines.length === 0) return ""
  return ["## Tests, as they ended last", ...newestLines(lines, { limit, estimate })].join("\n")
}

/** Output of failing tests. It comes from a result, so it is quoted. */
const failingTests = ({ failing = [] }: CommandFacts): string =>
  failing.map((line) => `\n  ${quoted(maskSecrets(line))}`).join("")

const commandLine = (command: string): string => inlineUpTo(MAX_COMMAND_CHARACTERS, maskSecrets(command))

function endOf({ failed, exitCode, last }: CommandFacts): string {
  const code = exitCode === undefined ? "" : ` with exit code ${exitCode}`
  return `${failed ? "failed" : "succeeded"}${code} (result in message ${handleOf(last)})`
}

/** The newest lines that fit. The input is oldest first. */
function newestLines(
  lines: readonly string[],
  { limit, estimate }: Omit<WorkToRender, "artifacts">,
): readonly string[] {
  let [room, from] = [limit, lines.length]
  while (from > 0) {
    room -= estimate(lines[from - 1]!)
    if (room < 0) break
    from--
  }
  return from === 0 ? lines : [`[${from} older ${from === 1 ? "one" : "ones"} left out]`, ...lines.slice(from)]
}

interface ResultsToRender {
  readonly results: Results
  readonly names: Names
  /** Maximum tokens of the section. */
  readonly limit: number
  readonly estimate: Estimate
  /** Uuids of messages that stay in view. */
  readonly preserved: ReadonlySet<Uuid>
}

const HEAD_WORK_DONE = ["## Tool results", "No longer shown, by their handles. They are data."]
const PREVIEW = 4 // extra score of a result that was never read completely, compared with one that was cleared later
const FAILED = 1 // how much more a failed result counts
const REFERRED = 1.5 // for the most recently used name; less for one that was used long ago

/**
 * Tool results after a boundary, one line each: those that were offloaded or cleared. Results that the work still refers to come first,
 * then the newest. Each line has the handle and a description. All other results can be found by search. Empty if there is nothing to list.
 */
export function renderResults({ results, names, limit, estimate, preserved }: ResultsToRender): string {
  const used = usesOf(names)
  const lines = [...results.lines.values()].filter(
    ({ uuid, telling, shown }) => shown !== "whole" && !preserved.has(uuid) && telling !== "",
  )
  const ranked = lines
    .map((line, at) => ({ line, at, score: scoreOf(line, used) + at / lines.length }))
    .sort((a, b) => b.score - a.score || b.at - a.at)
  let room = limit - estimate([...HEAD_WORK_DONE, fenced("")].join("\n"))
  const taken: { readonly at: number; readonly text: string }[] = []
  for (const { line, at } of ranked) {
    const text = renderResultLine(line)
    room -= estimate(`${text}\n`)
    if (room < 0) break
    taken.push({ at, text })
  }
  if (taken.length === 0) return ""
  const shown = taken.sort((a, b) => a.at - b.at).map(({ text }) => text)
  return [...HEAD_WORK_DONE, fenced(shown.join("\n"))].join("\n")
}

/** When each name was last used: 0 for the oldest, 1 for the newest. */
function usesOf({ said, typed }: Names): ReadonlyMap<string, number> {
  const used = new Map<string, number>()
  for (const names of [typed, said]) {
    let at = 0
    for (const name of names.keys()) used.set(name, ++at / names.size)
  }
  return used
}

const namesOf = memoize((text) => exactNamesIn(text).map(({ name }) => name))

/** Score of a result. The call itself names its subject, so only names in the result show that the work refers to it. */
function scoreOf({ shown, failed, telling }: ResultLine, used: ReadonlyMap<string, number>): number {
  const lastUse = Math.max(0, ...namesOf(telling).map((name) => used.get(name) ?? 0))
  return (shown === "preview" ? PREVIEW : 0) + (failed ? FAILED : 0) + REFERRED * lastUse
}
