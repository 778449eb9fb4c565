/**
 * Step 5, restore. The facts that follow a boundary as data instead of prose: rendered from the views, so that no summary can lose or
 * invent them. Pure: equal views produce equal bytes. External text is quoted, so that only Strata's own lines look like Strata's.
 */
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { type CooperativeTask, memoize, runSync } from "../../../base/work.ts"
import { fenced } from "../../../messages/attachment-texts.ts"
import type { Todo } from "../../../messages/attachments.ts"
import { inline, inlineUpTo } from "../../../messages/blocks.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { type Names, type NameUse, shapeOf, shapesOf } from "../../../views/record/names.ts"
import type { WorkState } from "../../../views/record/open-work.ts"
import { outdatedValues } from "../../../views/record/statements.ts"
import type { Views } from "../../../views/views.ts"
import { cutText, type Estimate } from "../cut.ts"
import { shortRecord } from "./short-record.ts"
import { languageOf, renderStatements } from "./statements.ts"
import {
  renderFailures,
  renderFiles,
  renderMessages,
  renderResults,
  renderRules,
  renderTests,
} from "./user-messages.ts"

// Step 5, restore. Exact names after a boundary, ordered by value: those of the user, of the assistant, names used again, kinds that cannot
// be guessed, then the rest. Each result has a quota. Names in other facts or preserved messages are not repeated, and omitted names are
// counted. Names are listed inside a fence.

export interface NamesToRender {
  readonly names: Names
  /** Maximum tokens of the section. */
  readonly limit: number
  readonly estimate: Estimate
  /** Uuids of messages that stay in view. Their content is not repeated. */
  readonly preserved: ReadonlySet<Uuid>
  /** The texts of the other sections. */
  readonly shown: readonly string[]
  /** Values that a later one replaced. */
  readonly outdated?: ReadonlySet<string>
}

const HEAD = "## Exact names\nAs they were spelled. They are data."
const MAX_SHOWN = 20_000 // names in one section of the other facts
// Chosen with `npm run score:compaction`, on a conversation that rewrites complete files: it has far more names than room.
const RECENCY = 1 // how much more the newest name counts than the oldest: as much as three uses instead of one
const SOURCE_SCORES: Readonly<Record<NameUse["by"], number>> = { user: 3, assistant: 2, input: 0, result: 0 }
const UNGUESSABLE = 2 // how much more a hash, a version, an address, an error code or an amount counts: nothing else says what it says
const SMALL_NUMBER = 4 // how much less a number of three digits counts: line numbers and times would fill the list
const EXPRESSION = 3 // how much less `error.message` counts, typed or in a result: ordinary words, joined by code
const QUOTA = 4 // names of one result that count in full; each further one counts less, so that no file crowds out another
const SEEN_SHARE = 0.1 // of the limit, for names that are only in results, whatever else there is
const MAX_SEEN = 0.15 // of the limit, where the others leave room

const NAMES_PER_STEP = 200 // less than a millisecond

/** Returns an empty string if there is nothing to list. */
export const renderNames = (input: NamesToRender): string => runSync(nameSteps(input))

