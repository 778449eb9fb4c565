/**
 * Step 4, check. The audit compares a summary with the messages it replaces, without a model. It finds facts that would no longer be
 * visible after the boundary, and claims that the conversation does not support. Pure: equal input produces an equal report.
 */
import { type CooperativeTask, runSync } from "../../../base/work.ts"
import type { AuditFigures, AuditShare } from "../../../journal/entries.ts"
import type { Todo } from "../../../messages/attachments.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { type CommandFacts, fileFate } from "../../../views/record/artifacts.ts"
import { outdatedValues } from "../../../views/record/statements.ts"
import { standingRules } from "../../../views/record/user-messages.ts"
import type { Views } from "../../../views/views.ts"
import { approvalClaims, quoteClaims } from "./claims.ts"
import { nameSteps, numberClaims, prohibitionSteps } from "./exact.ts"
import { type AuditSource, indexSteps, type TokenIndex } from "./source.ts"
import {
  CLAIM_CLASSES,
  distinctiveWords,
  namesIn,
  partSteps,
  type SummaryClaim,
  type SummaryPart,
  stem,
  tokensOf,
  toPhrase,
} from "./text.ts"
import { excuseUnreadable } from "./unreadable.ts"
import { wordingSteps } from "./wording.ts"

// Step 4, check. Facts from the replaced messages that must stay visible after a boundary: in the summary, in the record that follows it,
// or in preserved messages. Also whether the summary is about these messages at all.

export const FACT_CLASSES = ["request", "rules", "messages", "names", "todos", "failures", "files"] as const
export type FactClass = (typeof FACT_CLASSES)[number]

export interface AuditFact {
  readonly class: FactClass
  readonly text: string
  readonly isCovered: boolean
  /** Uuid of the message that contains the fact. */
  readonly uuid?: Uuid
}

export interface CoverageInput {
  readonly source: AuditSource
  readonly record: Pick<Views, "artifacts" | "frontier" | "statements">
  /** Uuids of the replaced messages. */
  readonly replaced: ReadonlySet<Uuid>
  /** All text that is visible after the boundary: the summary, the record and preserved messages. */
  readonly visible: string
}

const QUOTE = 12 // consecutive words: long enough to recognize a message
const STEP = 6
const SHORT = 2 // words: so few are in many texts by chance, so the signs between them count too
const MAX = 30 // words of a command or a todo that are compared
const MAX_NAMED = 20_000 // characters of a message in which names are looked for: more is pasted
const SMALL = 20

export function* coverageSteps({
  source,
  record,
  replaced,
  visible,
}: CoverageInput): CooperativeTask<readonly AuditFact[]> {
  const tokens = tokensOf(visible)
  yield
  const shown = yield* indexSteps(tokens)
  const raw = visible.toLowerCase()
  const isShown = (text: string) => isQuoted(text, shown) && (tokensOf(text).length > SHORT || isWritten(text, raw))
  const has = (text: string) => shown.has(tokensOf(text).slice(0, MAX))
  const turns = source.turns.filter(({ uuid }) => replaced.has(uuid))
  const { files, commands } = record.artifacts
  const { todos, request } = record.frontier
  const outdated = outdatedValues(record.statements)
  const facts: AuditFact[] = []
  const note = (fact: AuditFact) => facts.push(fact)

  if (request && replaced.has(request.uuid))
    note({ class: "request", text: request.text, uuid: request.uuid, isCovered: isShown(request.text) })
  for (const { text, uuid } of turns) {
    yield
    note({ class: "messages", text, uuid, isCovered: isShown(text) })
    for (const rule of standingRules(text))
      note({ class: "rules", text: rule, uuid, isCovered: shown.has(tokensOf(rule)) })
    for (const name of namesFromUser(text).filter((name) => !outdated.has(name)))
      note({ class: "names", text: name, uuid, isCovered: raw.includes(name.toLowerCase()) || has(name) })
  }
  for (const { content, status } of todos)
    if (status !== "completed") note({ class: "todos", text: content, isCovered: has(content) })
  yield
  for (const [command, { failed, last }] of commands)
    if (failed && replaced.has(last)) note({ class: "failures", text: command, uuid: last, isCovered: has(command) })
  yield
  for (const [path, file] of files) {
    if (fileFate(file) === "read" || !replaced.has(file.last)) continue
    note({ class: "files", text: path, uuid: file.last, isCovered: has(path) || has(path.split(/[\\/]/).at(-1)!) })
  }
  return deduplicate(facts)
}

