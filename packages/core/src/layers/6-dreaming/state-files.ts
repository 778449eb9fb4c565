/** What dreams note about a project: small texts beside its memory, so that every process of the project finds them. */
import type { Clock } from "../../base/clock.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { Permit } from "../../journal/permit.ts"

export const DREAM_FILES = {
  /** The time of the last scan. Where an earlier version wrote it, the file is empty, and its own time counts. */
  scanned: "scanned",
  status: "status.json",
  /** A change that waits for consent. */
  pending: "pending.json",
  /** What the memory was like after the last dream. */
  consolidated: "consolidated.json",
  /** Why a dream that was due did not start. */
  skipped: "skipped.json",
  /** Names the dream that a person asked to end. */
  stop: "stop",
} as const

/** A memory and what dreams about it note. */
export interface DreamContext {
  /** Of the memory. */
  readonly files: MemoryFiles
  /** Beside it. */
  readonly stateFiles: MemoryFiles
  /** To consolidate it. */
  readonly permit: Permit
  readonly clock: Clock
}

export async function writeStateFile(notes: MemoryFiles, name: string, text: string): Promise<void> {
  await notes.install([{ path: name, text }])
}

/** It need not be there. */
export async function removeStateFiles(notes: MemoryFiles, names: readonly string[]): Promise<void> {
  await notes.install(names.map((path) => ({ path, text: undefined })))
}

/** `undefined` if it is missing, or holds no JSON object. */
export async function readJson<T extends object>(notes: MemoryFiles, name: string): Promise<T | undefined> {
  const text = await notes.read(name).catch(() => undefined)
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}
