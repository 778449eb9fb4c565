/**
 * Step 1, decide. What a compaction starts from: the messages since the last boundary, where to cut them, and whether a compaction makes
 * sense.
 */
import { grouped } from "../../base/text.ts"
import type { Steps } from "../../base/work.ts"
import { isSummary, type Message, sentBlocks } from "../../messages/messages.ts"
import type { Measure } from "../../tokens/estimate.ts"
import type { Thresholds } from "../../tokens/window.ts"
import type { ReadState } from "../../tools/tool.ts"
import type { CompactionOrder, CompactionProgress, LayerContext, Refusal, RefusalReason } from "../layer.ts"
import {
  type Cut,
  type CutInput,
  cutAll,
  cutRange,
  openFrom,
  shortenedIn,
  type TokensOf,
  withShortened,
} from "./cut.ts"
import { type CompactionFigures, compactionFigures, figuresWithin, newestWithin, plannedFigures } from "./figures.ts"
import type { ExcludedPaths, ReadFileAgain } from "./restore/files.ts"

// What is around a conversation that is compacted: what its tools have read, hooks, and what the person wants of summaries.

export interface Surroundings {
  /** What the tools have read. */
  readonly reads?: ReadState
  /** Paths that are not read again: instruction files, and our own files. */
  readonly excluded?: () => ExcludedPaths
  /** Whether a file known only from the journal may be read again without asking. Default: no. */
  readonly mayRead?: (path: string) => boolean
  /** Where files are read again. Default: from disk. */
  readonly readFile?: ReadFileAgain
  readonly hooks?: CompactionHooks
  /** What every summary should focus on: from instruction files and settings. */
  readonly guidance?: () => readonly string[]
  /** No one is there to answer questions. */
  readonly autonomous?: boolean
}

type Trigger = CompactionOrder["trigger"]

interface HookRun {
  readonly signal?: AbortSignal
  /** Called before a hook runs, for the person's screen. */
  readonly progress?: (progress: CompactionProgress) => void
}

/** A hook that fails changes nothing: its failure is only reported to the person. The signal ends hooks that run. */
export interface CompactionHooks {
  before(about: HookRun & { readonly trigger: Trigger; readonly instructions: string }): Promise<{
    readonly instructions: string
    readonly messages: readonly string[]
    readonly blocked?: string | undefined
  }>
  started(about?: HookRun): Promise<{
    readonly contexts: readonly { readonly hook: string; readonly text: string }[]
    readonly messages: readonly string[]
  }>
  after(about: { readonly trigger: Trigger; readonly summary: string; readonly signal?: AbortSignal }): Promise<{
    readonly messages: readonly string[]
  }>
}

/** What every step of a compaction has before it. */
export interface Situation {
  readonly context: LayerContext
  readonly order: CompactionOrder
  readonly around: Surroundings
  readonly figures: CompactionFigures
  /** The limits to fit. */
  readonly limits: Thresholds
  readonly cutInput: CutInput
  readonly cut: Cut
}

const NEW_CONTENT_SHARE = 0.25 // of the window: what is new since the last compaction, before the next one
const PLANNED_NEW_CONTENT = 20_000 // tokens of it, where the planner compacts long before the window is full
/** Where nothing more fits, or a request was refused: less than this is not worth another one. */
export const LEAST_NEW_SHARE = 0.1

export type Begun = Pick<Situation, "context" | "order" | "around">

export function assess({ context, order, around }: Begun): Situation | Refusal {
  const limits = order.target ?? context.thresholds
  const usual = compactionFigures({ flags: context.flags, thresholds: limits })
  const room = { prompt: context.views.context.promptTokens, autoCompact: limits.autoCompact }
  const planned = order.planned === undefined ? usual : plannedFigures(usual, room)
  const figures = order.budget === undefined ? planned : figuresWithin(planned, order.budget, room.prompt)
  const situation = situationWith({ context, order, around, limits }, figures)
  return refusalOf(situation, situation.cut) ?? situation
}