/** `renderNames` as a cooperative task: a long conversation has thousands of names. */
export function* nameSteps({
  names,
  limit,
  estimate,
  preserved,
  shown,
  outdated = NONE,
}: NamesToRender): CooperativeTask<string> {
  const listed = new ListedNames()
  for (const section of shown) {
    for (const name of namesShown(section)) listed.add(name)
    yield
  }
  const held = new Set([...preserved].map((uuid) => handleOf(uuid)))
  const take = (ranked: readonly RankedName[], limited: number): ReadonlySet<string> => {
    const taken = new Set<string>()
    let room = limited
    for (const { name, use } of ranked) {
      if ((use.by !== "result" && held.has(use.at)) || listed.has(name) || outdated.has(name)) continue
      const tokens = estimate(` ${writtenName(name)}`)
      if (tokens > room) continue
      room -= tokens
      taken.add(name)
      listed.add(name)
    }
    return taken
  }
  const written = yield* rankNames(names.said, { estimate })
  const typed = yield* rankNames(names.typed, { estimate })
  const seen = yield* rankNames(names.seen, { estimate, hasQuota: true })
  const room = limit - estimate([HEAD, fenced("said: \ntyped: \nin results: ")].join("\n")) - estimate(MAX_NOTE)
  const likeliest = seen.toSorted(likeliestFirst)
  const found = take(likeliest, room * SEEN_SHARE)
  yield
  const sizeOf = (some: Iterable<string>) => [...some].reduce((sum, name) => sum + estimate(` ${writtenName(name)}`), 0)
  const used = take([...written, ...typed].sort(likeliestFirst), room - sizeOf(found))
  yield
  const more = take(likeliest, Math.min(room - sizeOf(found) - sizeOf(used), room * MAX_SEEN - sizeOf(found)))
  yield
  const lines = [
    lineOf("said", [...names.said.keys()].reverse(), used),
    lineOf(
      "typed",
      typed.toSorted(likeliestFirst).map(({ name }) => name),
      used,
    ),
    lineOf("in results", [...found, ...more], new Set([...found, ...more])),
  ].filter((line) => line !== "")
  if (lines.length === 0) return ""
  const leftOut = [...written, ...typed, ...seen].filter(({ name }) => !listed.has(name) && !outdated.has(name))
  return [HEAD, fenced(lines.join("\n")), ...leftOutLine(leftOut)].join("\n")
}

const NONE: ReadonlySet<string> = new Set()

/** A line with the number of omitted names and the message with most of them. */
function leftOutLine(leftOut: readonly RankedName[]): readonly string[] {
  if (leftOut.length === 0) return []
  const counts = [...Map.groupBy(leftOut, ({ use }) => use.at)].map(([at, { length }]) => ({ at, length }))
  const { at, length } = counts.reduce((a, b) => (b.length > a.length ? b : a))
  return [noteOf(leftOut.length, length, at)]
}

const noteOf = (all: number, there: number, at: string): string =>
  `[${all} more are not listed, ${there} of them in message ${at}. Search for a word that was near the name.]`
const MAX_NOTE = `\n${noteOf(99_999, 99_999, "0a1b2c3d4e.99")}`

function lineOf(label: string, ordered: readonly string[], taken: ReadonlySet<string>): string {
  const shown = ordered.filter((name) => taken.has(name))
  return shown.length === 0 ? "" : `${label}: ${shown.map(writtenName).join(" ")}`
}

/** Quotes a name with a blank, because blanks separate names. */
const writtenName = (name: string): string => (/\s/.test(name) ? JSON.stringify(name) : inline(name))

interface RankedName {
  readonly name: string
  readonly use: NameUse
  readonly at: number
  readonly score: number
}

interface RankingOptions {
  readonly estimate: Estimate
  /** Whether each message gets a share of the list. */
  readonly hasQuota?: boolean
}

/**
 * Ranks names. A name that was used often or recently is most likely to be used again, and short names leave room for others. Measured with
 * `npm run score:compaction`: in conversations with more names than room this finds more of the names that are used again than newest
 * first.
 */
function* rankNames(
  names: ReadonlyMap<string, NameUse>,
  { estimate, hasQuota = false }: RankingOptions,
): CooperativeTask<readonly RankedName[]> {
  const found: RankedName[] = []
  for (const [name, use] of [...names]) {
    const at = found.length
    if (at % NAMES_PER_STEP === 0) yield
    const score =
      SOURCE_SCORES[use.by] +
      (RECENCY * at) / names.size +
      Math.log2((1 + use.uses) / Math.max(1, estimate(name))) +
      kindBonus(name, use) -
      (SOURCE_SCORES[use.by] === 0 && isExpression(name) ? EXPRESSION : 0)
    found.push({ name, use, at, score })
  }
  return hasQuota ? yield* withQuotas(found) : found
}

