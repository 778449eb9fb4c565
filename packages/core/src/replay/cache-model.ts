/**
 * A model of the server's prompt cache. A prefix is a list of blocks; the first is the prompt (tools and system). A request writes
 * entries at three places: after the prompt, where the previous request ended, and at its own end. From each place the server looks back
 * over 20 blocks for a live entry. An entry lives five minutes from the start of the last request that wrote or read it.
 *
 * Blocks are compared by identity first. Settled blocks keep their object, so a request costs what changed.
 */
import type { TokenCounts } from "../base/token-counts.ts"
import type { Block } from "../messages/blocks.ts"

export const LOOK_BACK = 20 // blocks, including the one at the breakpoint
export const LIFE_MS = 5 * 60_000

/** One block as the server sees it. Without a block it is the prompt. */
export interface PromptItem {
  readonly block?: Block
  readonly tokens: number
  /** The server has cleared it from its copy. */
  readonly isCleared?: boolean
}

export interface CacheInput {
  /** The prompt first. */
  readonly items: readonly PromptItem[]
  /** How many of them the previous request sent. */
  readonly before: number
  /** Each model has its own entries. */
  readonly model: string
  /** Shorter prefixes are not cached. */
  readonly minimum: number
  /** When the request began, in milliseconds. `undefined` where no pause is known. */
  readonly now: number | undefined
}

/** The input of one request. */
export type CachedInput = Pick<TokenCounts, "input" | "cacheRead" | "cacheWrite5m">

interface Shelf {
  items: readonly PromptItem[]
  /** When the entry for so many items expires. */
  readonly entries: Map<number, number>
}

export class CacheModel {
  readonly #shelves = new Map<string, Shelf>()

  /** What the request reads and writes. The next request can read its entries. */
  send({ items, before, model, minimum, now }: CacheInput): CachedInput {
    const shelf = this.#shelfFor(model, items)
    const ends = cumulated(items)
    const places = [...new Set([1, before, items.length])].filter((place) => place > 0 && ends[place - 1]! >= minimum)
    const hit = nearestEntry(shelf.entries, places, now ?? 0)
    const expires = now === undefined ? Number.POSITIVE_INFINITY : now + LIFE_MS
    for (const place of hit === undefined ? places : [hit, ...places]) shelf.entries.set(place, expires)
    const read = hit === undefined ? 0 : ends[hit - 1]!
    const cached = Math.max(read, ...places.map((place) => ends[place - 1]!))
    return { cacheRead: read, cacheWrite5m: cached - read, input: Math.max(0, (ends.at(-1) ?? 0) - cached) }
  }

  /** The model's entries, without those for content that is no longer sent. */
  #shelfFor(model: string, items: readonly PromptItem[]): Shelf {
    const shelf = this.#shelves.get(model) ?? { items: [], entries: new Map<number, number>() }
    const same = commonLength(shelf.items, items)
    for (const place of shelf.entries.keys()) if (place > same) shelf.entries.delete(place)
    shelf.items = items
    this.#shelves.set(model, shelf)
    return shelf
  }
}

function nearestEntry(
  entries: ReadonlyMap<number, number>,
  places: readonly number[],
  now: number,
): number | undefined {
  for (const place of places.toSorted((a, b) => b - a)) {
    for (let at = place; at > Math.max(0, place - LOOK_BACK); at--) if ((entries.get(at) ?? 0) > now) return at
  }
  return undefined
}

function cumulated(items: readonly PromptItem[]): readonly number[] {
  let sum = 0
  return items.map(({ tokens }) => {
    sum += tokens
    return sum
  })
}

function commonLength(a: readonly PromptItem[], b: readonly PromptItem[]): number {
  const most = Math.min(a.length, b.length)
  for (let at = 0; at < most; at++) if (!isSame(a[at]!, b[at]!)) return at
  return most
}

function isSame(a: PromptItem, b: PromptItem): boolean {
  if (a === b) return true
  if (a.isCleared !== b.isCleared) return false
  return a.block === b.block || JSON.stringify(a.block) === JSON.stringify(b.block)
}
