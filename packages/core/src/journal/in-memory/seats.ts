/** Seats of a store in memory: one process has all of them. */
import type { SeatAttempt, SeatRequest } from "../seat.ts"

/** `taken`: the ids of those that are. */
export function seatInMemory(taken: Set<string>, { id, most }: Pick<SeatRequest, "id" | "most">): SeatAttempt {
  if (!taken.has(id) && taken.size >= most) return { state: "full", taken: taken.size }
  taken.add(id)
  return { state: "acquired", seat: { release: async () => void taken.delete(id) } }
}
