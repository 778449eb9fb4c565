/** Removes what dreams keep about a memory that is erased: a change that waits for consent, the last state, and left copies. */
import { rm } from "node:fs/promises"
import type { Clock } from "../../base/clock.ts"
import { readConsolidationLock } from "./consolidate-lock.ts"
import { dreamPlaces } from "./dream-places.ts"
import { dropPending, readPending } from "./pending.ts"

/** False while a dream runs: it works on a copy that has the memory in it. */
export async function eraseDreamTraces(file: string, place: { directory: string; clock: Clock }): Promise<boolean> {
  const places = dreamPlaces(place.directory)
  if ((await readConsolidationLock(place)).heldBy !== undefined) return false
  const pending = await readPending(places)
  if (pending?.base.has(file) || pending?.puts.some((put) => put.text.includes(file))) await dropPending(places)
  await rm(places.status, { force: true }) // the turns in it may quote any memory
  await rm(places.copies, { recursive: true, force: true })
  return true
}
