/**
 * The pauses of an owner's conversations as sums, in one small file under the root: a few numbers for each owner, and no text. A file that
 * cannot be read counts as empty: the planner then begins without a habit to go by. Each write replaces the file in one step.
 */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Owner, placeFor } from "../../base/owner.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const VERSION = 1
const MOST = 1_000 // owners: those who were away longest go first

/** Plain sums. What they mean is known where they are used. */
export type KeptSums = object

export const pausesFile = (root: string): string => join(root, "pauses.json")

export async function readPauses(root: string, owner: Owner): Promise<KeptSums | undefined> {
  return (await readAll(root))[keyOf(owner)]
}

interface Change {
  readonly key: string
  readonly apply: (sums: KeptSums | undefined) => KeptSums
}

interface Batch {
  readonly changes: Change[]
  readonly written: Promise<void>
}

/** By root: what the next write takes along. A server closes a thousand conversations at once. */
const next = new Map<string, Batch>()
/** By root: the write under way. */
const writes = new Map<string, Promise<void>>()

export function keepPauses(root: string, owner: Owner, apply: Change["apply"]): Promise<void> {
  const waiting = next.get(root)
  const change = { key: keyOf(owner), apply }
  if (waiting) {
    waiting.changes.push(change)
    return waiting.written
  }
  const changes = [change]
  const written = (writes.get(root) ?? Promise.resolve()).then(() => {
    next.delete(root)
    const writing = write(root, changes)
    const isOver = writing
      .catch(() => undefined) // those who wait for it get the error
      .finally(() => {
        if (writes.get(root) === isOver) writes.delete(root)
      })
    writes.set(root, isOver)
    return writing
  })
  next.set(root, { changes, written })
  return written
}

async function write(root: string, changes: readonly Change[]): Promise<void> {
  const all = new Map(Object.entries(await readAll(root)))
  for (const { key, apply } of changes) {
    const sums = apply(all.get(key))
    all.delete(key) // the last to come is the last in the file
    all.set(key, sums)
  }
  const owners = Object.fromEntries([...all].slice(-MOST))
  const draft = `${pausesFile(root)}.${randomUUID()}.draft`
  await mkdir(root, { recursive: true, mode: DIRECTORY_MODE })
  try {
    await writeFile(draft, `${JSON.stringify({ version: VERSION, owners })}\n`, { flag: "wx", mode: FILE_MODE })
    await rename(draft, pausesFile(root))
  } finally {
    await rm(draft, { force: true })
  }
}

/** The name of an owner is not kept. */
const keyOf = (owner: Owner): string => placeFor("pauses", owner)

async function readAll(root: string): Promise<Readonly<Record<string, KeptSums>>> {
  try {
    const found = JSON.parse(await readFile(pausesFile(root), "utf8")) as { version?: unknown; owners?: unknown }
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
