/**
 * The prompt cache, without HTTP: what a request reads and writes, given its prefix and the time.
 *
 * A prefix is a list of items: tools, then system blocks, then message blocks. An entry covers the whole prefix up to
 * one item, and only breakpoints write entries. From each breakpoint the cache looks back over at most 20 items for an
 * entry. Reading or rewriting an entry restarts its lifetime.
 *
 * There are two steps, because parallel requests miss. `lookUp` returns what a request would read and write. `commit`
 * makes the new entries readable; call it when the response begins.
 */
import { hash } from "node:crypto"
import type { Ttl } from "../wire.ts"

export const TTL_MS: Readonly<Record<Ttl, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 }

/** How many items the cache checks for each breakpoint, including the item with the breakpoint. */
export const LOOK_BACK = 20

/** How many entries are added between two sweeps of expired ones. */
const SWEEP_EVERY = 4096

/** Maximum number of entries. If the clock does not move, none expires, and the oldest are dropped instead. */
const MAX_ENTRIES = 200_000

export interface PrefixItem {
  /** Hash of the item's content without its breakpoint. */
  readonly hash: string
  readonly tokens: number
  /** Lifetime of the breakpoint on this item, if it has one. */
  readonly breakpoint?: Ttl
}

export interface CacheRequest {
  readonly items: readonly PrefixItem[]
  /** Workspace and model. Each scope has its own entries. */
  readonly scope: string
  /** The model's minimum, in tokens. Shorter prefixes are not cached. */
  readonly minimum: number
  /** When the request began, in milliseconds. */
  readonly now: number
}

/** What a request reads and writes, in tokens. The four counts add up to its input. */
export interface CacheOutcome {
  readonly read: number
  readonly write5m: number
  readonly write1h: number
  readonly uncached: number
  /** Index of the last item that was read from the cache; -1 for none. */
  readonly hitIndex: number
  /** Entries that `commit` writes or renews. */
  readonly entries: readonly { readonly key: string; readonly ttl: Ttl; readonly start: number }[]
}

interface Entry {
  readonly ttl: Ttl
  readonly expires: number
}

/** The prefix that ends with one item. */
interface Prefix {
  readonly index: number
  /** Covers all items up to this one. */
  readonly key: string
  readonly tokens: number
  readonly breakpoint: Ttl | undefined
}

export class PromptCache {
  private readonly entries = new Map<string, Entry>()
  private sweepAt = SWEEP_EVERY

  get size(): number {
    return this.entries.size
  }

  lookUp({ items, scope, minimum, now }: CacheRequest): CacheOutcome {
    const prefixes = cumulate(items, scope)
    const total = prefixes.at(-1)?.tokens ?? 0
    const marked = prefixes.filter(({ breakpoint, tokens }) => breakpoint && tokens >= minimum)
    const hit = this.findHit(marked, prefixes, now)

    const read = hit?.tokens ?? 0
    const endOf = (wanted: readonly Prefix[]) => Math.max(read, ...wanted.map(({ tokens }) => tokens))
    const endOf1h = endOf(marked.filter(({ breakpoint }) => breakpoint === "1h"))
    const endOfCached = endOf(marked)
    const renewed = hit ? [{ key: hit.key, ttl: this.entries.get(hit.key)?.ttl ?? "5m", start: now }] : []
    const written = marked.map(({ key, breakpoint = "5m" }) => ({ key, ttl: breakpoint, start: now }))
    return {
      read,
      write1h: endOf1h - read,
      write5m: endOfCached - endOf1h,
      uncached: total - endOfCached,
      hitIndex: hit?.index ?? -1,
      entries: [...renewed, ...written],
    }
  }

  /** Makes the entries of a request readable. Call it when the response begins; their lifetime began with the request. */
  commit({ entries }: CacheOutcome): void {
    for (const { key, ttl, start } of entries) {
      const known = this.entries.get(key)
      const outlives = known !== undefined && known.expires > start && TTL_MS[known.ttl] > TTL_MS[ttl]
      const lasting = outlives ? known.ttl : ttl
      this.entries.set(key, { ttl: lasting, expires: Math.max(known?.expires ?? 0, start + TTL_MS[lasting]) })
    }
    if (this.entries.size > this.sweepAt) this.sweep(entries[0]?.start ?? 0)
    while (this.entries.size > MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value as string)
  }

  /** Drops all entries before they expire, as a server may do. */
  clear(): void {
    this.entries.clear()
  }

  /** The longest prefix with a live entry that a breakpoint can look back to. */
  private findHit(marked: readonly Prefix[], prefixes: readonly Prefix[], now: number): Prefix | undefined {
    for (const { index } of marked.toReversed()) {
      const inSight = prefixes.slice(Math.max(0, index + 1 - LOOK_BACK), index + 1)
      const hit = inSight.findLast(({ key }) => (this.entries.get(key)?.expires ?? 0) > now)
      if (hit) return hit
    }
    return undefined
  }

  private sweep(now: number): void {
    for (const [key, { expires }] of this.entries) if (expires <= now) this.entries.delete(key)
    this.sweepAt = this.entries.size + SWEEP_EVERY
  }
}

function cumulate(items: readonly PrefixItem[], scope: string): readonly Prefix[] {
  let key = scope
  let tokens = 0
  return items.map((item, index) => {
    key = hash("sha256", `${key}\0${item.hash}`, "base64url")
    tokens += item.tokens
    return { index, key, tokens, breakpoint: item.breakpoint }
  })
}