/**
 * Counts the best names of each message fully and further ones less and less. A name whose shape is common comes from a listing, so it
 * counts less too.
 */
function* withQuotas(found: readonly RankedName[]): CooperativeTask<readonly RankedName[]> {
  const shapes = shapesOf(found.map(({ name }) => name))
  yield
  const lowered: RankedName[] = []
  for (const same of Map.groupBy(found, ({ use }) => use.at).values()) {
    yield
    const own = same.map((each) => ({ ...each, score: each.score - Math.log2(shapes.get(shapeOf(each.name))!) }))
    for (const [nth, each] of own.sort(likeliestFirst).entries())
      lowered.push({ ...each, score: each.score - Math.max(0, Math.log2((nth + 1) / QUOTA)) })
  }
  return lowered
}

const SMALL = /^\d{1,3}(?:\.\d+)?(?:%|[a-z]{1,2})?$/i
/** Hashes, addresses, versions, tickets, error codes, absolute paths, amounts with a unit, and numbers of four digits. */
const RARE =
  /^(?:(?=[^a-f]*[a-f])(?=\D*\d)[0-9a-f]{7,64}|0x[0-9a-f]+|v?\d+\.\d+\.\d[\w.-]*|[A-Z]{2,}-\d+|[A-Z][A-Z_]*\d[A-Z\d_]*|[A-Z]+(?:_[A-Z\d]+)*_\d+|\d{4,}|\d{1,3}(?:,\d{3})+|[$€£¥][\d.,]+\w?|\d+(?:\.\d+)? \S+|\d+\.\d+\D{1,5}|[a-z]+:\/\/\S+|\d+(?:\.\d+){3}\S*|[\w.-]+:\d{2,5}|\/\S+\/\S+)$/

function kindBonus(name: string, { by }: NameUse): number {
  const isWritten = by === "user" || by === "assistant"
  if (SMALL.test(name)) return isWritten ? 0 : -SMALL_NUMBER
  return RARE.test(name) ? UNGUESSABLE : 0
}

const likeliestFirst = (a: RankedName, b: RankedName): number => b.score - a.score || b.at - a.at

/**
 * Whether a name is a dotted expression. Its members are listed separately if they are names, so the complete expression is only useful for
 * a file or a host.
 */
const isExpression = (name: string): boolean => name.includes(".") && kindOf(name) === "expression"
const kindOf = memoize((name) =>
  exactNamesIn(name).some((found) => found.name === name && found.kind === "identifier") ? "expression" : "name",
)

const namesShown = memoize((section) => exactNamesIn(section, MAX_SHOWN).map(({ name }) => name))

/** Names that the reader of the facts already has: complete, as the end of a path, or as a word of a longer name. */
class ListedNames {
  readonly #names = new Set<string>()

  has(name: string): boolean {
    return this.#names.has(name)
  }

  add(name: string): void {
    this.#names.add(name)
    for (const part of name.split(/[^\p{L}\p{N}_]+/u)) this.#names.add(part)
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) this.#names.add(name.slice(at + 1))
  }
}

export interface FactsOptions {
  readonly estimate: Estimate
  /**
   * Maximum tokens of all facts. Standing rules, the open task and todos are never cut, so they may exceed it. A small budget produces a
   * `shortRecord`.
   */
  readonly budget?: number
  /** Uuids of messages that stay in view. The facts do not repeat them. */
  readonly preserved?: ReadonlySet<Uuid>
  /** The summary before the facts. Its names and sentences are not repeated. */
  readonly summary?: string
  /** Whether there is no summary before the facts. */
  readonly isAlone?: boolean
  /** Whether results can be fetched by handle. Default true. */
  readonly hasRecall?: boolean
}

export const FACTS_BUDGET = 3_000 // tokens; the flag `record-limit` has the same

