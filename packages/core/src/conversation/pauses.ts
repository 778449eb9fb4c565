/**
 * Totals of the pauses in each owner's conversations, in one small text of the store: a few numbers per owner, and no content. An
 * unreadable text counts as empty: the planner then starts without a known pattern.
 */
import { namespaceFor, type Owner } from "../base/owner.ts"
import { type MemoryFiles, updateText } from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"
import type { CacheHistory } from "../views/cache/cache-history.ts"
import {
  type EarlierPauses,
  NO_EARLIER_PAUSES,
  type PausePrior,
  type Pauses,
  pausesSince,
  withConversation,
} from "../views/cache/pauses.ts"
import type { ConversationOptions } from "./options.ts"

export const PAUSES = "pauses.json"
const VERSION = 1
const MAX_OWNERS = 1_000 // owners; those absent longest are removed first

/** Totals as plain data, interpreted by the caller. */
export type PauseTotals = object

export const pausesIn = (text: string | undefined, owner: Owner): PauseTotals | undefined => sumsIn(text)[keyOf(owner)]

interface TotalsChange {
  readonly key: string
  readonly apply: (sums: PauseTotals | undefined) => PauseTotals
}

interface WriteBatch {
  readonly changes: TotalsChange[]
  readonly written: Promise<void>
}

/** Storage of the text that all owners of a store share. */
export interface PauseFiles {
  readonly files: Pick<MemoryFiles, "directory" | "read" | "install">
  readonly store: Store
}

/** Changes for the next write, by directory or store. A server may close a thousand conversations at once. */
const next = new Map<string | Store, WriteBatch>()
/** Running writes, by directory or store. */
const writes = new Map<string | Store, Promise<void>>()

export function storePauses({ files, store }: PauseFiles, owner: Owner, apply: TotalsChange["apply"]): Promise<void> {
  const where = files.directory ?? store // namespaces alone do not distinguish two stores
  const waiting = next.get(where)
  const change = { key: keyOf(owner), apply }
  if (waiting) {
    waiting.changes.push(change)
    return waiting.written
  }
  const changes = [change]
  const written = (writes.get(where) ?? Promise.resolve()).then(() => {
    next.delete(where)
    const writing = updateText(files, PAUSES, (text) => withChanges(text, changes))
    const isOver = writing
      .catch(() => undefined) // reported to the callers that await it
      .finally(() => {
        if (writes.get(where) === isOver) writes.delete(where)
      })
    writes.set(where, isOver)
    return writing
  })
  next.set(where, { changes, written })
  return written
}

function withChanges(text: string | undefined, changes: readonly TotalsChange[]): string {
  const all = new Map(Object.entries(sumsIn(text)))
  for (const { key, apply } of changes) {
    const sums = apply(all.get(key))
    all.delete(key) // moves the owner to the end
    all.set(key, sums)
  }
  return `${JSON.stringify({ version: VERSION, owners: Object.fromEntries([...all].slice(-MAX_OWNERS)) })}\n`
}

/** Hashed key of an owner, whose name is not stored. */
const keyOf = (owner: Owner): string => namespaceFor("pauses", owner)

function sumsIn(text: string | undefined): Readonly<Record<string, PauseTotals>> {
  try {
    const found = JSON.parse(text ?? "") as { version?: unknown; owners?: unknown }
    if (found.version !== VERSION || typeof found.owners !== "object" || found.owners === null) return {}
    return Object.fromEntries(Object.entries(found.owners).filter(([, sums]) => isSums(sums)))
  } catch {
    return {}
  }
}

function isSums(value: unknown): value is PauseTotals {
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).every((each) => (typeof each === "object" ? isSums(each) : Number.isFinite(each)))
}

// The expected pauses before a conversation has had any, and storage for later conversations of the same owner.

export interface PausePattern {
  readonly prior: PausePrior
  /** Adds the pauses since the conversation was opened. If the store cannot be written, only this information is lost. */
  keep(pauses: Pauses): Promise<void>
}

export interface PausePatternOptions {
  /** Storage of all owners' pauses, and its current text. Without it, or without an owner, nothing is stored. */
  readonly storage?: (PauseFiles & { readonly text: string | undefined }) | undefined
  readonly owner?: Owner | undefined
  readonly requested?: PausePrior["asked"]
  readonly isProgram: boolean
  /** Pauses that the conversation had before it was opened. */
  readonly before: Pauses
}

export function createPausePattern({
  storage,
  owner,
  requested,
  isProgram,
  before,
}: PausePatternOptions): PausePattern {
  const earlier = storage && owner !== undefined ? asEarlier(pausesIn(storage.text, owner)) : undefined
  const { withinHour, beyondHour, grown } = before
  const start: EarlierPauses = { conversations: 0, withinHour, beyondHour, grown }
  return {
    prior: { asked: requested, isProgram, earlier },
    async keep(pauses) {
      const added = pausesSince(pauses, start)
      if (!storage || owner === undefined || isProgram || added.grown <= 0) return
      await storePauses(storage, owner, (sums) => ({
        ...withConversation(asEarlier(sums) ?? NO_EARLIER_PAUSES, added),
      })).catch(() => undefined)
    },
  }
}

function asEarlier(sums: PauseTotals | undefined): EarlierPauses | undefined {
  const { conversations, withinHour, beyondHour, grown } = (sums ?? {}) as Partial<EarlierPauses>
  const isSum = (each: EarlierPauses["withinHour"] | undefined) =>
    typeof each?.count === "number" && typeof each.tokens === "number"
  if (typeof conversations !== "number" || typeof grown !== "number") return undefined
  return isSum(withinHour) && isSum(beyondHour)
    ? { conversations, grown, withinHour: withinHour!, beyondHour: beyondHour! }
    : undefined
}

/**
 * Cache lifetime that the caller requests: by breakpoints in the options, now or when the conversation began, or by the requests of another
 * program from which it was imported.
 */
export function askedLifetime(
  { system, tools, messages }: Pick<ConversationOptions, "system" | "tools" | "messages">,
  { chosen, expected, begun, wroteForAnHour }: Pick<CacheHistory, "chosen" | "expected" | "begun" | "wroteForAnHour">,
): "5m" | "1h" | undefined {
  const lifetimes = [...breakpointLifetimes(system), ...breakpointLifetimes(tools), ...breakpointLifetimes(messages)]
  if (lifetimes.length > 0) return lifetimes.includes("1h") ? "1h" : "5m"
  const isBrought = begun ? begun.forAnHour : chosen === undefined && wroteForAnHour
  return expected === "asked" || isBrought ? "1h" : undefined
}

/** Lifetimes of breakpoints in blocks, tools and messages. Functions and other objects contain none. */
function breakpointLifetimes(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(breakpointLifetimes)
  if (typeof value !== "object" || value === null) return []
  const { cache_control: breakpoint, content, message } = value as Readonly<Record<string, unknown>>
  const own =
    typeof breakpoint === "object" && breakpoint !== null ? [(breakpoint as { ttl?: unknown }).ttl ?? "5m"] : []
  return [...own, ...breakpointLifetimes(content), ...breakpointLifetimes(message)]
}
