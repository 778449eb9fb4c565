/**
 * Step 1, decide. The context of a compaction: the messages since the last boundary, where to cut them, and whether a compaction makes
 * sense.
 */
import { formatNumber } from "../../base/text.ts"
import type { CooperativeTask } from "../../base/work.ts"
import { isSummary, type Message, sentBlocks } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import type { Measure } from "../../tokens/estimate.ts"
import type { Thresholds } from "../../tokens/window.ts"
import type { ReadState } from "../../tools/tool.ts"
import type {
  CompactionProgress,
  CompactionRefusal,
  CompactionRefusalReason,
  LayerContext,
  ResolvedCompactionRequest,
} from "../layer.ts"
import {
  applyShortening,
  type Cut,
  type CutInput,
  cutAll,
  cutRange,
  openFrom,
  shortenResults,
  type TailLimits,
  type TokensOf,
} from "./cut.ts"
import type { ExcludedPaths, ReadFileAgain } from "./restore/files.ts"
import { type RestoreLimits, restoreLimits } from "./restore/restore.ts"

// Dependencies of a compaction: reads of the tools, hooks, and the user's instructions for summaries.

export interface CompactionDependencies {
  /** Files that the tools have read. */
  readonly reads?: ReadState
  /** Paths that are not restored: instruction files and Strata's own files. */
  readonly excluded?: () => ExcludedPaths
  /** Whether a file known only from the journal may be read again without asking. Default: no. */
  readonly mayRead?: (path: string) => boolean
  /** Reads a file again. Default: from disk. */
  readonly readFile?: ReadFileAgain
  readonly hooks?: CompactionHooks
  /** Instructions for every summary, from instruction files and settings. */
  readonly guidance?: () => readonly string[]
  /** Whether no user is there to answer questions. */
  readonly autonomous?: boolean
}

type Trigger = ResolvedCompactionRequest["trigger"]

interface HookRunOptions {
  readonly signal?: AbortSignal
  /** Called before a hook runs, to show it to the user. */
  readonly progress?: (progress: CompactionProgress) => void
}

/** Hooks of a compaction. A hook that fails changes nothing: the failure is only reported to the user. The signal ends running hooks. */
export interface CompactionHooks {
  before(about: HookRunOptions & { readonly trigger: Trigger; readonly instructions: string }): Promise<{
    readonly instructions: string
    readonly messages: readonly string[]
    readonly blocked?: string | undefined
  }>
  started(about?: HookRunOptions): Promise<{
    readonly contexts: readonly { readonly hook: string; readonly text: string }[]
    readonly messages: readonly string[]
  }>
  after(about: { readonly trigger: Trigger; readonly summary: string; readonly signal?: AbortSignal }): Promise<{
    readonly messages: readonly string[]
  }>
}

/** Input shared by all steps of a compaction. */
export interface CompactionContext {
  readonly context: LayerContext
  readonly order: ResolvedCompactionRequest
  readonly dependencies: CompactionDependencies
  readonly budgets: CompactionBudgets
  /** Thresholds that the compacted context must meet. */
  readonly limits: Thresholds
  readonly cutInput: CutInput
  readonly cut: Cut
}

const NEW_CONTENT_SHARE = 0.25 // of the window: what is new since the last compaction, before the next one
const PLANNED_NEW_CONTENT = 20_000 // tokens of it, where the planner compacts long before the window is full
/** Minimum new content, as a share of the window, before another compaction if nothing more fits or a request was refused. */
export const MIN_NEW_SHARE = 0.1

export type CompactionInput = Pick<CompactionContext, "context" | "order" | "dependencies">

export function assess({ context, order, dependencies }: CompactionInput): CompactionContext | CompactionRefusal {
  const limits = order.target ?? context.thresholds
  const usual = compactionBudgets({ flags: context.flags, thresholds: limits })
  const room = { prompt: context.views.context.promptTokens, autoCompact: limits.autoCompact }
  const planned = order.planned === undefined ? usual : plannedBudgets(usual, room)
  const figures = order.budget === undefined ? planned : budgetsWithin(planned, order.budget, room.prompt)
  const situation = withBudgets({ context, order, dependencies, limits }, figures)
  return refusalOf(situation, situation.cut) ?? situation
}