/** Where these figures would cut. A situation before it has the messages. */
export function situationWith(
  {
    context,
    order,
    around,
    limits,
    cutInput: before,
  }: Omit<Situation, "figures" | "cut" | "cutInput"> & Partial<Situation>,
  figures: CompactionFigures,
): Situation {
  const tokensOf = sizesIn(context)
  const messages = before?.messages ?? context.views.context.storedMessages().filter(isPartOfIt)
  const conversation = Math.max(0, context.size.tokens - context.views.context.promptTokens)
  const newest = {
    budget: newestWithin(figures.newest.budget, conversation),
    tokensOf: shownSizesIn(context, figures.newest.result),
  }
  const cutInput = { messages, tokensOf, figures: figures.keep, newest }
  const cut = order.range ? cutRange(messages, order.range) : cutAll(cutInput)
  return { context, order, around, figures, limits, cutInput, cut: cut! }
}

/** Of each message once: the text of a long conversation takes a while to measure. */
const measured = new WeakMap<LayerContext["views"]["estimator"], WeakMap<Message, Measure>>()

export function sizesIn(context: LayerContext): TokensOf {
  const { estimator } = context.views
  const known = measured.get(estimator) ?? new WeakMap<Message, Measure>()
  measured.set(estimator, known)
  return (message) => {
    const found = known.get(message) ?? estimator.measure(sentBlocks(message))
    known.set(message, found)
    return estimator.tokens(found)
  }
}

/** The same of messages that are kept, with long results shortened. */
export function shownSizesIn(context: LayerContext, limit = compactionFigures(context).newest.result): TokensOf {
  const { views } = context
  const whole = sizesIn(context)
  return (message) => {
    const shortened = shortenedIn([message], { context: views.context, limit })
    if (shortened.length === 0) return whole(message)
    return views.estimator.blocks(withShortened([message], shortened).flatMap(sentBlocks))
  }
}

/** Measures all messages, a few at each step. */
export function* measureSteps(context: LayerContext): Steps<void> {
  const tokensOf = sizesIn(context)
  for (const message of context.views.context.storedMessages()) {
    tokensOf(message)
    yield
  }
}

function refusalOf(situation: Situation, cut: Cut | undefined): Refusal | undefined {
  const { context, order, figures, limits } = situation
  const { compactions } = context.views
  const allowed = order.trigger === "manual" || order.target ? context.compaction.manual : context.compaction.auto
  if (!allowed) return refused("switched-off", "Compacting is switched off in the settings. Nothing was changed.")
  const isAutomatic = order.trigger === "auto" && !order.target
  const isForced = order.overflowed || context.fill.state === "blocked"
  if (isAutomatic && context.views.context.promptTokens >= (isForced ? limits.blocking : limits.autoCompact))
    return refused(
      "out-of-reach",
      `System prompt, tools and instructions alone take about ${grouped(context.views.context.promptTokens)} tokens, and compaction starts at ${grouped(limits.autoCompact)}, so it cannot help. Use fewer tools, shorter instructions or a model with a larger window.`,
    )
  if (cut === undefined)
    return refused(
      "no-such-message",
      `There is no message ${order.range?.uuid} since the last boundary. Nothing was changed. Take a handle from the messages after it.`,
    )
  if (cut.kind === "from" && openFrom(cut.summarised) < cut.summarised.length)
    return refused(
      "calls-open",
      "A tool is still running, and its result would be lost. Nothing was changed. Try again when it has finished.",
    )
  if (!cut.summarised.some(({ type }) => type === "assistant") || isAllKept(situation, cut))
    return refused("nothing-to-summarise", "There is no answer to summarise yet. Nothing was changed.")
  if (!isAutomatic) return undefined
  if (compactions.failures >= figures.failures && !isWithoutModel(order))
    return refused(
      "stopped-after-failures",
      `Automatic compaction has stopped after ${compactions.failures} failures in a row. Everything is kept. Try by hand with /compact: a success starts it again.`,
    )
  if (!order.overflowed && waitsAfterUndo(context, limits))
    return refused(
      "just-undone",
      `The last compaction was undone. Automatic compaction waits until about ${grouped(compactions.undoneAt! + newContent(limits))} tokens, or until nothing more fits. Use /compact to compact now.`,
    )
  if (order.attempt) return undefined // the same compaction again, aimed lower
  const since = context.size.tokens - (compactions.last?.tokensAfter ?? Number.NEGATIVE_INFINITY)
  if (since < leastSince(situation))
    return refused(
      "too-soon",
      `Only about ${grouped(Math.max(0, since))} tokens are new since the last compaction, and what it left nearly fills the window. Nothing was changed. Go back to an earlier message, or use a model with a larger window.`,
    )
  return undefined
}

