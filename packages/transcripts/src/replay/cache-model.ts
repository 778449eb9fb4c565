/**
 * A model of the server's prompt cache. A prefix is a list of blocks; the first are the prompt (tools and system). A request writes entries
 * after each part of the prompt, where the previous request ended, and at its own end. From each of these positions the server looks back
 * over 20 blocks for a live entry. An entry lives for its lifetime from the start of the last request that wrote or read it.
 * Blocks are compared by identity first. Unchanged blocks keep their object, so comparing costs only what changed.
 */
import type { Block, CacheLifetime, TokenCounts } from "@strata/core"

export const LOOK_BACK = 20 // blocks, including the one at the breakpoint
export const LIFE_MS = 5 * 60_000
export const LONG_LIFE_MS = 60 * 60_000
const AUTOMATIC_STEP = 128 // tokens; automatic caches count reads in steps of this size
// an observed size may be smaller than the modelled one by this share, because a prompt changes slightly between requests
const CLOSE = 0.02

/** One block as the server receives it. Without `block`, a part of the prompt. */
export interface PromptItem {
  readonly block?: Block
  readonly tokens: number
  /** Whether the server has cleared it from its copy. */
  readonly isCleared?: boolean
}

/**
 * `marked`: the client sets breakpoints and pays for writes. `automatic`: the provider caches every prefix and bills no writes. `none`:
 * nothing is cached.
 */
export type CachingMode = "marked" | "automatic" | "none"

/** A deviation of the cache from its rules before a request, according to the recorded usage. */
export type CacheIncident =
  /** Entries were lost: all of them, those after the prompt, or those with more tokens than `upTo`. */
  | { readonly kind: "lost"; readonly kept: "nothing" | "prompt" | "part"; readonly upTo: number }
  /** Entries were read after their lifetime. */
  | { readonly kind: "outlived" }
  /** The server had an entry of about `upTo` tokens that another conversation wrote. */
  | { readonly kind: "found"; readonly upTo: number }
  /** An unrecorded request had cached everything up to the last response. */
  | { readonly kind: "answer-cached" }

export interface CacheInput {
  /** The prompt comes first. */
  readonly items: readonly PromptItem[]
  /** Number of leading items that are parts of the prompt with a breakpoint after each. Default 1. */
  readonly promptParts?: number
  /** Number of leading items that the previous request sent. */
  readonly before: number
  /** Number of items up to the end of the last response. */
  readonly answered?: number
  /** Each model has its own entries. */
  readonly model: string
  /** Minimum tokens of a cached prefix. */
  readonly minimum: number
  /** Start of the request in milliseconds. `undefined` if pauses are unknown. */
  readonly now: number | undefined
  /** Default "5m". `prompt-1h`: an hour for the prompt, five minutes for the messages. */
  readonly lifetime?: CacheLifetime
  /** Default "marked". */
  readonly caching?: CachingMode
  /** `false` for a request that nothing follows. It reads the cache and sets no breakpoints. */
  readonly writes?: boolean
  readonly incident?: CacheIncident | undefined
}

/** Input tokens of one request. */
export type CachedInput = Omit<TokenCounts, "output">

/** When an entry expires, and by how much a read extends its life. */
interface CacheEntry {
  readonly expires: number
  readonly life: number
}

type Entries = ReadonlyMap<number, CacheEntry>

interface CachedPrefix {
  readonly items: readonly PromptItem[]
  /** Entries by the number of items they contain. */
  readonly entries: Entries
}

interface Lookup {
  readonly ends: readonly number[]
  readonly points: readonly number[]
  readonly entries: Entries
  readonly hit: number | undefined
}

const NO_PREFIX: CachedPrefix = { items: [], entries: new Map() }

export class CacheModel {
  readonly #prefixes = new Map<string, CachedPrefix>()

  /** Predicts the counts of a request without changing the cache. */
  expect(input: CacheInput): CachedInput {
    return countsOf(input, this.#lookUp(input))
  }

  /** Returns the counts of a request and updates the cache. */
  send(input: CacheInput): CachedInput {
    const lookup = this.#lookUp(input)
    const { model, items } = input
    const prefix = this.#prefixes.get(model) ?? NO_PREFIX
    const after =
      input.writes === false
        ? { items: prefix.items, entries: entriesLeft(input, prefix.entries, lookup) }
        : { items, entries: entriesAfter(input, lookup) }
    this.#prefixes.set(model, after)
    return countsOf(input, lookup)
  }

  #lookUp(input: CacheInput): Lookup {
    const { items, model, now = 0, incident } = input
    const cached = this.#prefixes.get(model) ?? NO_PREFIX
    const ends = cumulated(items)
    const points = cachePoints(input, ends)
    const same = commonLength(cached.items, items)
    const known = new Map([...cached.entries].filter(([place]) => place <= same))
    const found = (hit: number | undefined): Lookup => ({ ends, points, entries: known, hit })
    switch (incident?.kind) {
      case "found":
        return found(furthest(closestTo(ends, incident.upTo), nearestEntry(known, points, now)))
      case "answer-cached":
        return found(input.answered ?? nearestEntry(known, points, now))
      case "outlived":
        return found(nearestEntry(known, points, 0))
      case "lost": {
        const entries = remainingEntries(incident, known, { ends, parts: promptPartsOf(input) })
        return { ends, points, entries, hit: nearestEntry(entries, points, now) }
      }
      default:
        return found(nearestEntry(known, points, now))
    }
  }
}