/** Applies budgets and computes the cut. The messages of a previous context are reused. */
export function withBudgets(
  {
    context,
    order,
    dependencies,
    limits,
    cutInput: before,
  }: Omit<CompactionContext, "budgets" | "cut" | "cutInput"> & Partial<CompactionContext>,
  budgets: CompactionBudgets,
): CompactionContext {
  const tokensOf = sizesIn(context)
  const messages = before?.messages ?? context.views.context.storedMessages().filter(isCompactable)
  const conversation = Math.max(0, context.size.tokens - context.views.context.promptTokens)
  const newest = {
    budget: newestWithin(budgets.newest.budget, conversation),
    tokensOf: shortenedSizesIn(context, budgets.newest.result),
  }
  const cutInput = { messages, tokensOf, limits: budgets.keep, newest }
  const cut = order.range ? cutRange(messages, order.range) : cutAll(cutInput)
  return { context, order, dependencies, budgets, limits, cutInput, cut: cut! }
}

/** Caches the measure of each message, because measuring a long conversation takes a while. */
const measuredMessages = new WeakMap<LayerContext["views"]["estimator"], WeakMap<Message, Measure>>()

export function sizesIn(context: LayerContext): TokensOf {
  const { estimator } = context.views
  const known = measuredMessages.get(estimator) ?? new WeakMap<Message, Measure>()
  measuredMessages.set(estimator, known)
  return (message) => {
    const found = known.get(message) ?? estimator.measure(sentBlocks(message))
    known.set(message, found)
    return estimator.tokens(found)
  }
}

/** Token sizes of preserved messages, with long results shortened. */
export function shortenedSizesIn(context: LayerContext, limit = compactionBudgets(context).newest.result): TokensOf {
  const { views } = context
  const complete = sizesIn(context)
  return (message) => {
    const shortened = shortenResults([message], { context: views.context, limit })
    if (shortened.length === 0) return complete(message)
    return views.estimator.blocks(applyShortening([message], shortened).flatMap(sentBlocks))
  }
}

/** Measures all messages as a cooperative task. */
export function* measureSteps(context: LayerContext): CooperativeTask<void> {
  const tokensOf = sizesIn(context)
  for (const message of context.views.context.storedMessages()) {
    tokensOf(message)
    yield
  }
}

function refusalOf(situation: CompactionContext, cut: Cut | undefined): CompactionRefusal | undefined {
  const { context, order, budgets, limits } = situation
  const { compactions } = context.views
  const allowed = order.trigger === "manual" || order.target ? context.compaction.manual : context.compaction.auto
  if (!allowed) return refused("switched-off", "Compacting is switched off in the settings. Nothing was changed.")
  const isAutomatic = order.trigger === "auto" && !order.target
  const isForced = order.overflowed || context.fill.state === "blocked"
  if (isAutomatic && context.views.context.promptTokens >= (isForced ? limits.blocking : limits.autoCompact))
    return refused(
      "out-of-reach",
      `System prompt, tools and instructions alone take about ${formatNumber(context.views.context.promptTokens)} tokens, and compaction starts at ${formatNumber(limits.autoCompact)}, so it cannot help. Use fewer tools, shorter instructions or a model with a larger window.`,
    )
  if (cut === undefined)
    return refused(
      "no-such-message",
      `There is no message ${order.range?.uuid} since the last boundary. Nothing was changed. Use the handle of a message after the boundary.`,
    )
  if (cut.kind === "from" && openFrom(cut.summarised) < cut.summarised.length)
    return refused(
      "calls-open",
      "A tool is still running, and its result would be lost. Nothing was changed. Try again when it has finished.",
    )
  if (!cut.summarised.some(({ type }) => type === "assistant") || isAlreadySummarised(situation, cut))
    return refused("nothing-to-summarise", "There is no answer to summarise yet. Nothing was changed.")
  if (!isAutomatic) return undefined
  if (compactions.failures >= budgets.failures && !isWithoutModel(order))
    return refused(
      "stopped-after-failures",
      `Automatic compaction has stopped after ${compactions.failures} consecutive failures. Nothing was lost. Run /compact: if it succeeds, automatic compaction resumes.`,
    )
  if (!order.overflowed && waitsAfterUndo(context, limits))
    return refused(
      "just-undone",
      `The last compaction was undone. Automatic compaction waits until about ${formatNumber(compactions.undoneAt! + newContent(limits))} tokens, or until nothing more fits. Use /compact to compact now.`,
    )
  if (order.attempt) return undefined // the same compaction again, aimed lower
  const since = context.size.tokens - (compactions.last?.tokensAfter ?? Number.NEGATIVE_INFINITY)
  if (since < minSince(situation))
    return refused(
      "too-soon",
      `Only about ${formatNumber(Math.max(0, since))} tokens are new since the last compaction, and what it left nearly fills the window. Nothing was changed. Go back to an earlier message, or use a model with a larger window.`,
    )
  return undefined
}

