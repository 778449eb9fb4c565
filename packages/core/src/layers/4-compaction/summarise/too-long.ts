/**
 * For a request for a summary that is itself too long: drops the oldest rounds, as many as the error asks for, or a share where it names no
 * figure. An earlier summary is dropped last, because it covers more than any round. Pure: every call leaves fewer rounds than it got, or
 * says that nothing is left to drop.
 */
import type { Round } from "../../../messages/rounds.ts"
import { beginningWithUser, TRUNCATED, withoutMarkers } from "./markers.ts"

const USUAL_SHARE = 0.2

export interface DropOptions {
  /** By how many tokens the request was too long, where that is known. */
  readonly gap?: number | undefined
  /** Of the rounds, where it is not. Default a fifth. */
  readonly share?: number | undefined
  /** Tokens of a round, as it is sent. */
  readonly estimate: (round: Round) => number
}

export type Dropped =
  | { readonly kind: "dropped"; readonly rounds: readonly Round[]; readonly dropped: number }
  /** At most one round is left: without it there would be nothing to summarise. */
  | { readonly kind: "nothing-left" }

export function dropOldest(given: readonly Round[], options: DropOptions): Dropped {
  const rounds = withoutMarkers(given) // otherwise a retry might drop only the marker of the previous one
  if (rounds.length <= 1) return { kind: "nothing-left" }
  const droppable = rounds.slice(0, -1).sort((a, b) => Number(holdsSummary(a)) - Number(holdsSummary(b)))
  const gone = new Set(droppable.slice(0, howMany(droppable, { ...options, total: rounds.length })))
  const left = rounds.filter((round) => !gone.has(round))
  return { kind: "dropped", rounds: beginningWithUser(left, TRUNCATED), dropped: gone.size }
}

const holdsSummary = (round: Round) => round.some((message) => message.type === "user" && message.isCompactSummary)

function howMany(
  droppable: readonly Round[],
  { gap, share = USUAL_SHARE, estimate, total }: DropOptions & { total: number },
): number {
  if (gap === undefined || !(gap > 0)) return Math.max(1, Math.floor(total * share))
  let covered = 0
  let count = 0
  while (covered < gap && count < droppable.length) covered += estimate(droppable[count++]!)
  return count
}
