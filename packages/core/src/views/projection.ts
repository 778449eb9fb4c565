/**
 * A projection of the journal: a reducer that is fed entry by entry, so that the cost of a turn depends on new content only.
 *
 * `apply` owns the state: it may change it in place and return it, because copying a long list for every entry would be too slow. Do
 * not keep a reference to a state across `apply`. A state consists of plain data and Maps, so that a checkpoint can contain it.
 */
import type { Entry } from "../journal/entries.ts"

export interface Projection<S> {
  readonly name: string
  /** `path`: entries on the path to the newest message. `journal`: all entries, including abandoned branches. */
  readonly scope: "path" | "journal"
  /** Whether it tracks what was sent. A compaction that was undone later was sent too, so its entries count. */
  readonly followsSent?: true
  start(): S
  /** `onPath`: whether the entry is on that path. Only projections of the entire journal need it. */
  apply(state: S, entry: Entry, onPath?: boolean): S
}

/** Applies a projection to a list of entries. */
export function project<S>(projection: Projection<S>, entries: Iterable<Entry>): S {
  let state = projection.start()
  for (const entry of entries) state = projection.apply(state, entry)
  return state
}
