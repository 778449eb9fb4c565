/**
 * The part of the `Store` port that gives one process the right to do something alone. Each time it is given, its number is larger: who has an
 * earlier number has lost it, and a store checks that in the write.
 */
import type { NamedHolder } from "../base/errors.ts"

/** What is done alone, such as a migration. */
export interface LeaseAddress {
  readonly project: string
  /** Letters, digits, `-` and `_`. */
  readonly name: string
}

export type LeaseAttempt =
  | { readonly state: "acquired"; readonly lease: Lease; readonly tookOver: boolean }
  | { readonly state: "held"; readonly by: LeaseHolder }

export interface Lease {
  readonly fence: number
  /** False once another process has it. A process that was paused, and that no one replaced, still has it. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** Who has a lease. */
export interface LeaseHolder extends NamedHolder {
  readonly fence?: number
}