/** Whether a message is visible: all its words, or a quote that is long enough. */
function isQuoted(text: string, shown: TokenIndex): boolean {
  const tokens = tokensOf(text)
  if (tokens.length <= QUOTE) return shown.has(tokens)
  for (let at = 0; at + QUOTE <= tokens.length; at += STEP) if (shown.has(tokens.slice(at, at + QUOTE))) return true
  return false
}

/** Whether a short message is visible with its punctuation, ignoring blanks. */
function isWritten(text: string, raw: string): boolean {
  const segments = text
    .trim()
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")
    .match(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}\s]/gu)
  return (
    !segments ||
    new RegExp(segments.map((segment) => segment.replace(/[^\p{L}\p{N}\p{M}]/gu, "\\$&")).join("\\s*")).test(raw)
  )
}

/** Names and numbers in a message of the user. Quotes belong to the message, and small numbers are counts, so both are skipped. */
function namesFromUser(text: string): readonly string[] {
  return exactNamesIn(text.slice(0, MAX_NAMED))
    .filter(({ kind, name }) => kind !== "quoted" && !(kind === "number" && Number(name) <= SMALL))
    .map(({ name }) => name)
}

/** Merges equal rules and names into one fact, at their last occurrence. */
function deduplicate(facts: readonly AuditFact[]): readonly AuditFact[] {
  const last = new Map<string, AuditFact>()
  for (const fact of facts) last.set(fact.class === "messages" ? `${fact.uuid}` : `${fact.class} ${fact.text}`, fact)
  return [...last.values()]
}

const MAX_WANTED = 3 // words of the conversation: a summary of a long one has more
const WORDS_FOR_ONE = 20 // words in the conversation per required word: a short one requires fewer
const OFTEN = 5 // times
const EXACT_NUMBER = /^\d{3,}$/
const NUMBER = /^\d+$/

/**
 * Whether a summary is about the messages it replaces. The record carries facts whatever the summary says, so a summary about something
 * else, or about nothing, would look complete. Evidence is: words that were written, thought or passed to tools in these messages, exact
 * names and numbers from anywhere in them, and words that tools returned repeatedly. In pages of tool output nearly every other word occurs
 * by chance.
 */
export function mentions(summary: string, { index, spoken }: Pick<AuditSource, "index" | "spoken">): boolean {
  const required = Math.min(MAX_WANTED, Math.ceil(spoken.size / WORDS_FOR_ONE))
  if (required === 0) return true
  const found = new Set<string>()
  const own = new Set(distinctiveWords(summary))
  for (const token of new Set(tokensOf(summary))) {
    const word = stem(token)
    const isFound = EXACT_NUMBER.test(token)
      ? index.at(token).length > 0
      : own.has(word) && (spoken.has(word) || index.at(token).length >= OFTEN)
    if (isFound && found.add(word).size >= required) return true
  }
  for (const { text } of namesIn(summary)) {
    const tokens = tokensOf(text)
    if (tokens.every((token) => NUMBER.test(token)) || !index.has(tokens)) continue
    if (found.add(text).size >= required) return true
  }
  return false
}

// Step 4, check. Claims of success: tests and commands whose last run failed, and todos that are open.

export interface WorkFacts {
  /** By command line, in the order of their last run. */
  readonly commands: ReadonlyMap<string, CommandFacts>
  readonly todos: readonly Todo[]
}

const TESTS_PASS =
  /\b(?:all|every|the|full|whole|entire|unit|integration|e2e|\d+)?\s*(?:\w+\s)?(?:tests?|test suites?|suite|specs?|checks)\b[^.;:]{0,30}?\b(?:pass(?:es|ing)?|are green|is green|green|succeed(?:s)?|are ok)\b|\b(?:all|every|alle)\b[^.;:]{0,20}\b(?:tests?|suites?|specs?)\b[^.;:]{0,20}\b(?:passed|succeeded|bestanden|grün)\b|(?:所有|全部)测试.{0,6}通过|テスト.{0,8}(?:成功|通過|パス)/iu
const PASSED =
  /\b(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|success(?:ful(?:ly)?)?|green|works|worked|clean|ok|exit code 0|bestanden|erfolgreich)\b|✅|✓|通过|成功/iu