/** Shares of the budget that rules, task and todos leave. Unused parts go to the next section, and names get the rest. */
interface Shares {
  readonly plan: number
  readonly files: number
  readonly failures: number
  readonly tests: number
  readonly messages: number
  readonly statements: number
  readonly results: number
}
/**
 * Shares after a summary. The summary conveys meaning, so names get most: of all lists, they are used again most (`npm run
 * score:compaction`).
 */
const AFTER_SUMMARY: Shares = {
  ...{ plan: 0.05, files: 0.13, failures: 0.03, tests: 0.03, messages: 0.1, statements: 0.06, results: 0.08 },
}
/** Shares without a summary: the sentences have to convey the meaning. */
const ALONE: Shares = {
  ...{ plan: 0.05, files: 0.06, failures: 0.04, tests: 0.03, messages: 0.3, statements: 0.25, results: 0.08 },
}
const CHANGED_FILES = 0.3 // of the budget, however little the rest leaves: files that were changed are all named where possible
const READS = 0.1 // of the files, for those that were only read
const MAX_FIXED = 0.4 // of the budget that rules, task and todos take from the others; what they need beyond that comes on top
const MAX_STATEMENTS = 3 // times their share, however much is left
const MAX_NAMES = 0.6
const SHORT_RECORD = 800 // tokens: with fewer, headings and handles would take most of them
const MAX_TODO_CHARACTERS = 500

/** The views from which the facts are rendered. */
export type RecordViews = Pick<Views, "words" | "artifacts" | "names" | "results" | "statements" | "frontier">

/** Returns an empty string if there are no facts. */
export const renderFacts = (views: RecordViews, options: FactsOptions): string => runSync(factSteps(views, options))

/** `renderFacts` as a cooperative task. */
export function* factSteps(
  views: RecordViews,
  {
    estimate,
    budget = FACTS_BUDGET,
    preserved = new Set(),
    summary = "",
    isAlone = false,
    hasRecall = true,
  }: FactsOptions,
): CooperativeTask<string> {
  if (budget < SHORT_RECORD) return shortRecord(views, { estimate, budget, preserved, summary }).toWellFormed()
  const { words, artifacts, names, results, statements, frontier } = views
  const language = renderLanguage(words.messages.map(({ text }) => text))
  const request = renderRequest(frontier, { limit: budget, estimate, preserved })
  const todos = renderTodos(frontier.todos)
  yield
  const task = renderMessages({ words, statements, limit: 0, estimate, preserved })
  const rulesAlone = renderRules({ words, statements, inView: new Set([...preserved, ...task.complete]) })
  const fixed = [language, rulesAlone, request, todos, task.text].reduce((sum, text) => sum + estimate(text), 0)
  const outdated = outdatedValues(statements)
  const shares = isAlone ? ALONE : AFTER_SUMMARY
  const room = new SharedBudget(budget - Math.min(fixed, budget * MAX_FIXED), estimate)
  yield
  const plan = room.take(shares.plan, (limit) => renderPlan(frontier.plan, { limit, estimate }))
  const files = room.take(shares.files, (limit) =>
    renderFiles({
      artifacts,
      limit: Math.max(limit, budget * CHANGED_FILES),
      reads: limit * READS,
      outdated,
      estimate,
    }),
  )
  yield
  const failures = room.take(shares.failures, (limit) => renderFailures({ artifacts, limit, estimate }))
  const tests = room.take(shares.tests, (limit) => renderTests({ artifacts, limit, estimate }))
  yield
  let complete: ReadonlySet<Uuid> = new Set()
  const messages = room.take(
    shares.messages,
    (limit) => {
      const rendered = renderMessages({ words, statements, limit: limit + estimate(task.text), estimate, preserved })
      complete = rendered.complete
      return rendered.text
    },
    estimate(task.text),
  )
  const inView = new Set([...preserved, ...complete])
  const rules = renderRules({ words, statements, inView })
  yield
  const sentences = room.take(shares.statements, (limit) =>
    renderStatements({
      statements,
      limit: Math.min(limit, budget * shares.statements * MAX_STATEMENTS),
      estimate,
      inView,
      shown: [summary, rules, messages].join("\n"),
    }),
  )
  yield
  const found = hasRecall
    ? room.take(shares.results, (limit) => renderResults({ results, names, limit, estimate, preserved }))
    : ""
  yield
  const shown = [language, rules, messages, request, todos, plan, sentences, files, failures, tests, found]
  const forNames = Math.min(room.left, budget * MAX_NAMES)
  const listed = yield* nameSteps({ names, limit: forNames, estimate, preserved, shown: [summary, ...shown], outdated })
  return joined([...shown, listed]).toWellFormed() // half a surrogate pair would spoil the complete request
}

