/** Ids and random numbers from a seed: the same requests in the same order get the same ids. */
import { hash } from "node:crypto"
import { SIMULATED_MARK } from "@strata/core/base"

const ID_LENGTH = 19 // characters after the prefix; with the simulator's infix, ids are as long as the API's own

export interface Identity {
  /** A new id such as `msg_01…`. Each prefix has its own counter. */
  next(prefix: "msg" | "req" | "msgbatch" | "file"): string
}

export function createIdentity(seed: number): Identity {
  const counters = new Map<string, number>()
  return {
    next(prefix) {
      const count = (counters.get(prefix) ?? 0) + 1
      counters.set(prefix, count)
      return idFrom(prefix, `${seed}:${prefix}:${count}`)
    },
  }
}

/**
 * An id that looks like the API's own, with an infix that identifies the simulator, so that no simulated response is counted as spent. The
 * same origin gives the same id.
 */
export function idFrom(prefix: "msg" | "req" | "msgbatch" | "file" | "toolu", origin: string): string {
  const digest = hash("sha256", origin, "base64url")
  return `${prefix}_01${SIMULATED_MARK}${digest.replace(/[-_]/g, "x").slice(0, ID_LENGTH)}`
}

/** The generator known as mulberry32: 32 bits of state, enough for choices in tests. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
