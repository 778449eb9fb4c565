/**
 * Stores which directories the user trusts, and for what: one small file per directory under `trust` in the root directory. A damaged file
 * grants no trust. Each write replaces its file in one step, so two processes cannot damage each other's.
 */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { errorReason } from "../base/errors.ts"
import { canonicalHash } from "./trust-items.ts"

const VERSION = 1
const OWNER_ONLY = { directory: 0o700, file: 0o600 }

/** What the user trusted in one directory. */
export interface TrustRecord {
  /** The directory, with links resolved. */
  readonly directory: string
  /** The fingerprint of everything that needed trust. */
  readonly fingerprint: string
  /** The fingerprint of each item, to find new items later. */
  readonly parts: readonly string[]
  /** When it was trusted, in ISO 8601. */
  readonly trusted: string
}

export type StoredTrust =
  | { readonly state: "none" }
  | ({ readonly state: "kept" } & TrustRecord)
  | { readonly state: "unusable"; readonly file: string; readonly why: string }

const trustFolder = (home: string): string => join(home, "trust")
const trustFile = (home: string, directory: string): string =>
  join(trustFolder(home), `${hash("sha256", directory, "hex")}.json`)

export async function readTrust(home: string, directory: string): Promise<StoredTrust> {
  const file = trustFile(home, directory)
  const stored = await readRecord(file)
  if (stored.state === "kept" && stored.directory !== directory)
    return { state: "unusable", file, why: "it is about another directory" }
  return stored
}

export async function writeTrust(home: string, record: TrustRecord): Promise<void> {
  const file = trustFile(home, record.directory)
  const draft = `${file}.${randomUUID()}.draft`
  await mkdir(trustFolder(home), { recursive: true, mode: OWNER_ONLY.directory })
  const content = { version: VERSION, ...record }
  try {
    const text = JSON.stringify({ ...content, checksum: canonicalHash(content) }, undefined, 2)
    await writeFile(draft, `${text}\n`, { flag: "wx", mode: OWNER_ONLY.file, flush: true })
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Returns whether there was something to remove. */
export async function removeTrust(home: string, directory: string): Promise<boolean> {
  const file = trustFile(home, directory)
  const { state } = await readRecord(file)
  await rm(file, { force: true })
  return state !== "none"
}

/** Every directory with a trust file, by path. Unusable files come last. */
export async function listTrust(home: string): Promise<readonly Exclude<StoredTrust, { state: "none" }>[]> {
  const names = await readdir(trustFolder(home)).catch(() => [])
  const files = names.filter((name) => name.endsWith(".json")).toSorted()
  const stored = await Promise.all(files.map((name) => readRecord(join(trustFolder(home), name))))
  const place = (one: StoredTrust) => (one.state === "kept" ? `0${one.directory}` : "1")
  return stored.filter((one) => one.state !== "none").toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
}

async function readRecord(file: string): Promise<StoredTrust> {
  const unusable = (why: string) => ({ state: "unusable" as const, file, why })
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return code === "ENOENT" || code === "ENOTDIR"
      ? { state: "none" }
      : unusable(`it cannot be read, ${errorReason(error)}`)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return unusable("it is not JSON")
  }
  if (typeof content !== "object" || content === null) return unusable("it is not an object")
  const { checksum, ...rest } = content as Readonly<Record<string, unknown>>
  if (rest.version !== VERSION) return unusable("another version of Strata wrote it")
  if (checksum !== canonicalHash(rest)) return unusable("it was changed or damaged")
  const { version: _, ...record } = rest
  return { state: "kept", ...(record as unknown as TrustRecord) }
}
