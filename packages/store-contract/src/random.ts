/** Seeded random choices. */
import { hash } from "node:crypto"

export interface Random {
  /** An integer from 0 up to, but not including, `end`. */
  below(end: number): number
  pick<T>(from: readonly T[]): T
  /** True with this probability. */
  chance(share: number): boolean
}

/** The generator mulberry32: small, and good enough to choose operations. */
export function seededRandom(seed: string): Random {
  let state = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return { below, pick: (from) => from[below(from.length)]!, chance: (share) => next() < share }
}
