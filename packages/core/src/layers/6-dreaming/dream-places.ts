/** Where a dream keeps what is not memory: beside the memory directory, so that every process of the project finds it. */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"

export interface DreamPlaces {
  readonly copies: string
  /** Its mtime is the time of the last scan. */
  readonly scanned: string
  readonly status: string
  /** A change that waits for consent. */
  readonly pending: string
  /** What the memory was like after the last dream. */
  readonly consolidated: string
  /** Why a dream that was due did not start. */
  readonly skipped: string
  /** Names the dream that a person asked to end. */
  readonly stop: string
}

export function dreamPlaces(memoryDirectory: string): DreamPlaces {
  const directory = join(dirname(memoryDirectory), "dreams")
  return {
    copies: join(directory, "copies"),
    scanned: join(directory, "scanned"),
    status: join(directory, "status.json"),
    pending: join(directory, "pending.json"),
    consolidated: join(directory, "consolidated.json"),
    skipped: join(directory, "skipped.json"),
    stop: join(directory, "stop"),
  }
}

/** All of it or nothing. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const draft = `${path}.${randomUUID().slice(0, 8)}.draft`
  try {
    await writeFile(draft, text, { mode: FILE_MODE, flag: "wx" })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** `undefined` if there is no such file, or if it holds no JSON object. */
export async function readJson<T extends object>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined)
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}
