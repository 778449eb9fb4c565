/**
 * When the summary in the making is written. With the planner, when a compaction is foreseeable; what came since it is then worth an update
 * once keeping that verbatim costs more. Without the planner, notes follow the figures, so that they are always there.
 */
import type { PlannerMode } from "../../base/vocabulary.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import { leadFor, paceOf, updateLead } from "../4-compaction/pace.ts"
import type { LayerContext } from "../layer.ts"
import { earlyFrom, mayPlan, preparesNow } from "../planner/compact-now.ts"
import { pricesOf } from "../planner/prices.ts"
import { tailAfter } from "../planner/tail.ts"
import { callsIn, lastTurn } from "../position.ts"
import type { Asked, Why } from "./draft.ts"
import { isTimeForNotes, type NotesFigures, type WorkSinceLast } from "./triggers.ts"

const GROWN = 1.1 // of the size at which it began to rest: then it is tried again
const RISK = 2 // times what an update costs: about half of them come before the end of the conversation, or before another update
const STAYS = 20 // requests that a kept message is sent with, until the compaction after that

/** What a request for the text costs besides the conversation, in tokens. */
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

export const notesFigures = ({ figures }: Flags): NotesFigures => ({
  first: figures["notes-first"],
  growth: figures["notes-growth"],
  toolCalls: figures["notes-tool-calls"],
})

/** The size of the context from which notes are written. */
export const firstNotesAt = ({ planner, first, early, autoCompact }: FirstNotes): number =>
  planner === "off" ? first : Math.max(first, earlyFrom(early, autoCompact))

export interface FirstNotes {
  readonly planner: PlannerMode
  /** The figures `notes-first` and `compact-early`. */
  readonly first: number
  readonly early: number
  readonly autoCompact: number
}

/** By the figures: the context has grown, and a stretch of work is over. */
export function dueByFigures(context: LayerContext, { draft }: Asked): Why | undefined {
  const { views, flags, size } = context
  const { throughUuid, contextTokens } = views.notes
  if (draft.state === "resting" && draft.since === Number.POSITIVE_INFINITY) return undefined
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