/** A token budget that is divided among sections. */
class SharedBudget {
  readonly #whole: number
  readonly #estimate: Estimate
  #used = 0
  /** Sum of the shares of the sections rendered so far. */
  #shared = 0

  constructor(complete: number, estimate: Estimate) {
    this.#whole = complete
    this.#estimate = estimate
  }

  get left(): number {
    return Math.max(0, this.#whole - this.#used)
  }

  /** Renders a section within its share plus what earlier sections did not use. `counted`: tokens of it that were already counted. */
  take(share: number, render: (limit: number) => string, counted = 0): string {
    this.#shared += share
    const text = render(Math.max(0, Math.floor(this.#whole * this.#shared - this.#used)))
    this.#used += this.#estimate(text) - counted
    return text
  }
}

const joined = (sections: readonly string[]): string => sections.filter((section) => section !== "").join("\n\n")

function renderLanguage(texts: readonly string[]): string {
  const language = languageOf(texts)
  return language === undefined ? "" : `The user writes in ${language}.`
}

interface RequestOptions {
  readonly limit: number
  readonly estimate: Estimate
  readonly preserved: ReadonlySet<Uuid>
}

/** The newest request. Messages of the user are shown above; the task of a sub-agent is not among them, so its text is here. */
function renderRequest({ request, answered }: WorkState, { limit, estimate, preserved }: RequestOptions): string {
  if (request === undefined) return ""
  const state = answered ? "The last answer to it was a final one." : "It has no final answer yet."
  const { uuid, text, isFromAgent } = request
  const location = `It is message ${handleOf(uuid)}. ${state}`
  if (!isFromAgent) return `## The newest request\n${location}`
  const task = preserved.has(uuid) ? [] : [fenced(cutText({ text, limit, estimate }))]
  return [`## Your task`, `Another agent gave it, not the user. ${location}`, ...task].join("\n")
}

const TODO_STATES = { pending: "open", in_progress: "in progress", completed: "done" } as const

function renderTodos(todos: readonly Todo[]): string {
  const lines = todos.map(
    ({ content, status }) => `- ${TODO_STATES[status]}: ${inlineUpTo(MAX_TODO_CHARACTERS, maskSecrets(content))}`,
  )
  return lines.length === 0 ? "" : ["## Todos", ...lines].join("\n")
}

/** Renders the state of the plan. The text of a plan in a file is restored with the file. */
function renderPlan(
  { active, path, text: written = "" }: WorkState["plan"],
  { limit, estimate }: { readonly limit: number; readonly estimate: Estimate },
): string {
  const text = maskSecrets(written)
  const lines = [
    ...(active ? ["Plan mode is on: nothing is changed until the plan is approved."] : []),
    ...(path === undefined ? [] : [`The plan is in ${inline(path)}.`]),
    ...(path === undefined && text.trim() !== "" ? planText(cutText({ text, limit, estimate }), text) : []),
  ]
  return lines.length === 0 ? "" : ["## Plan", ...lines].join("\n")
}

function planText(shown: string, text: string): readonly string[] {
  const title = shown === text ? "The plan:" : `The plan, its first ${shown.length} of ${text.length} characters:`
  return [title, fenced(shown)]
}
