/**
 * When the summary in the making is written. With the planner, when a compaction is foreseeable; what came since it is then worth an update
 * once keeping that verbatim costs more. Without the planner, notes follow the figures, so that they are always there.
 */
import type { Message, Uuid } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import type { ContextView } from "../../views/context/context.ts"
import type { LayerContext } from "../layer.ts"
import { mayPlan, preparesNow } from "../planner/compact-now.ts"
import { pricesOf } from "../planner/prices.ts"
import { tailAfter } from "../planner/tail.ts"
import { callsIn, lastTurn } from "../position.ts"
import type { Asked, Why } from "./draft.ts"

const GROWN = 1.1 // of the size at which it began to rest: then it is tried again
const RISK = 2 // times what an update costs: about half of them come before the end of the conversation, or before another update
const STAYS = 20 // requests that a kept message is sent with, until the compaction after that

/** Tokens of a request for the text that are not the conversation. */
export interface Writing {
  readonly prompt: number
  readonly answer: number
}

/** Where the planner decides. `again`: what an update is. */
export function dueForCompaction(context: LayerContext, asked: Asked, again: Writing): Why | undefined {
  const { draft } = asked
  if (draft.state === "resting" && context.size.tokens < draft.since * GROWN) return undefined
  const text = draft.state === "none" ? undefined : draft.text
  if (!isForeseeable(context, asked, text !== undefined)) return undefined
  if (!text) return "near"
  if (text.unfit > 0) return "unfit"
  return isWorthUpdating(context, text.through, again) ? "grown" : undefined
}

/** Whether the window will be full soon, or the planner compacts soon. Where there is a text, later: an update is all that is needed. */
function isForeseeable(context: LayerContext, { moment, seconds }: Asked, hasText: boolean): boolean {
  const { fill, thresholds, views } = context
  if (!mayPlan(context)) return false
  const pace = paceOf(views.context)
  const lead = hasText ? updateLead(pace, seconds) : leadFor(pace, { seconds, autoCompact: thresholds.autoCompact })
  if (fill.used >= thresholds.autoCompact - lead) return true
  return preparesNow(context, { moment, turns: seconds / pace.secondsPerTurn })
}

/** Whether keeping verbatim what came since costs more than reading it into the text: it is written once, and read with later requests. */
function isWorthUpdating(context: LayerContext, through: Uuid, { prompt, answer }: Writing): boolean {
  const { read, write, output } = pricesOf(context)
  const { kept = 0 } = tailAfter(context, through) ?? {}
  return kept * (write + STAYS * read) > RISK * (read * context.size.tokens + prompt + output * answer)
}

const notesFigures = ({ figures }: Flags): NotesFigures => ({
  first: figures["notes-first"],
  growth: figures["notes-growth"],
  toolCalls: figures["notes-tool-calls"],
})

/** By the figures: the context must have grown, and a stretch of work must be over. */
export function dueByFigures(context: LayerContext, { draft }: Asked): Why | undefined {
  const { views, flags, size } = context
  const { throughUuid, contextTokens } = views.notes
  const tried = draft.state === "resting" ? draft.since : undefined
  const isDue = isTimeForNotes({
    size: size.tokens,
    sizeAtLast: tried === undefined ? contextTokens : Math.max(tried, contextTokens ?? 0),
    figures: notesFigures(flags),
    work: (most) => workSince(views.context.rawMessages, throughUuid, most),
  })
  return isDue ? (contextTokens === undefined ? "near" : "grown") : undefined
}

/**
 * What has been done since notes were last taken: since the last update, or from the beginning where that message is gone. Calls are counted
 * up to `most`, from the end: after every response, only what is new is read.
 */
export function workSince(
  messages: readonly Message[],
  throughUuid: Uuid | undefined,
  most = Number.POSITIVE_INFINITY,
): WorkSinceLast {
  let toolCalls = 0
  for (let at = messages.length - 1; at >= 0 && toolCalls < most; at--) {
    const message = messages[at]!
    if (message.uuid === throughUuid) break
    if (message.type === "assistant") toolCalls += callsIn(message).length
  }
  return { toolCalls, isCalling: lastTurn(messages).pieces.some((piece) => callsIn(piece).length > 0) }
}

