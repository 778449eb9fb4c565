/**
 * Ids and chance, both from one seed: the same requests in the same order get the same ids and the same answers.
 */
import { createHash } from "node:crypto"

const ID_LENGTH = 22 // characters after the prefix, as in the API's own ids

export interface Identity {
  /** A new id such as `msg_01…`; each prefix counts for itself. */
  next(prefix: "msg" | "req" | "toolu"): string
  /** In [0, 1). */
  random(): number
}

export function createIdentity(seed: number): Identity {
  const counters = new Map<string, number>()
  return {
    next(prefix) {
      const count = (counters.get(prefix) ?? 0) + 1
      counters.set(prefix, count)
      const digest = createHash("sha256").update(`${seed}:${prefix}:${count}`).digest("base64url")
      return `${prefix}_01${digest.replace(/[-_]/g, "x").slice(0, ID_LENGTH)}`
    },
    random: seededRandom(seed),
  }
}

/** The small generator known as mulberry32: 32 bits of state, good enough to choose with. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