const newContent = ({ window }: Thresholds): number => Math.floor(window * MIN_NEW_SHARE)

/**
 * Minimum new content since the last compaction. Any amount is enough if no request fits any more: otherwise the conversation could not
 * continue.
 */
function minSince({ context, order, limits }: CompactionContext): number {
  if (context.fill.state === "blocked") return 1
  return order.overflowed ? newContent(limits) : requiredNewContent(order, limits)
}

/** Whether the compaction costs nothing. Then it is tried even after failures. */
export const isWithoutModel = ({ routes }: ResolvedCompactionRequest): boolean =>
  routes?.every((name) => name === "offline") ?? false

/** Whether an automatic compaction can wait for more new content: the last one left much, and there is still room. */
export function waitsForContent(context: LayerContext, planned?: string): boolean {
  const { views, size, fill, thresholds } = context
  const left = views.compactions.last?.tokensAfter
  if (left === undefined || fill.state === "blocked") return false
  return size.tokens - left < requiredNewContent(planned === undefined ? {} : { planned }, thresholds)
}

/** New content that a compaction at the threshold waits for while there is room. */
function requiredNewContent({ planned }: Pick<ResolvedCompactionRequest, "planned">, { window }: Thresholds): number {
  const required = Math.floor(window * NEW_CONTENT_SHARE)
  return planned === undefined ? required : Math.min(required, PLANNED_NEW_CONTENT)
}

/** Whether compaction waits after an undo: first the context must grow, or become too full to send. */
export function waitsAfterUndo(context: LayerContext, limits = context.thresholds): boolean {
  const { views, size } = context
  const { undoneAt } = views.compactions
  return undoneAt !== undefined && size.tokens < limits.blocking && size.tokens - undoneAt < newContent(limits)
}

/** Whether the context since the last boundary consists only of messages that its summary already covers. */
function isAlreadySummarised(
  { context, order, budgets, cutInput }: CompactionContext,
  { kind, summarised }: Cut,
): boolean {
  const { count, responses } = context.views.compactions
  if (count === 0 || responses > 0 || order.overflowed || kind !== "all") return false
  const messages = summarised.filter((each) => each.type !== "attachment" && !isSummary(each))
  return messages.reduce((sum, message) => sum + cutInput.tokensOf(message), 0) <= budgets.newest.budget
}

/** Purpose of the requests for a summary. */
export const purposeOf = (trigger: ResolvedCompactionRequest["trigger"]): "compaction" | "by-hand" =>
  trigger === "manual" ? "by-hand" : "compaction"

export const isRefusal = (found: CompactionContext | CompactionRefusal): found is CompactionRefusal => "kind" in found

const refused = (why: CompactionRefusalReason, message: string): CompactionRefusal => ({
  kind: "refused",
  why,
  message,
})

