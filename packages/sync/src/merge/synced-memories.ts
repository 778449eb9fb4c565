/**
 * The memories of a project in the form in which they travel between machines: current texts with their sources, the history, and marks of
 * what was erased. Numbers of changes belong to one machine, so here a change is known by its content. The index does not travel: each
 * machine makes its own from the memories.
 */
import { hash } from "node:crypto"
import type { MemoryChange, MemoryFileEdit, MemoryProvenance as Provenance } from "@strata/core/memory"
import { INDEX_FILE, isTopicFile, sourceAfter } from "@strata/core/memory-files"

export interface SyncedMemories {
  /** The current memories by path. */
  readonly files: ReadonlyMap<string, SyncedFile>
  /** By what identifies them. */
  readonly changes: ReadonlyMap<string, SyncedChange>
  /** The texts that the changes name, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** By the hash of the path: a name can hold what had to go. */
  readonly erased: ReadonlyMap<string, ErasedMemory>
}

export interface SyncedFile {
  readonly text: string
  readonly created: string
  readonly source: Provenance
}

/** A change without what is true on one machine only: its number, and where a removed file went. */
export type SyncedChange = Pick<MemoryChange, "at" | "by" | "why"> & {
  readonly files: readonly SyncedEdit[]
}

type SyncedEdit = Omit<MemoryFileEdit, "archived">

export interface ErasedMemory {
  /** Hashes of every text that it had. */
  readonly texts: readonly string[]
}

export const NO_MEMORIES: SyncedMemories = {
  files: new Map(),
  changes: new Map(),
  texts: new Map(),
  erased: new Map(),
}

/** How a sync names itself in the history. */
export const SYNCED = "Synced with"

export const isOfSync = ({ by, why }: Pick<MemoryChange, "by" | "why">): boolean =>
  by === "merge" && why.startsWith(SYNCED)

/** Nothing if the change is about no memory. */
export function syncedChange(change: MemoryChange): SyncedChange | undefined {
  const { at, by, why } = change
  const files = change.files
    .filter(({ path }) => path !== INDEX_FILE && isTopicFile(path))
    .map((edit): SyncedEdit => {
      const { path, before, after } = edit
      const source = after === undefined ? undefined : sourceAfter(change, edit)
      return { path, ...(before ? { before } : {}), ...(after ? { after } : {}), ...(source ? { source } : {}) }
    })
  return files.length === 0 ? undefined : { at, by, why, files }
}

const IDENTITY_DIGITS = 32

/** The same on every machine. Who made it and where it came from is judged by each machine, so neither is part of it. */
export function identityOf({ at, why, files }: SyncedChange): string {
  const edits = files.map(({ path, before = "", after = "" }) => [path, before, after])
  return hash("sha256", JSON.stringify([at, why, edits]), "hex").slice(0, IDENTITY_DIGITS)
}

export const erasedKey = (path: string): string => hash("sha256", `erased\0${path}`, "hex").slice(0, IDENTITY_DIGITS)

/** The texts that a change names. */
export const copiesIn = ({ files }: Pick<SyncedChange, "files">): readonly string[] =>
  files.flatMap(({ before, after }) => [before, after].filter((copy) => copy !== undefined))

/** Hashes of all texts that ever were, as the changes know them. */
export const knownTexts = ({ changes }: Pick<SyncedMemories, "changes">): ReadonlySet<string> =>
  new Set([...changes.values()].flatMap(copiesIn))
