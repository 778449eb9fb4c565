/**
 * The part of the `Store` port that limits concurrency across processes. A permit belongs to the process that took it, and is free again
 * when that process releases it or ends.
 */
import type { NamedHolder } from "../base/errors.ts"

/** Identifies what is permitted. */
export interface PermitAddress {
  readonly project: string
  /** Letters, digits, `-` and `_`. */
  readonly name: string
}

/** The permit for consolidating the memories of a project. Stores also record when that was last done. */
export const CONSOLIDATE = "consolidate"

export interface Permit {
  state(): Promise<PermitState>
  take(wanted: PermitRequest): Promise<PermitAttempt>
}

export interface PermitState {
  /** How many permits are taken now. */
  readonly taken: number
  /** When the work was last done. Only for `CONSOLIDATE`. Absent if never, or if the clock was wrong then. */
  readonly last?: Date
}

/** A request for a permit. */
export interface PermitRequest {
  /**
   * Chosen by the caller and new for each permit: letters, digits, `-` and `_`. A repeated request after a lost response gets the same
   * permit.
   */
  readonly id: string
  /** Maximum number of permits. Callers may use different limits: each is refused if that many are taken. */
  readonly max: number
}

export type PermitAttempt =
  | { readonly state: "acquired"; readonly permit: TakenPermit }
  /** `taken` is the number of permits taken. `by` is one holder, if the store knows it. */
  | { readonly state: "full"; readonly taken: number; readonly by?: NamedHolder }

export interface TakenPermit {
  /** A fencing number, larger for each permit given. */
  readonly fence: number
  /** When the work was last done, before this permit. */
  readonly last?: Date
  /** Can be called more than once. `done` is when the work was finished. Has no effect if the permit was lost. */
  release(done?: Date): Promise<void>
}