/** Whether a message can be summarized: messages and attachments, but no boundaries. */
const isCompactable = ({ type }: Message) => type === "user" || type === "assistant" || type === "attachment"

// Instructions for every summary from instruction files, however the compaction was started.

const HEADING = /^(#{1,6})\s*compact instructions\s*#*\s*$/i

/** The text below `Compact Instructions` headings. Several sections are joined. */
export function compactInstructionsIn(text: string): string {
  const lines = text.split("\n")
  const sections: string[] = []
  lines.forEach((line, at) => {
    const level = HEADING.exec(line.trim())?.[1]?.length
    if (level === undefined) return
    const rest = lines.slice(at + 1)
    const end = rest.findIndex((each) => (/^(#{1,6})\s/.exec(each)?.[1]?.length ?? 7) <= level)
    sections.push((end < 0 ? rest : rest.slice(0, end)).join("\n").trim())
  })
  return sections.filter((section) => section !== "").join("\n\n")
}

// The budgets of a compaction, scaled to the window: what is generous in a large window would fill a small one.

const USUAL_THRESHOLD = 167_000 // tokens: the default budgets are meant for a window of 200,000
const HOOKS_LIMIT = 10_000 // tokens of all that hooks say after a boundary: twice what a file gets
const SKILLS_SHARE = 1 / 3 // of the room for files and skills: the ratio of their limits
const MIN_SUMMARY = 1_500 // tokens: nine sections need about as many in any window
const SUMMARY_SHARE = 1 / 8 // of the threshold, where even that is much
const FACTS_SHARE = 0.06 // of the threshold for the record, where its part of the window would be less
const EXTRACT_LIMIT = 1_000 // tokens: what a summariser is shown of results that were cleared
const RESTORED_SHARE = 0.4 // of the threshold up to which files and skills are restored: a tenth of it is left below `compact-target`
const NEWEST_SHARE = 0.1 // of the conversation: a short one is still worth compacting
const RESULT_SHARE = 1 / 2 // characters of a long result for each token of the budget: an eighth of it, so that several rounds fit
const MIN_RESULT = 400 // characters of a long result that stay in any case

export interface CompactionBudgets {
  readonly keep: TailLimits
  /** Tokens of the newest exchanges, and characters of a long result in them. */
  readonly newest: { readonly budget: number; readonly result: number }
  /** Maximum tokens of a summary. */
  readonly summary: number
  /** Tokens of exact content from results that the summarizer does not see. */
  readonly extract: number
  /** Target size of the complete context after an automatic compaction, and its size including restored content. */
  readonly target: number
  readonly restored: number
  /** Tokens of the record that follows a summary. */
  readonly facts: number
  readonly restore: RestoreLimits
  /** Tokens of hook output after the boundary. */
  readonly hooks: number
  readonly failures: number
  /** Share of the context that a compaction must remove. */
  readonly progress: number
}

export function compactionBudgets({ flags, thresholds }: Pick<LayerContext, "thresholds"> & { readonly flags: Flags }) {
  const share = Math.min(1, thresholds.autoCompact / USUAL_THRESHOLD)
  const part = (tokens: number) => Math.floor(tokens * share)
  const { figures } = flags
  const { autoCompact } = thresholds
  const restore = restoreLimits(flags)
  const budget = part(figures["tail-tokens"])
  return {
    keep: {
      min: part(figures["tail-min"]),
      max: part(figures["tail-max"]),
      messages: figures["keep-messages"],
    },
    newest: { budget, result: Math.min(figures["keep-result-limit"], Math.floor(budget * RESULT_SHARE)) },
    summary: Math.max(part(figures["summary-budget"]), Math.floor(Math.min(MIN_SUMMARY, autoCompact * SUMMARY_SHARE))),
    extract: part(EXTRACT_LIMIT),
    target: Math.floor((autoCompact * figures["compact-target"]) / 100),
    restored: Math.floor(autoCompact * RESTORED_SHARE),
    facts: Math.max(
      part(figures["record-limit"]),
      Math.floor(Math.min(figures["record-limit"], autoCompact * FACTS_SHARE)),
    ),
    restore: { ...mapValues(restore, part), files: restore.files },
    hooks: part(HOOKS_LIMIT),
    failures: figures["compact-failures"],
    progress: figures["compact-min-shrink"] / 100,
  } satisfies CompactionBudgets
}

const PLANNED_ROOM = 16_000 // tokens besides the prompt: what is left is read again with every request
const PLANNED_RESTORED = 13_000 // the same with files that are shown again: summary, record and newest exchanges leave about 3,000 for them
const PLANNED_NEWEST = 4_000 // tokens of the newest exchanges: they are used again soonest (`npm run lab`)

/** Budgets of a compaction that saves money. It runs early and often, restores less, and preserves more of what is used again soon. */
export function plannedBudgets(
  figures: CompactionBudgets,
  { prompt, autoCompact }: { readonly prompt: number; readonly autoCompact: number },
): CompactionBudgets {
  const share = Math.min(1, autoCompact / USUAL_THRESHOLD)
  const budget = Math.max(figures.newest.budget, Math.floor(PLANNED_NEWEST * share))
  return {
    ...figures,
    newest: { ...figures.newest, budget },
    target: Math.min(figures.target, prompt + PLANNED_ROOM),
    restored: Math.min(figures.restored, prompt + PLANNED_RESTORED),
  }
}

/** Minimum tokens of a summary: a shorter one says nothing, because the titles of its sections alone would exceed it. */
export const SHORTEST_SUMMARY = 300
const BUDGET_SHARES = { newest: 0.3, summary: 0.3, facts: 0.35 } // of all that may be left: the text around a summary gets the rest

/** Budgets for a total limit in tokens. Files get what the rest leaves. */
export function budgetsWithin(figures: CompactionBudgets, budget: number, prompt: number): CompactionBudgets {
  const max = (tokens: number, share: number) => Math.min(tokens, Math.floor(budget * share))
  return {
    ...figures,
    newest: { ...figures.newest, budget: max(figures.newest.budget, BUDGET_SHARES.newest) },
    summary: Math.min(figures.summary, Math.max(SHORTEST_SUMMARY, Math.floor(budget * BUDGET_SHARES.summary))),
    facts: max(figures.facts, BUDGET_SHARES.facts),
    target: Math.min(figures.target, prompt + budget),
    restored: Math.min(figures.restored, prompt + budget),
  }
}

/** Shares of the usual budgets for preserved messages and for the record, and a maximum for the summary. */
export interface ReducedShares {
  readonly preserved: number
  readonly record: number
  readonly summary?: number
}

export function reducedBudgets(
  figures: CompactionBudgets,
  { preserved, record, summary = figures.summary }: ReducedShares,
): CompactionBudgets {
  const part = (share: number) => (tokens: number) => Math.floor(tokens * share)
  return {
    ...figures,
    newest: {
      budget: part(preserved)(figures.newest.budget),
      result: Math.min(figures.newest.result, Math.max(MIN_RESULT, part(preserved)(figures.newest.result))),
    },
    summary: Math.min(figures.summary, summary),
    facts: part(record)(figures.facts),
    restore: { ...mapValues(figures.restore, part(record)), files: figures.restore.files },
  }
}

/** Limits for restored content, so that the complete context stays within `max`. */
export function restoreWithin(
  limits: RestoreLimits,
  { max, used }: { readonly max: number; readonly used: number },
): RestoreLimits {
  const room = Math.max(0, Math.floor(max - used))
  const allSkills = Math.min(limits.allSkills, Math.floor(room * SKILLS_SHARE))
  return { ...limits, allSkills, together: room }
}

/** Limits the newest exchanges of a short conversation to a share of it. */
export const newestWithin = (budget: number, conversation: number): number =>
  Math.min(budget, Math.floor(conversation * NEWEST_SHARE))

const mapValues = <T extends object>(values: T, change: (value: number) => number): T =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value as number)])) as T
