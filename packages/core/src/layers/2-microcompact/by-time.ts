/**
 * Pauses. After a long one the server's cache is gone, so clearing costs nothing: all clearable results go but the newest few. The turns
 * since the last pause decide whose thinking the server keeps.
 */
import { isThinking } from "../../messages/blocks.ts"
import { contentOf } from "../../messages/messages.ts"
import type { Views } from "../../views/views.ts"
import { type MessageFold, SettledFold } from "../settled-fold.ts"
import type { Candidate } from "./survey.ts"

const MS_PER_MINUTE = 60_000

/** Minutes since the last response; 0 where there was none. */
export function idleMinutes(lastResponse: { readonly timestamp: string } | undefined, now: Date): number {
  return lastResponse ? (now.getTime() - Date.parse(lastResponse.timestamp)) / MS_PER_MINUTE : 0
}

/** Ids to clear, oldest first. A result that is smaller than the marker in its place stays. */
export function planByTime(results: readonly Candidate[], keep: number): readonly string[] {
  const old = results.slice(0, Math.max(0, results.length - Math.max(1, keep)))
  return old.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId)
}

interface Pauses {
  /** Turns with thinking since the last pause; `undefined` where there was none. */
  since: number | undefined
  last: { readonly timestamp: string; readonly id: string } | undefined
}

const pauses = (gapMinutes: number): MessageFold<Pauses> => ({
  start: () => ({ since: undefined, last: undefined }),
  mark: (state) => {
    const before = { ...state }
    return () => Object.assign(state, before)
  },
  take(state, message) {
    const response = message.type === "assistant" ? message : undefined
    const id = response && (response.message.id ?? response.uuid)
    const isPiece = id !== undefined && id === state.last?.id
    // responses count too: a message from before the pause may have been sent after it, by another process
    if (!isPiece && idleMinutes(state.last, new Date(message.timestamp)) > gapMinutes) state.since = 0
    if (!response || id === undefined) return
    if (state.since !== undefined && !isPiece && contentOf(response).some(isThinking)) state.since++
    state.last = { timestamp: message.timestamp, id }
  },
})

export interface PauseInput {
  readonly views: Views
  readonly now: Date
  /** A pause is longer than this. */
  readonly gapMinutes: number
}

const followed = new WeakMap<Views, { readonly gapMinutes: number; readonly fold: SettledFold<Pauses> }>()

/** How many turns with thinking came after the last pause; `undefined` where there was none. */
export function turnsSincePause({ views, now, gapMinutes }: PauseInput): number | undefined {
  const known = followed.get(views)
  const fold = known?.gapMinutes === gapMinutes ? known.fold : new SettledFold(pauses(gapMinutes))
  followed.set(views, { gapMinutes, fold })
  const { since, last } = fold.over(views.context)
  return idleMinutes(last, now) > gapMinutes ? 0 : since
}