const NOT_PASSED =
  /\b(?:fail\w*|error\w*|broke\w*|should|must|need\w*|until|ensure\w*|make sure|verify|verif\w+|check (?:that|whether|if)|confirm that|so that|to make|will|would|if|once|before|after|not|n't|never|earlier|previously|first|then|initially|until|but|except|remaining|pending|todo|next|expected|want\w*|why|whether|when)\b|失败|应该|需要|确保/iu
const DONE = /\[(?:x|completed|done)\]|✅|✓|☑|\b(?:completed|done|finished|erledigt|fertig)\b|已完成|完了/iu
const OPEN =
  /\[(?: |pending|in_progress|in progress)\]|☐|\b(?:pending|in progress|in_progress|open|not (?:yet )?(?:done|started|finished|completed)|todo|remaining|next|offen|still)\b|未完成|待办/iu
const SHORTEST_COMMAND = 6 // characters
const FEWEST_TODO_WORDS = 2

export function outcomeClaims(parts: readonly SummaryPart[], { commands, todos }: WorkFacts): readonly SummaryClaim[] {
  const all = [...commands]
  const lastTest = all.findLast(([, { isTest }]) => isTest)
  const failed = all
    .filter(([command, facts]) => facts.failed && command.length >= SHORTEST_COMMAND)
    .map(([command]) => ({ command, line: command.split("\n")[0]!.trim() }))
  const succeeded = new Set(all.filter(([, facts]) => !facts.failed).map(([command]) => command.split("\n")[0]!.trim()))
  const open = todos
    .filter(({ status }) => status !== "completed")
    .filter(({ content }) => tokensOf(content).length >= FEWEST_TODO_WORDS)
    .map(({ content }) => ({ content, phrase: toPhrase(content) }))
  const claimedOn = (line: string) => {
    const words = toPhrase(line)
    const todo = open.find((each) => words.includes(each.phrase))
    if (!todo) return undefined
    const rest = line.replace(todo.content, "")
    return { todo: todo.content, isDone: DONE.test(rest) && !OPEN.test(rest) }
  }
  // a line is read once, however many sentences it has
  let known: { readonly line: SummaryPart["line"]; readonly claimed: ReturnType<typeof claimedOn> } | undefined
  return parts.flatMap((part): SummaryClaim[] => {
    if (part.isCode) return []
    const claim = (isSupported: boolean, instead?: string): SummaryClaim[] => [
      {
        class: "outcomes",
        text: part.text,
        at: part.at,
        isSupported,
        sentence: part,
        ...(instead === undefined ? {} : { instead }),
      },
    ]
    const claimsSuccess = PASSED.test(part.text) && !NOT_PASSED.test(part.text)
    const named = failed.find(({ line }) => part.text.includes(line) && !longerSucceeded(part.text, line, succeeded))
    if (named && claimsSuccess) return claim(false, `the last run of ${named.line} failed`)
    if (TESTS_PASS.test(part.text) && claimsSuccess && lastTest)
      return claim(
        !lastTest[1].failed,
        lastTest[1].failed ? `the last run of ${lastTest[0].split("\n")[0]} failed` : undefined,
      )
    if (open.length === 0) return []
    if (known?.line !== part.line) known = { line: part.line, claimed: claimedOn(part.line.text) }
    const { claimed } = known
    if (!claimed) return []
    return claimed.isDone ? claim(false, `the todo "${claimed.todo}" is open`) : claim(true)
  })
}

/** Whether a longer command that contains this one succeeded: `npm test -- a` may have passed although `npm test` failed. */
const longerSucceeded = (text: string, line: string, succeeded: ReadonlySet<string>): boolean =>
  [...succeeded].some((each) => each.length > line.length && each.includes(line) && text.includes(each))

export interface AuditInput extends Omit<CoverageInput, "visible"> {
  readonly summary: string
  /** Text after the summary: the record and the preserved messages. */
  readonly following: string
}

export interface AuditReport {
  /** Claims that could be checked. */
  readonly claims: readonly SummaryClaim[]
  /** Names and numbers that may come from unreadable content. */
  readonly unchecked: readonly SummaryClaim[]
  readonly facts: readonly AuditFact[]
  readonly scores: Omit<AuditFigures, "struck" | "unchecked" | "added">
}

export const auditSummary = (input: AuditInput): AuditReport => runSync(auditSteps(input))

/** `auditSummary` as a cooperative task, because a long conversation takes a while. */
export function* auditSteps({ summary, following, ...input }: AuditInput): CooperativeTask<AuditReport> {
  const { artifacts, frontier } = input.record
  const work = { commands: artifacts.commands, todos: frontier.todos }
  const found = yield* claimSteps({ summary, source: input.source, work })
  const { claims, unchecked } = excuseUnreadable(found, summary, input.source.unreadable)
  const facts = yield* coverageSteps({ ...input, visible: `${summary}\n${following}` })
  return { claims, unchecked, facts, scores: auditScores(claims, facts) }
}

function auditScores(claims: readonly SummaryClaim[], facts: readonly AuditFact[]): AuditReport["scores"] {
  const covered = facts.filter(({ isCovered }) => isCovered).length
  const unsupported = claims.filter(({ isSupported }) => !isSupported).length
  return {
    coverage: facts.length === 0 ? 1 : rounded(covered / facts.length),
    fabrication: claims.length === 0 ? 0 : rounded(unsupported / claims.length),
    perClass: {
      coverage: perClass(FACT_CLASSES, facts, ({ isCovered }) => isCovered),
      fabrication: perClass(CLAIM_CLASSES, claims, ({ isSupported }) => !isSupported),
    },
  }
}

/** By class: how many items count, of how many. */
function perClass<K extends string, T extends { readonly class: K }>(
  classes: readonly K[],
  items: readonly T[],
  counts: (item: T) => boolean,
): Readonly<Record<string, AuditShare>> {
  return Object.fromEntries(
    classes.flatMap((kind) => {
      const own = items.filter((item) => item.class === kind)
      return own.length === 0 ? [] : [[kind, { found: own.filter(counts).length, of: own.length }]]
    }),
  )
}

const rounded = (share: number) => Math.round(share * 1_000) / 1_000

interface ClaimsInput {
  readonly summary: string
  readonly source: AuditSource
  readonly work: WorkFacts
}

function* claimSteps({ summary, source, work }: ClaimsInput): CooperativeTask<readonly SummaryClaim[]> {
  const parts = yield* partSteps(summary)
  // a quoted line that is in the conversation claims nothing of its own
  const own = parts.filter(({ isQuoted, line }) => !isQuoted || !source.index.has(tokensOf(line.text)))
  yield
  const claims: SummaryClaim[] = []
  const each = [() => quoteClaims(own, source), () => approvalClaims(own, source), () => outcomeClaims(own, work)]
  for (const find of each) {
    claims.push(...find())
    yield
  }
  claims.push(...(yield* prohibitionSteps(parts, source)))
  claims.push(...(yield* wordingSteps(parts, source)))
  claims.push(...(yield* nameSteps(parts, source)))
  for (const part of parts) {
    claims.push(...numberClaims(part, source), ...peopleClaims(part, source))
    yield
  }
  return claims
}

// Step 4, check. People in a summary: handles, owners and authors, and full names. Each must occur in the source. Two words with capitals
// are mostly a heading or a term, so they are a name only if neither occurs there and neither fits any conversation.

const HANDLE = /(?<![\w.@/`-])@[A-Za-z][\w-]{2,}(?![\w/:(@]|\.\w)/g
const NAME = String.raw`\p{Lu}[\p{Ll}'’]+(?:[ -](?:\p{Lu}\.|\p{Lu}[\p{Ll}'’]+))*`
const FULL_NAME = /(?<![\p{L}\p{N}_`./-])\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+(?![\p{L}\p{N}_`/:*-])/gu
const ROLE = new RegExp(
  String.raw`\b(?:owners?|owned by|maintainers?|maintained by|assignees?|assigned to|authors?|authored by|written by|reviewers?|reviewed by|reported by|requested by|contact|responsible)\b[*_]*(?: (?:is|was|are))?[:=]?[*_]* [*_]*(?<name>${NAME})`,
  "giu",
)

export function peopleClaims(part: SummaryPart, { index }: AuditSource): readonly SummaryClaim[] {
  if (part.isCode) return []
  const claims = new Map<number, SummaryClaim>()
  const add = (text: string, at: number, isSupported: boolean) => {
    if (!claims.has(at)) claims.set(at, { class: "people", text, at: part.at + at, isSupported, sentence: part })
  }
  const has = (text: string) => index.has(tokensOf(text))
  for (const { 0: handle, index: at } of part.text.matchAll(HANDLE)) add(handle, at, has(handle))
  for (const { 0: found, index: at, groups } of part.text.matchAll(ROLE)) {
    const name = groups!.name!
    if (/^\p{Lu}/u.test(name)) add(name, at + found.length - name.length, has(name))
  }
  for (const { 0: name, index: at } of part.text.matchAll(FULL_NAME))
    if (isDistinctive(name) && tokensOf(name).every((token) => !index.has([token]))) add(name, at, false)
  return [...claims.values()]
}

const isDistinctive = (name: string): boolean => distinctiveWords(name).length === tokensOf(name).length
