/**
 * A projection of the journal: a fold that is fed entry by entry, so a turn costs what is new, not what is old.
 *
 * `apply` owns the state: it may change it in place and return it, because copying a long list for every entry would be too slow.
 * Do not keep a reference to a state across `apply`. A state is plain data and Maps, so that a checkpoint can hold it.
 */
import type { Entry } from "../journal/entries.ts"

export interface Projection<S> {
  readonly name: string
  /** `path`: entries on the path to the newest message. `journal`: all entries, abandoned branches too. */
  readonly scope: "path" | "journal"
  /** It follows what was sent. A compaction that was undone later was sent too, so its entries count. */
  readonly followsSent?: true
  /** Its `apply` is slow and its state is seldom read: entries wait until someone reads it. */
  readonly whenRead?: true
  start(): S
  /** `onPath`: whether the entry is on that path. Only projections of the whole journal need it. */
  apply(state: S, entry: Entry, onPath?: boolean): S
}

/** The fold over a list of entries. */
export function project<S>(projection: Projection<S>, entries: Iterable<Entry>): S {
  let state = projection.start()
  for (const entry of entries) state = projection.apply(state, entry)
  return state
}
