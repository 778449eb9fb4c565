/**
 * The part of the `Store` port that bounds how many do something at once, over all processes. A permit belongs to the process that took it,
 * and is free again when that process gives it back or ends.
 */
import type { NamedHolder } from "../base/errors.ts"

/** What is permitted. */
export interface PermitAddress {
  readonly project: string
  /** Letters, digits, `-` and `_`. */
  readonly name: string
}

/** The permit for consolidating the memories of a project. Stores keep with them when that was done last. */
export const CONSOLIDATE = "consolidate"

export interface Permit {
  state(): Promise<PermitState>
  take(wanted: PermitRequest): Promise<PermitAttempt>
}

export interface PermitState {
  /** How often it is taken now. */
  readonly taken: number
  /** When it was last given back with work done. Only of `CONSOLIDATE`. Absent: there was none, or the clock was wrong then. */
  readonly last?: Date
}

/** Who wants it, and how often it may be taken. */
export interface PermitRequest {
  /** Chosen by the caller, new for each: letters, digits, `-` and `_`. Who asks again with it, because an answer was lost, has the same one. */
  readonly id: string
  /** How often it may be taken at once. Callers may differ: each is refused where it is taken as often as it allows. */
  readonly max: number
}

export type PermitAttempt =
  | { readonly state: "acquired"; readonly permit: TakenPermit }
  /** `taken`: how often it is. `by`: one who has it, where the store can say. */
  | { readonly state: "full"; readonly taken: number; readonly by?: NamedHolder }

export interface TakenPermit {
  /** Larger each time the permit is given. */
  readonly fence: number
  /** As in the state, before this one. */
  readonly last?: Date
  /** May be called again. `done`: the work was done, at this time. Who has lost the permit changes nothing. */
  release(done?: Date): Promise<void>
}
