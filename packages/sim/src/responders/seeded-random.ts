/** Repeatable random choices, from a responder's own seed and the simulator's random number of this turn. */

import { hashText } from "@strata/core/offline"
import { seededRandom } from "../identity.ts"
import type { ResponderTurn } from "../responder.ts"

export interface SeededRandom {
  /** A number in [0, 1). */
  next(): number
  chance(probability: number): boolean
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T | undefined
  /** Up to `count` different members, in the order drawn. */
  draw<T>(list: readonly T[], count: number): T[]
}

export type Seed = number | string

export function createRandom(seed: Seed, turn: Pick<ResponderTurn, "random">): SeededRandom {
  const next = seededRandom(hashText(`${seed}`) ^ Math.floor(turn.random() * 2 ** 32))
  const between = (low: number, high: number) => low + Math.floor(next() * (Math.max(low, high) - low + 1))
  return {
    next,
    chance: (probability) => next() < probability,
    between,
    pick: (list) => list[between(0, list.length - 1)],
    draw(list, count) {
      const left = [...list]
      const drawn = []
      while (drawn.length < count && left.length > 0) drawn.push(...left.splice(between(0, left.length - 1), 1))
      return drawn
    },
  }
}
