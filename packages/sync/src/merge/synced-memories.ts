/**
 * A project's memories as machines exchange them: current texts with their sources, the history, and tombstones of erased memories. Numbers
 * of changes are local to a machine, so here the id of a change is a hash of its content. The index is not sent: each machine builds its
 * own.
 */
import { hash } from "node:crypto"
import type { MemoryChange, MemoryFileEdit, MemorySource as Provenance } from "@strata/core/memory"
import { INDEX_FILE, isTopicFile, sourceAfter } from "@strata/core/memory-files"

export interface SyncedMemories {
  /** The current memories by path. */
  readonly files: ReadonlyMap<string, SyncedFile>
  /** The history, by the id of each change. */
  readonly changes: ReadonlyMap<string, SyncedChange>
  /** The texts that changes refer to, by hash. */
  readonly texts: ReadonlyMap<string, string>
  /** Tombstones by the hash of the path, because the name itself may be confidential. */
  readonly erased: ReadonlyMap<string, ErasedMemory>
}

export interface SyncedFile {
  readonly text: string
  readonly created: string
  readonly source: Provenance
}

/** A change without its local details: its number, and where a removed file was archived. */
export type SyncedChange = Pick<MemoryChange, "at" | "by" | "why"> & {
  readonly files: readonly SyncedEdit[]
}

type SyncedEdit = Omit<MemoryFileEdit, "archived">

export interface ErasedMemory {
  /** Hashes of every version of the text. */
  readonly texts: readonly string[]
}

export const NO_MEMORIES: SyncedMemories = {
  files: new Map(),
  changes: new Map(),
  texts: new Map(),
  erased: new Map(),
}

/** Start of the reason that a sync records in the history. */
export const SYNCED = "Synced with"

export const isOfSync = ({ by, why }: Pick<MemoryChange, "by" | "why">): boolean =>
  by === "merge" && why.startsWith(SYNCED)

/** Undefined if the change concerns no memory. */
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

/** Id of a change, the same on every machine. Each machine judges the author and the source itself, so neither is part of it. */
export function identityOf({ at, why, files }: SyncedChange): string {
  const edits = files.map(({ path, before = "", after = "" }) => [path, before, after])
  return hash("sha256", JSON.stringify([at, why, edits]), "hex").slice(0, IDENTITY_DIGITS)
}

export const erasedKey = (path: string): string => hash("sha256", `erased\0${path}`, "hex").slice(0, IDENTITY_DIGITS)

/** Hashes of the texts that a change refers to. */
export const copiesIn = ({ files }: Pick<SyncedChange, "files">): readonly string[] =>
  files.flatMap(({ before, after }) => [before, after].filter((copy) => copy !== undefined))

/** Hashes of all texts in the history. */
export const knownTexts = ({ changes }: Pick<SyncedMemories, "changes">): ReadonlySet<string> =>
  new Set([...changes.values()].flatMap(copiesIn))
