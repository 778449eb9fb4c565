/** State files of dreams about a project, stored next to its memory, so that every process of the project finds them. */
import type { Clock } from "../../base/clock.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import type { Permit } from "../../journal/permit.ts"

export const DREAM_FILES = {
  /** Time of the last scan. An earlier version wrote an empty file, whose modification time counts. */
  scanned: "scanned",
  status: "status.json",
  /** A change that waits for consent. */
  pending: "pending.json",
  /** Hash of the memory after the last dream. */
  consolidated: "consolidated.json",
  /** Reason why a dream that was due did not start. */
  skipped: "skipped.json",
  /** Id of the dream that a user asked to end. */
  stop: "stop",
} as const

/** Storage of a memory and of its dreams. */
export interface DreamContext {
  /** Files of the memory. */
  readonly files: MemoryFiles
  /** State files of dreams, stored next to the memory files. */
  readonly stateFiles: MemoryFiles
  /** Permit to consolidate the memory. */
  readonly permit: Permit
  readonly clock: Clock
}

export async function writeStateFile(notes: MemoryFiles, name: string, text: string): Promise<void> {
  await notes.install([{ path: name, text }])
}

/** Removes files. Missing ones are ignored. */
export async function removeStateFiles(notes: MemoryFiles, names: readonly string[]): Promise<void> {
  await notes.install(names.map((path) => ({ path, text: undefined })))
}

/** Returns `undefined` if the file is missing or contains no JSON object. */
export async function readJson<T extends object>(notes: MemoryFiles, name: string): Promise<T | undefined> {
  const text = await notes.read(name).catch(() => undefined)
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}
