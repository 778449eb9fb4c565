/** Whether an update of the notes is due: often where a compaction is near, because they replace its summary, and seldom where it is far. */

import type { PlannerMode } from "../../base/vocabulary.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import type { LayerContext } from "../layer.ts"
import { compactsSoon, costsMoney } from "../planner/compact-now.ts"
import { outlookOf } from "../planner/outlook.ts"
import { callsIn, lastTurn } from "../position.ts"
import { isTimeForNotes, type NotesFigures, type WorkSinceLast } from "./triggers.ts"

export interface NotesBudget extends NotesFigures {
  /** Percent of the conversation's spend. At 100 there is no limit. */
  readonly share: number
}

const NOTES_SHARE = 8 // percent: they are part of compaction, and what they cost is saved where they replace a summary
const FAR_GROWTH = 4 // times the usual growth, while a compaction is far
const NEAR = 0.9 // of the threshold: an update costs half as much as a summary, so few of them pay
const NEAR_GROWTH = 2 // times the usual growth near the threshold: what came since is kept word for word
const NEAR_TURNS = 10 // until the planner compacts: an update takes a few of them

export const notesBudget = ({ figures }: Flags): NotesBudget => ({
  first: figures["notes-first"],
  growth: figures["notes-growth"],
  toolCalls: figures["notes-tool-calls"],
  share: Math.max(NOTES_SHARE, figures["background-share"]),
})

interface SinceLast {
  readonly figures: NotesBudget
  /** The size of the context at the last update, and how far that went. */
  readonly last: { readonly size: number | undefined; readonly throughUuid: Uuid | undefined }
}

export function areNotesDue(context: LayerContext, { figures, last }: SinceLast): boolean {
  // far from a compaction, notes would be written again before anyone reads them, and most conversations end before that
  const isFar = figures.share < 100 && !isCompactionNear(context)
  const isBalanced = context.flags.planner === "balanced"
  if (isFar && last.size === undefined && isBalanced) return false
  const times = isFar ? FAR_GROWTH : isBalanced ? NEAR_GROWTH : 1
  const work = (most: number) => workSince(context.views.context.rawMessages, last.throughUuid, most)
  return isTimeForNotes({
    size: context.size.tokens,
    sizeAtLast: last.size,
    figures: { ...figures, growth: times * figures.growth },
    work,
  })
}

/** The size of the context at which the first notes are written. */
export function firstNotesAt({ planner, first, autoCompact }: FirstNotes): number {
  return planner === "balanced" ? Math.max(first, NEAR * autoCompact) : first
}

export interface FirstNotes {
  readonly planner: PlannerMode
  /** The figure `notes-first`. */
  readonly first: number
  readonly autoCompact: number
}

/** Notes must be fresh by then: they replace the summary, and no one waits for it. */
function isCompactionNear(context: LayerContext): boolean {
  const { fill, thresholds, flags } = context
  if (fill.used >= NEAR * thresholds.autoCompact) return true
  // otherwise a summary is prepared where a pause or a new request needs one
  return flags.planner === "economy" && costsMoney(context) && compactsSoon(outlookOf(context), NEAR_TURNS)
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
