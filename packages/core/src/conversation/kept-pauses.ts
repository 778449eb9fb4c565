/**
 * The pauses of an owner's conversations as sums, in one small text of the store: a few numbers for each owner, and nothing that was said. A
 * text that cannot be read counts as empty: the planner then begins without a habit to go by.
 */
import { type Owner, placeFor } from "../base/owner.ts"
import { changedText } from "../journal/changed-text.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"

export const PAUSES = "pauses.json"
const VERSION = 1
const MOST = 1_000 // owners: those who were away longest go first

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
    const writing = changedText(files, PAUSES, (text) => withChanges(text, changes))
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
  return `${JSON.stringify({ version: VERSION, owners: Object.fromEntries([...all].slice(-MOST)) })}\n`
}

/** The name of an owner is not kept. */
const keyOf = (owner: Owner): string => placeFor("pauses", owner)

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
