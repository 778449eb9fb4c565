/** Reads and writes single texts of a memory directory. Follows no link inside it and reads nothing but plain text. */
import { hash } from "node:crypto"
import { closeSync, lstatSync, openSync, readFileSync } from "node:fs"
import { lstat, mkdir, realpath, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import { MemoryFileError } from "../../base/errors.ts"
import { maxMemoryBytes } from "../memory-files.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

export async function readText(directory: string, path: string): Promise<string | undefined> {
  const facts = statWithoutLinks(directory, path)
  if (facts === undefined) return undefined
  if (!facts.isFile()) throw new MemoryFileError(path, "it is not a plain file") // opening a pipe would wait forever
  const max = maxMemoryBytes(path)
  if (facts.size > max) throw new MemoryFileError(path, `it has more than ${max} bytes`)
  try {
    // a promise for each step would take ten times as long, and a memory has a few hundred bytes
    const file = openSync(join(directory, path), "r")
    try {
      return asText(path, readFileSync(file))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function asText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new MemoryFileError(path, "it is not UTF-8 text")
  }
}

/** Stats a file. `undefined` if it is missing. Throws if it is a link, or in a folder that is one. */
function statWithoutLinks(directory: string, path: string) {
  let at = directory
  let facts: ReturnType<typeof statSyncIfPresent>
  for (const part of path.split("/")) {
    at = join(at, part)
    facts = statSyncIfPresent(at)
    if (facts === undefined) return undefined
    if (facts.isSymbolicLink()) throw new MemoryFileError(path, "it is a link, or in a folder that is one")
  }
  return facts
}

/** Stats the path itself, even if it is a link. */
export const statIfPresent = async (path: string) => statSyncIfPresent(path)

function statSyncIfPresent(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Creates the folders above a file. */
export async function makeFolder(directory: string, path: string): Promise<string> {
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true, mode: DIRECTORY_MODE })
  statWithoutLinks(directory, path)
  return target
}

export const draftPath = (target: string): string =>
  join(dirname(target), `.${hash("sha256", target, "hex").slice(0, 12)}.draft`)

/** Writes a complete draft next to its target. */
export async function writeDraft(
  target: string,
  text: string | Iterable<string>,
  { flush = true } = {},
): Promise<string> {
  const draft = draftPath(target)
  await rm(draft, { force: true }) // a draft of a killed process, or a link in its place
  try {
    await writeFile(draft, text, { mode: FILE_MODE, flush, flag: "wx" })
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
  return draft
}

export async function writeText(
  path: string,
  text: string | Iterable<string>,
  options: { flush?: boolean } = {},
): Promise<void> {
  await rename(await writeDraft(path, text, options), path)
}

export async function mustBeInside({ directory, enclosing }: { directory: string; enclosing?: string }): Promise<void> {
  if (enclosing === undefined) return
  const [outer, inner] = [await realpath(enclosing), await realpath(await nearestExisting(directory))]
  if (inner !== outer && !inner.startsWith(outer + sep))
    throw new MemoryFileError(directory, `it leads out of ${outer}, to ${inner}`)
}

async function nearestExisting(path: string): Promise<string> {
  const facts = await lstat(path).catch(() => undefined)
  return facts || dirname(path) === path ? path : nearestExisting(dirname(path))
}

export const exists = async (path: string): Promise<boolean> => (await statIfPresent(path)) !== undefined

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === "ENOENT" || code === "ENOTDIR"
}