export interface NotesMoment {
  /** Tokens in the context now. */
  readonly size: number
  /** Tokens at the last update, or at the smallest size since; absent before the first. */
  readonly sizeAtLast: number | undefined
  readonly figures: NotesFigures
  /** Called only once the context has grown, because it walks over the messages. `most`: more calls than these need not be counted. */
  readonly work: (most: number) => WorkSinceLast
}

export interface NotesFigures {
  readonly first: number
  readonly growth: number
  readonly toolCalls: number
}

export interface WorkSinceLast {
  readonly toolCalls: number
  /** Whether the last assistant turn called tools. */
  readonly isCalling: boolean
}

export function isTimeForNotes({ size, sizeAtLast, figures, work }: NotesMoment): boolean {
  if (sizeAtLast === undefined) return size >= figures.first
  if (size - sizeAtLast < figures.growth) return false
  const { toolCalls, isCalling } = work(figures.toolCalls)
  return toolCalls >= figures.toolCalls || !isCalling
}

/** How fast a conversation grows while it is worked on, so that notes can be begun in time. */
interface Pace {
  readonly tokensPerSecond: number
  readonly secondsPerTurn: number
  /** Tokens of the largest of the latest steps. */
  readonly largestStep: number
}

const RECENT = 11 // responses: the growth of the last ten turns
const MAX_TURN_SECONDS = 60 // a longer gap is a pause of the person, and the work after it is as fast as before
const USUAL_TURN = 10 // seconds, where no two responses have been seen

function paceOf(context: Pick<ContextView, "recentResponses">): Pace {
  return paceIn(
    context
      .recentResponses(RECENT)
      .map(({ timestamp, message }) => ({ at: Date.parse(timestamp) / 1_000, tokens: usageTotal(message.usage!) }))
      .toReversed(),
  )
}

/** Sizes of the context, oldest first. `at`: in seconds. */
export function paceIn(sizes: readonly { readonly at: number; readonly tokens: number }[]): Pace {
  const responses = sizes.slice(-RECENT)
  const steps = responses.slice(1).map(({ at, tokens }, i) => ({
    seconds: Math.min(MAX_TURN_SECONDS, Math.max(0, at - responses[i]!.at)),
    tokens: Math.max(0, tokens - responses[i]!.tokens),
  }))
  const seconds = sum(steps.map((step) => step.seconds))
  const secondsPerTurn = seconds > 0 ? seconds / steps.length : USUAL_TURN
  const tokensPerTurn = steps.length > 0 ? sum(steps.map((step) => step.tokens)) / steps.length : 0
  return {
    secondsPerTurn,
    tokensPerSecond: tokensPerTurn / secondsPerTurn,
    largestStep: Math.max(0, ...steps.map((step) => step.tokens)),
  }
}

const MIN_LEAD = 0.1 // of the threshold: a single step can be large
const MAX_LEAD = 0.35 // of it: earlier, the conversation often ends before the threshold, and too much comes after the summary
const STEPS_OF_CAUTION = 1 // the largest of the latest ones: work comes in bursts (`npm run ahead-of-time`)

interface Lead {
  readonly autoCompact: number
  /** That a summary takes. */
  readonly seconds: number
}

/** Tokens before the threshold at which a summary begins. */
export const leadFor = (pace: Pace, { autoCompact, seconds }: Lead): number =>
  Math.min(autoCompact * MAX_LEAD, autoCompact * MIN_LEAD + updateLead(pace, seconds))

/** The same for an update: a text is there already, so only what the update itself needs. */
const updateLead = (pace: Pace, seconds: number): number =>
  pace.tokensPerSecond * seconds + STEPS_OF_CAUTION * pace.largestStep

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
