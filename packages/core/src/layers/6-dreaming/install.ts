/**
 * Installs the change of a dream: completely or not at all, preserving edits made meanwhile in other files or lines. Or stores it until the
 * user consents, with the texts it is based on, so that it can be installed days later.
 */

import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { createPatch, MemoryConflictError } from "../../memory/changes/merge.ts"
import { INDEX_FILE } from "../../memory/file-names.ts"
import type { Memory, MemoryChange, MemorySource, MemoryText } from "../../memory/memory.ts"
import { DREAM_FILES, type DreamContext, readJson, removeStateFiles, writeStateFile } from "./state-files.ts"
import { clearWorkingDirectories } from "./working-directory.ts"

interface DreamProposal {
  readonly why: string
  readonly puts: readonly MemoryText[]
  readonly removals: readonly string[]
  /** The texts that the change is based on; `null` if a file did not exist. */
  readonly base: ReadonlyMap<string, string | null>
}

/** Result of installing a change that a dream proposed. */
export type InstalledDream =
  | { readonly state: "installed"; readonly change: MemoryChange }
  /** The memory already has these texts. */
  | { readonly state: "nothing" }
  /** Someone changed the same lines of these files. */
  | { readonly state: "conflict"; readonly files: readonly string[] }

export async function installDream(bank: MemoryBank, proposal: DreamProposal): Promise<InstalledDream> {
  const { why, puts, removals, base } = proposal
  try {
    const change = await bank.change({ by: "dream", why, puts, removals, base })
    return change ? { state: "installed", change } : { state: "nothing" }
  } catch (error) {
    if (!(error instanceof MemoryConflictError)) throw error
    const isIndexOnly = error.files.every((file) => file === INDEX_FILE)
    // the bank updates the index itself
    if (isIndexOnly) return installDream(bank, { ...proposal, puts: puts.filter(({ file }) => file !== INDEX_FILE) })
    return { state: "conflict", files: error.files }
  }
}

/** Builds a proposal from texts; `null` removes a file. */
export function proposalOf(change: {
  why: string
  texts: ReadonlyMap<string, string | null>
  base: ReadonlyMap<string, string>
  /** The memories after the check: their sources apply, not those in the texts. */
  after: readonly Memory[]
}): DreamProposal {
  const { why, texts, base, after } = change
  const sources = new Map(after.map(({ file, source }) => [file, source]))
  return {
    why,
    puts: [...texts].flatMap(([file, text]) =>
      text === null ? [] : [{ file, text, ...withSource(sources.get(file)) }],
    ),
    removals: [...texts].flatMap(([file, text]) => (text === null ? [file] : [])),
    base: new Map([...texts.keys()].map((file) => [file, base.get(file) ?? null])),
  }
}

const withSource = (source: MemorySource | undefined) => (source ? { source } : {})

/** A change to the memories that waits for consent. */
export interface PendingDream extends DreamProposal {
  readonly id: string
  readonly at: string
  /** Reason why the user must decide, as a sentence. */
  readonly reason: string
  /** Memories that would go out of view. */
  readonly lost: readonly string[]
}

interface StoredDream extends Omit<PendingDream, "base"> {
  readonly base: readonly (readonly [string, string | null])[]
}

export async function storePending(notes: MemoryFiles, pending: PendingDream): Promise<void> {
  const puts = pending.puts.map((put) => ({ ...put, text: maskSecrets(put.text) }))
  const base = [...pending.base].map(([file, text]) => [file, text && maskSecrets(text)] as const)
  const stored: StoredDream = { ...pending, why: maskSecrets(pending.why), puts, base }
  await writeStateFile(notes, DREAM_FILES.pending, `${JSON.stringify(stored, undefined, 1)}\n`)
}

export async function readPending(notes: MemoryFiles): Promise<PendingDream | undefined> {
  const stored = await readJson<StoredDream>(notes, DREAM_FILES.pending)
  if (!Array.isArray(stored?.puts) || !Array.isArray(stored.base)) return undefined
  return { ...stored, base: new Map(stored.base) }
}

export const dropPending = (notes: MemoryFiles): Promise<void> => removeStateFiles(notes, [DREAM_FILES.pending])

/** Replaces masked base texts by the current ones if only the mask differs, because an install compares them byte for byte. */
export async function withCurrentBase(
  pending: PendingDream,
  textOf: (file: string) => Promise<string | undefined>,
): Promise<PendingDream> {
  const base = new Map<string, string | null>()
  for (const [file, text] of pending.base) {
    const current = text === null ? undefined : await textOf(file)
    base.set(file, current !== undefined && maskSecrets(current) === text ? current : text)
  }
  return { ...pending, base }
}

/** The change as a unified diff. */
export async function diffOf({ puts, removals, base }: DreamProposal): Promise<string> {
  const changes = [...puts, ...removals.map((file) => ({ file, text: undefined }))].sort((a, b) =>
    a.file < b.file ? -1 : 1,
  )
  const patches = changes.map(({ file, text }) => {
    const before = base.get(file) ?? undefined
    return createPatch(file, before && maskSecrets(before), text)
  })
  return (await Promise.all(patches)).join("")
}

/**
 * Removes data of dreams about an erased memory: a change that waits for consent, the last state, and remaining copies. Returns false while
 * a dream runs, because its copy contains the memory.
 */
export async function eraseDreamTraces(file: string, { stateFiles, permit }: DreamContext): Promise<boolean> {
  if ((await permit.state()).taken > 0) return false
  const pending = await readPending(stateFiles)
  const isNamed = pending?.base.has(file) || pending?.puts.some((put) => put.text.includes(file))
  // the turns in the state may quote any memory
  await removeStateFiles(stateFiles, [DREAM_FILES.status, ...(isNamed ? [DREAM_FILES.pending] : [])])
  await clearWorkingDirectories(stateFiles)
  return true
}
