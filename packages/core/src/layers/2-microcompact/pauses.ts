/** How many turns with thinking came after the last long pause (L2-5), learnt message by message. */
import { isThinking } from "../../messages/blocks.ts"
import { contentOf } from "../../messages/messages.ts"
import type { Views } from "../../views/views.ts"
import { idleMinutes } from "./by-time.ts"
import { type MessageFold, SettledFold } from "./settled-fold.ts"

export interface Pauses {
  /** Turns with thinking since the last pause; `undefined` where there was none. */
  since: number | undefined
  last: { readonly timestamp: string; readonly id: string } | undefined
}

/** A pause is longer than this. */
export const pauses = (gapMinutes: number): MessageFold<Pauses> => ({
  start: () => ({ since: undefined, last: undefined }),
  copy: (state) => ({ ...state }),
  take(state, message) {
    const response = message.type === "assistant" ? message : undefined
    const id = response && (response.message.id ?? response.uuid)
    const isPiece = id !== undefined && id === state.last?.id
    // also before a response: what it answers may have been said before the pause, and sent behind it by another process
    if (!isPiece && idleMinutes(state.last, new Date(message.timestamp)) > gapMinutes) state.since = 0
    if (!response || id === undefined) return
    if (state.since !== undefined && !isPiece && contentOf(response).some(isThinking)) state.since++
    state.last = { timestamp: message.timestamp, id }
  },
})

export interface PauseQuestion {
  readonly views: Views
  readonly now: Date
  readonly gapMinutes: number
}

const followed = new WeakMap<Views, { readonly gapMinutes: number; readonly fold: SettledFold<Pauses> }>()

export function turnsSincePause({ views, now, gapMinutes }: PauseQuestion): number | undefined {
  const known = followed.get(views)
  const fold = known?.gapMinutes === gapMinutes ? known.fold : new SettledFold(pauses(gapMinutes))
  followed.set(views, { gapMinutes, fold })
  const { since, last } = fold.over(views.context)
  return idleMinutes(last, now) > gapMinutes ? 0 : since
}
