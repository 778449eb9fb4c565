/**
 * Step 5, restore. What follows a boundary as data and not as prose: rendered from the views, so that no summary can lose or invent it. Pure:
 * equal views give equal bytes. Text from outside is quoted, so that only our own lines read as ours.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { fenced, type Todo } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/handles.ts"
import { inline, inlineUpTo } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Frontier } from "../../../views/record/frontier.ts"
import { outdatedValues } from "../../../views/record/statements.ts"
import type { Views } from "../../../views/views.ts"
import { cutText, type Estimate } from "../cut-text.ts"
import { languageOf } from "./language.ts"
import { nameSteps } from "./names.ts"
import { shortRecord } from "./short-record.ts"
import { renderStatements } from "./statements.ts"
import { renderMessages, renderRules } from "./users-words.ts"
import { renderFailures, renderFiles, renderResults, renderTests } from "./work-done.ts"

export interface FactsOptions {
  readonly estimate: Estimate
  /** Tokens of all facts. Standing rules, the open task and todos are never cut, so they may exceed it. Of few tokens: `shortRecord`. */
  readonly budget?: number
  /** Messages that stay in the view. The facts do not repeat them. */
  readonly kept?: ReadonlySet<Uuid>
  /** The summary before them. Names and sentences that it has are not repeated. */
  readonly summary?: string
  /** There is no summary before them. */
  readonly isAlone?: boolean
  /** Whether a result can be fetched by its handle. Default true. */
  readonly hasRecall?: boolean
}

export const FACTS_BUDGET = 3_000 // tokens; the flag `record-limit` has the same

/** Of what rules, task and todos leave of the budget. What one does not need goes to the next, and names get the rest. */
interface Shares {
  readonly plan: number
  readonly files: number
  readonly failures: number
  readonly tests: number
  readonly messages: number
  readonly statements: number
  readonly results: number
}
/** A summary says what it meant, so names take most: of all lists, they are used again most (`npm run compaction-marks`). */
const AFTER_SUMMARY: Shares = {
  ...{ plan: 0.05, files: 0.13, failures: 0.03, tests: 0.03, messages: 0.1, statements: 0.06, results: 0.08 },
}
/** Without one, the sentences have to say it. */
const ALONE: Shares = {
  ...{ plan: 0.05, files: 0.06, failures: 0.04, tests: 0.03, messages: 0.3, statements: 0.25, results: 0.08 },
}
const CHANGED_FILES = 0.3 // of the budget, however little the rest leaves: files that were changed are all named where possible
const READS = 0.1 // of the files, for those that were only read
const MAX_FIXED = 0.4 // of the budget that rules, task and todos take from the others; what they need beyond that comes on top
const MAX_STATEMENTS = 3 // times their share, however much is left
const MAX_NAMES = 0.6
const SHORT_RECORD = 800 // tokens: with fewer, headings and handles would take most of them
const MOST_TODO_CHARACTERS = 500

/** The views that the facts are rendered from. */
export type Recorded = Pick<Views, "words" | "artifacts" | "names" | "results" | "statements" | "frontier">

/** Empty where there is nothing to say. */
export const renderFacts = (views: Recorded, options: FactsOptions): string => atOnce(factSteps(views, options))

/** The same in steps. */
export function* factSteps(
  views: Recorded,
  { estimate, budget = FACTS_BUDGET, kept = new Set(), summary = "", isAlone = false, hasRecall = true }: FactsOptions,
): Steps<string> {
  if (budget < SHORT_RECORD) return shortRecord(views, { estimate, budget, kept, summary }).toWellFormed()
  const { words, artifacts, names, results, statements, frontier } = views
  const language = renderLanguage(words.messages.map(({ text }) => text))
  const request = renderRequest(frontier, { limit: budget, estimate, kept })
  const todos = renderTodos(frontier.todos)
  yield
  const task = renderMessages({ words, statements, limit: 0, estimate, kept })
  const rulesAlone = renderRules({ words, statements, inView: new Set([...kept, ...task.whole]) })
  const fixed = [language, rulesAlone, request, todos, task.text].reduce((sum, text) => sum + estimate(text), 0)
  const outdated = outdatedValues(statements)
  const shares = isAlone ? ALONE : AFTER_SUMMARY
  const room = new Room(budget - Math.min(fixed, budget * MAX_FIXED), estimate)
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
  let whole: ReadonlySet<Uuid> = new Set()
  const messages = room.take(
    shares.messages,
    (limit) => {
      const rendered = renderMessages({ words, statements, limit: limit + estimate(task.text), estimate, kept })
      whole = rendered.whole
      return rendered.text
    },
    estimate(task.text),
  )
  const inView = new Set([...kept, ...whole])
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
    ? room.take(shares.results, (limit) => renderResults({ results, names, limit, estimate, kept }))
    : ""
  yield
  const shown = [language, rules, messages, request, todos, plan, sentences, files, failures, tests, found]
  const forNames = Math.min(room.left, budget * MAX_NAMES)
  const listed = yield* nameSteps({ names, limit: forNames, estimate, kept, shown: [summary, ...shown], outdated })
  return joined([...shown, listed]).toWellFormed() // half a surrogate pair would spoil the whole request
}

/** Tokens that are shared out. */
class Room {
  readonly #whole: number
  readonly #estimate: Estimate
  #used = 0
  /** The shares of what was rendered so far. */
  #shared = 0

  constructor(whole: number, estimate: Estimate) {
    this.#whole = whole
    this.#estimate = estimate
  }

  get left(): number {
    return Math.max(0, this.#whole - this.#used)
  }

  /** The share, and what those before it did not need. `counted`: tokens of it that were counted before. */
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

interface Shown {
  readonly limit: number
  readonly estimate: Estimate
  readonly kept: ReadonlySet<Uuid>
}

/** The user's messages are shown above. A task is not one of them, so its text is here. */
function renderRequest({ request, answered }: Frontier, { limit, estimate, kept }: Shown): string {
  if (request === undefined) return ""
  const state = answered ? "The last answer to it was a final one." : "It has no final answer yet."
  const { uuid, text, isFromAgent } = request
  const place = `It is message ${handleOf(uuid)}. ${state}`
  if (!isFromAgent) return `## The newest request\n${place}`
  const task = kept.has(uuid) ? [] : [fenced(cutText({ text, limit, estimate }))]
  return [`## Your task`, `Another agent gave it, not the user. ${place}`, ...task].join("\n")
}

const TODO_STATES = { pending: "open", in_progress: "in progress", completed: "done" } as const

function renderTodos(todos: readonly Todo[]): string {
  const lines = todos.map(
    ({ content, status }) => `- ${TODO_STATES[status]}: ${inlineUpTo(MOST_TODO_CHARACTERS, maskSecrets(content))}`,
  )
  return lines.length === 0 ? "" : ["## Todos", ...lines].join("\n")
}

/** The text of a plan in a file is restored with the file. */
function renderPlan(
  { active, path, text: written = "" }: Frontier["plan"],
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
  const what = shown === text ? "The plan:" : `The plan, its first ${shown.length} of ${text.length} characters:`
  return [what, fenced(shown)]
}
