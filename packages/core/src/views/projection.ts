/**
 * A projection of the journal: a fold that is fed entry by entry, so a turn costs what is new, not what is old.
 *
 * `apply` owns the state it is handed: it may change it in place and give it back, which a pure copy of a list of 20,000
 * could not afford. Nobody else keeps a reference to a state across `apply`. A state is plain data (and Maps), so that it can
 * be kept in a checkpoint.
 */
import type { Entry } from "../journal/entries.ts"

export interface Projection<S> {
  readonly name: string
  /** `path`: entries on the way to the newest message. `journal`: all of them, abandoned branches too. */
  readonly scope: "path" | "journal"
  start(): S
  /** `onPath`: whether the entry is on that way. Told to those that follow the whole journal. */
  apply(state: S, entry: Entry, onPath?: boolean): S
}

/** The fold over a list of entries. */
export function project<S>(projection: Projection<S>, entries: Iterable<Entry>): S {
  let state = projection.start()
  for (const entry of entries) state = projection.apply(state, entry)
  return state
}
