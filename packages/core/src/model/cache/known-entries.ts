/**
 * What the server's cache should hold of this conversation, by what was sent and what the API counted. It follows the server's rules:
 * entries end at breakpoints, live 5 minutes or an hour from the start of the request that wrote or read them, and are found up to 20
 * items back from each breakpoint. Bounded: the oldest are forgotten.
 */
import type { PromptPrefix } from "./prefix.ts"

/** How long an entry lives in the server's cache. */
export type Lifetime = "5m" | "1h"

export const LIFETIME_MS: Readonly<Record<Lifetime, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 }

/** How many items the server looks at from a breakpoint, the marked one included. */
export const LOOK_BACK = 20

const MOST_ENTRIES = 64 // a live conversation writes two for each request, and most live five minutes

export interface KnownEntry {
  /** Tokens of everything up to its end. */
  readonly tokens: number
  /** Counted by the API; otherwise estimated. */
  readonly counted: boolean
  readonly lifetime: Lifetime
  readonly expires: number
}

export interface Found extends KnownEntry {
  /** Which item of the prefix it ends with. */
  readonly item: number
  readonly key: string
}

export class KnownEntries {
  readonly #entries = new Map<string, KnownEntry>()

  get(key: string): KnownEntry | undefined {
    return this.#entries.get(key)
  }

  /** The longest entry that the server finds. Without a time: also those that have expired. */
  find({ keys, breakpoints }: PromptPrefix, now = Number.NEGATIVE_INFINITY): Found | undefined {
    for (const breakpoint of breakpoints.toReversed()) {
      const last = Math.max(0, breakpoint + 1 - LOOK_BACK)
      for (let item = breakpoint; item >= last; item--) {
        const entry = this.#entries.get(keys[item]!)
        if (entry && entry.expires > now) return { ...entry, item, key: keys[item]! }
      }
    }
    return undefined
  }

  /** Written or read by a request that began at `start`. A longer life is never shortened. */
  keep(key: string, entry: Omit<KnownEntry, "expires"> & { readonly start: number }): void {
    const { start, tokens, counted } = entry
    const known = this.#entries.get(key)
    const outlives =
      known !== undefined && known.expires > start && LIFETIME_MS[known.lifetime] > LIFETIME_MS[entry.lifetime]
    const lifetime = outlives ? known.lifetime : entry.lifetime
    const expires = Math.max(known?.expires ?? 0, start + LIFETIME_MS[lifetime])
    this.#entries.delete(key) // so that it comes after those that were not used
    this.#entries.set(key, { tokens, counted, lifetime, expires })
    if (this.#entries.size > MOST_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!)
  }

  /** The server read less than expected: longer entries are gone. */
  dropLongerThan(tokens: number): void {
    for (const [key, entry] of this.#entries) if (entry.tokens > tokens) this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
