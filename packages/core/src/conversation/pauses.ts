/**
 * The pauses of an owner's conversations as sums, in one small text of the store: a few numbers for each owner, and nothing that was said. A
 * text that cannot be read counts as empty: the planner then begins without a habit to go by.
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
const MAX = 1_000 // owners: those who were away longest go first

/** Plain sums. What they mean is known where they are used. */
export type KeptSums = object

export const pausesIn = (text: string | undefined, owner: Owner): KeptSums | undefined => sumsIn(text)[keyOf(owner)]

interface Change {
  readonly key: string
  readonly apply: (sums: KeptSums | undefined) => KeptSums
}

interface Batch {
  readonly changes: Change[]
  readonly written: Promise<void>
}

/** The text that all owners of a store share. */
export interface SharedFiles {
  readonly files: Pick<MemoryFiles, "directory" | "read" | "install">
  readonly store: Store
}

/** By directory or store: what the next write takes along. A server closes a thousand conversations at once. */
const next = new Map<string | Store, Batch>()
/** By directory or store: the write under way. */
const writes = new Map<string | Store, Promise<void>>()

export function keepPauses({ files, store }: SharedFiles, owner: Owner, apply: Change["apply"]): Promise<void> {
  const where = files.directory ?? store // what a store calls its places does not tell two stores apart
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
      .catch(() => undefined) // those who wait for it get the error
      .finally(() => {
        if (writes.get(where) === isOver) writes.delete(where)
      })
    writes.set(where, isOver)
    return writing
  })
  next.set(where, { changes, written })
  return written
}

function withChanges(text: string | undefined, changes: readonly Change[]): string {
  const all = new Map(Object.entries(sumsIn(text)))
  for (const { key, apply } of changes) {
    const sums = apply(all.get(key))
    all.delete(key) // the last to come is the last in the text
    all.set(key, sums)
  }
  return `${JSON.stringify({ version: VERSION, owners: Object.fromEntries([...all].slice(-MAX)) })}\n`
}

/** The name of an owner is not kept. */
const keyOf = (owner: Owner): string => namespaceFor("pauses", owner)

function sumsIn(text: string | undefined): Readonly<Record<string, KeptSums>> {
  try {
    const found = JSON.parse(text ?? "") as { version?: unknown; owners?: unknown }
    if (found.version !== VERSION || typeof found.owners !== "object" || found.owners === null) return {}
    return Object.fromEntries(Object.entries(found.owners).filter(([, sums]) => isSums(sums)))
  } catch {
    return {}
  }
}

function isSums(value: unknown): value is KeptSums {
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).every((each) => (typeof each === "object" ? isSums(each) : Number.isFinite(each)))
}

// What is known about someone's pauses before a conversation has had any, and how it is kept for later conversations of the same owner.

export interface Habits {
  readonly prior: PausePrior
  /** Adds the pauses since the conversation was opened. A store that cannot be written costs only what would have been learnt. */
  keep(pauses: Pauses): Promise<void>
}

export interface HabitsOptions {
  /** Where the pauses of all owners are kept, and what is there. Without it, or an owner, nothing is kept for later. */
  readonly kept?: (SharedFiles & { readonly text: string | undefined }) | undefined
  readonly owner?: Owner | undefined
  readonly asked?: PausePrior["asked"]
  readonly isProgram: boolean
  /** The pauses that the conversation has had already. */
  readonly before: Pauses
}

export function habitsOf({ kept, owner, asked, isProgram, before }: HabitsOptions): Habits {
  const earlier = kept && owner !== undefined ? asEarlier(pausesIn(kept.text, owner)) : undefined
  const { withinHour, beyondHour, grown } = before
  const start: EarlierPauses = { conversations: 0, withinHour, beyondHour, grown }
  return {
    prior: { asked, isProgram, earlier },
    async keep(pauses) {
      const added = pausesSince(pauses, start)
      if (!kept || owner === undefined || isProgram || added.grown <= 0) return
      await keepPauses(kept, owner, (sums) => ({
        ...withConversation(asEarlier(sums) ?? NO_EARLIER_PAUSES, added),
      })).catch(() => undefined)
    },
  }
}

function asEarlier(sums: KeptSums | undefined): EarlierPauses | undefined {
  const { conversations, withinHour, beyondHour, grown } = (sums ?? {}) as Partial<EarlierPauses>
  const isSum = (each: EarlierPauses["withinHour"] | undefined) =>
    typeof each?.count === "number" && typeof each.tokens === "number"
  if (typeof conversations !== "number" || typeof grown !== "number") return undefined
  return isSum(withinHour) && isSum(beyondHour)
    ? { conversations, grown, withinHour: withinHour!, beyondHour: beyondHour! }
    : undefined
}

/**
 * How long the caller asks the server to keep what it caches: by breakpoints in the options, now or when the conversation began, or by what
 * the requests of another program wrote, where the conversation comes from one.
 */
export function askedLifetime(
  { system, tools, messages }: Pick<ConversationOptions, "system" | "tools" | "messages">,
  { chosen, expected, begun, wroteForAnHour }: Pick<CacheHistory, "chosen" | "expected" | "begun" | "wroteForAnHour">,
): "5m" | "1h" | undefined {
  const marks = [...marksIn(system), ...marksIn(tools), ...marksIn(messages)]
  if (marks.length > 0) return marks.includes("1h") ? "1h" : "5m"
  const isBrought = begun ? begun.forAnHour : chosen === undefined && wroteForAnHour
  return expected === "asked" || isBrought ? "1h" : undefined
}

/** In blocks, tools and messages. Functions and other objects have none. */
function marksIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (typeof value !== "object" || value === null) return []
  const { cache_control: mark, content, message } = value as Readonly<Record<string, unknown>>
  const own = typeof mark === "object" && mark !== null ? [(mark as { ttl?: unknown }).ttl ?? "5m"] : []
  return [...own, ...marksIn(content), ...marksIn(message)]
}