const promptPartsOf = ({ promptParts = 1 }: CacheInput) => promptParts

/** Numbers of items after which this request caches. */
function cachePoints(input: CacheInput, ends: readonly number[]): readonly number[] {
  const { items, before, minimum, caching = "marked" } = input
  if (caching === "none") return []
  const parts = Array.from({ length: promptPartsOf(input) }, (_, i) => i + 1)
  const all = caching === "automatic" ? items.map((_, i) => i + 1) : [...new Set([...parts, before, items.length])]
  return all.filter((place) => place > 0 && place <= items.length && ends[place - 1]! >= minimum)
}

function entriesAfter(input: CacheInput, { points, entries, hit }: Lookup): Entries {
  const after = new Map(entries)
  if (hit !== undefined) after.set(hit, renewed(input, entries, hit))
  for (const place of points) after.set(place, written(input, entries, place))
  return after
}

/** The entries after a request that writes nothing: the entry that it read is extended, and entries lost before it stay lost. */
function entriesLeft(input: CacheInput, entriesBefore: Entries, { entries, hit }: Lookup): Entries {
  const after = new Map(input.incident?.kind === "lost" ? entries : entriesBefore)
  if (hit !== undefined && after.has(hit)) after.set(hit, renewed(input, entries, hit))
  return after
}

const renewed = (input: CacheInput, entries: Entries, hit: number): CacheEntry =>
  livesFor(input, entries.get(hit)?.life ?? lifeOf(input, hit))

/** Writes an entry, without shortening a longer life. */
function written(input: CacheInput, entries: Entries, place: number): CacheEntry {
  const known = entries.get(place)
  const isAlive = known !== undefined && known.expires > (input.now ?? 0)
  return livesFor(input, Math.max(isAlive ? known.life : 0, lifeOf(input, place)))
}

const livesFor = ({ now }: CacheInput, life: number): CacheEntry => ({
  life,
  expires: now === undefined ? Number.POSITIVE_INFINITY : now + life,
})

function lifeOf(input: CacheInput, place: number): number {
  const { lifetime = "5m" } = input
  const isLong = lifetime === "1h" || (lifetime === "prompt-1h" && place <= promptPartsOf(input))
  return isLong ? LONG_LIFE_MS : LIFE_MS
}

function countsOf(input: CacheInput, { ends, points, hit }: Lookup): CachedInput {
  const total = ends.at(-1) ?? 0
  const read = hit === undefined ? 0 : ends[hit - 1]!
  if (input.caching === "automatic") {
    const counted = read - (read % AUTOMATIC_STEP)
    return { cacheRead: counted, cacheWrite5m: 0, cacheWrite1h: 0, input: total - counted }
  }
  const cached = input.writes === false ? read : Math.max(read, ...points.map((place) => ends[place - 1]!))
  const { lifetime = "5m" } = input
  const promptEnd = ends[promptPartsOf(input) - 1] ?? 0
  const longUntil = { "5m": 0, "1h": cached, "prompt-1h": Math.min(promptEnd, cached) }[lifetime]
  const cacheWrite1h = Math.max(0, longUntil - read)
  return { cacheRead: read, cacheWrite5m: cached - read - cacheWrite1h, cacheWrite1h, input: total - cached }
}

interface Sizes {
  readonly ends: readonly number[]
  readonly parts: number
}

function remainingEntries(
  incident: CacheIncident & { kind: "lost" },
  entries: Entries,
  { ends, parts }: Sizes,
): Entries {
  if (incident.kept === "nothing") return new Map()
  const last = closestTo(ends, incident.upTo) ?? 0
  const limit = incident.kept === "prompt" ? Math.min(parts, last) : last
  return new Map([...entries].filter(([place]) => place <= limit))
}

/** The number of items whose size is closest to `tokens`. */
function closestTo(ends: readonly number[], tokens: number): number | undefined {
  const next = ends.findIndex((end) => end > tokens)
  const last = next < 0 ? ends.length : next
  const isNextClose = next >= 0 && ends[next]! - tokens <= Math.min(CLOSE * tokens, tokens - (ends[next - 1] ?? 0))
  const place = isNextClose ? next + 1 : last
  return place === 0 ? undefined : place
}

const furthest = (a: number | undefined, b: number | undefined) => (b === undefined || (a ?? 0) > b ? a : b)

function nearestEntry(entries: Entries, places: readonly number[], now: number): number | undefined {
  for (const place of places.toSorted((a, b) => b - a)) {
    for (let at = place; at > Math.max(0, place - LOOK_BACK); at--) if ((entries.get(at)?.expires ?? 0) > now) return at
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
  const max = Math.min(a.length, b.length)
  for (let at = 0; at < max; at++) if (!isSame(a[at]!, b[at]!)) return at
  return max
}

function isSame(a: PromptItem, b: PromptItem): boolean {
  if (a === b) return true
  if (a.isCleared !== b.isCleared) return false
  return a.block === b.block || JSON.stringify(a.block) === JSON.stringify(b.block)
}
