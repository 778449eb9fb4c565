/**
 * Step 5, restore. What follows a boundary as data and not as prose: rendered from the views, so that no summary can lose or invent it. Pure:
 * equal views give equal bytes. Text from outside is quoted, so that only our own lines read as ours.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import { fenced, type Todo } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/handles.ts"
import { inline, inlineUpTo } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Frontier } from "../../../views/record/frontier.ts"
import type { Views } from "../../../views/views.ts"
import { cutText, type Estimate } from "../cut-text.ts"
import { nameSteps } from "./names.ts"
import { languageOf, renderRules, renderWords } from "./users-words.ts"
import { renderFailures, renderFiles, renderResults, renderTests } from "./work-done.ts"

export interface FactsOptions {
  readonly estimate: Estimate
  readonly limits?: Partial<FactsLimits>
  /** Messages that stay in the view. The facts name them and do not repeat them. */
  readonly kept?: ReadonlySet<Uuid>
}

/** Tokens. */
export interface FactsLimits {
  /** The user's messages. */
  readonly words: number
  /** Files that were only read. */
  readonly reads: number
  /** Each list of commands: those that failed, and test runs. */
  readonly commands: number
  /** A plan that is in no file. */
  readonly plan: number
  /** The list of exact names. */
  readonly names: number
  /** Tool results, one line each. */
  readonly results: number
}

export const FACTS_LIMITS: FactsLimits = {
  words: 20_000,
  reads: 2_000,
  commands: 2_000,
  plan: 5_000,
  names: 2_000,
  results: 2_500,
}

const MOST_TODO_CHARACTERS = 500

/** The views that the facts are rendered from. */
export type Recorded = Pick<Views, "words" | "artifacts" | "names" | "results" | "frontier">

/** Empty where there is nothing to say. */
export const renderFacts = (views: Recorded, options: FactsOptions): string => atOnce(factSteps(views, options))

/** The same in steps. */
export function* factSteps(
  { words, artifacts, names, results, frontier }: Recorded,
  { estimate, limits: given, kept = new Set() }: FactsOptions,
): Steps<string> {
  const limits = { ...FACTS_LIMITS, ...given }
  const commands = { artifacts, limit: limits.commands, estimate }
  const each = [
    () => renderLanguage(words.messages.map(({ text }) => text)),
    () => renderRules(words),
    () => renderWords({ words, limit: limits.words, estimate, kept }),
    () => renderRequest(frontier, { limit: limits.words, estimate, kept }),
    () => renderTodos(frontier.todos),
    () => renderPlan(frontier.plan, { limit: limits.plan, estimate }),
    () => renderFiles({ artifacts, limit: limits.reads, estimate }),
    () => renderFailures(commands),
    () => renderTests(commands),
    () => renderResults({ results, names, limit: limits.results, estimate, kept }),
  ]
  const shown: string[] = []
  for (const render of each) {
    shown.push(render())
    yield
  }
  const listed = yield* nameSteps({ names, limit: limits.names, estimate, kept, shown })
  return joined([...shown, listed]).toWellFormed() // half a surrogate pair would spoil the whole request
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
    ({ content, status }) => `- ${TODO_STATES[status]}: ${inlineUpTo(MOST_TODO_CHARACTERS, content)}`,
  )
  return lines.length === 0 ? "" : ["## Todos", ...lines].join("\n")
}

/** The text of a plan in a file is restored with the file. */
function renderPlan(
  { active, path, text = "" }: Frontier["plan"],
  { limit, estimate }: { readonly limit: number; readonly estimate: Estimate },
): string {
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