const newContent = ({ window }: Thresholds): number => Math.floor(window * LEAST_NEW_SHARE)

/** How much must be new since the last compaction. Anything is enough where no request fits any more: otherwise the conversation would end here. */
function leastSince({ context, order, limits }: Situation): number {
  if (context.fill.state === "blocked") return 1
  return order.overflowed ? newContent(limits) : wantedContent(order, limits)
}

/** Nothing is paid, so it is tried even after failures. */
export const isWithoutModel = ({ routes }: CompactionOrder): boolean =>
  routes?.every((name) => name === "offline") ?? false

/** Whether an automatic compaction can wait until more is new: what the last one left is large, and there is still room. */
export function waitsForContent(context: LayerContext, planned?: string): boolean {
  const { views, size, fill, thresholds } = context
  const left = views.compactions.last?.tokensAfter
  if (left === undefined || fill.state === "blocked") return false
  return size.tokens - left < wantedContent(planned === undefined ? {} : { planned }, thresholds)
}

/** A compaction at the threshold waits for this much, as long as there is room. */
function wantedContent({ planned }: Pick<CompactionOrder, "planned">, { window }: Thresholds): number {
  const wanted = Math.floor(window * NEW_CONTENT_SHARE)
  return planned === undefined ? wanted : Math.min(wanted, PLANNED_NEW_CONTENT)
}

/** A compaction that was undone must not come back at once: first the context must grow, or be too full to send. */
export function waitsAfterUndo(context: LayerContext, limits = context.thresholds): boolean {
  const { views, size } = context
  const { undoneAt } = views.compactions
  return undoneAt !== undefined && size.tokens < limits.blocking && size.tokens - undoneAt < newContent(limits)
}

/** Whether all there is since the last boundary are the newest exchanges that it kept: its summary covers them already. */
function isAllKept({ context, order, figures, cutInput }: Situation, { kind, summarised }: Cut): boolean {
  const { count, responses } = context.views.compactions
  if (count === 0 || responses > 0 || order.overflowed || kind !== "all") return false
  const messages = summarised.filter((each) => each.type !== "attachment" && !isSummary(each))
  return messages.reduce((sum, message) => sum + cutInput.tokensOf(message), 0) <= figures.newest.budget
}

/** What a request for a summary is for. */
export const purposeOf = (trigger: CompactionOrder["trigger"]): "compaction" | "by-hand" =>
  trigger === "manual" ? "by-hand" : "compaction"

export const isRefusal = (found: Situation | Refusal): found is Refusal => "kind" in found

const refused = (why: RefusalReason, message: string): Refusal => ({ kind: "refused", why, message })

/** Messages and attachments. A boundary is not part of what it bounds. */
const isPartOfIt = ({ type }: Message) => type === "user" || type === "assistant" || type === "attachment"

// What every summary should focus on, from instruction files, however the compaction was started.

const HEADING = /^(#{1,6})\s*compact instructions\s*#*\s*$/i

/** The text under a `Compact Instructions` heading. Several are joined. */
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
