/**
 * The part of the `Store` port that bounds how many do something at once, over all processes. A seat belongs to the process that took it,
 * and is free again when that process gives it back or ends.
 */

/** Which seats. */
export interface SeatAddress {
  readonly project: string
  /** Letters, digits, `-` and `_`. */
  readonly name: string
}

/** Who wants a seat, and how many there are. */
export interface SeatRequest extends SeatAddress {
  /** Chosen by the caller, new for each seat: letters, digits, `-` and `_`. Who asks again with it, because an answer was lost, has the same seat. */
  readonly id: string
  /** How many may be taken at once. Callers may differ: each is refused where as many as it allows are taken. */
  readonly most: number
}

export type SeatAttempt =
  | { readonly state: "acquired"; readonly seat: Seat }
  /** `taken`: how many are. */
  | { readonly state: "full"; readonly taken: number }

export interface Seat {
  /** May be called again. */
  release(): Promise<void>
}
