/**
 * Replaces a file's content atomically: writes a new file in the same directory and renames it. The mode is preserved. If a rename would
 * break hard links, change the owner, or is impossible, the content is written in place.
 */
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { access, chmod, constants, mkdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { codeOf, FileError, isMissing, toFileError } from "./file-error.ts"
import type { Target } from "./paths.ts"

/** Error codes after which the file is written in place: the directory accepts no new file, or the file is a mount point. */
const CANNOT_RENAME = ["EACCES", "EPERM", "EBUSY"]

export interface FileReplacement {
  readonly target: Target
  readonly bytes: Buffer
  /** Stats of the file that the new content is based on. Absent if there was none. */
  readonly before?: Stats
  /** Permission bits of a new file. Default: the system's default. */
  readonly mode?: number
}

/** Replaces the content and resolves with the new stats. Throws if the file no longer matches `before`. */
export async function replaceFile(replacement: FileReplacement): Promise<Stats> {
  const { target, before } = replacement
  try {
    if (before)
      await access(target.path, constants.W_OK) // a rename would ignore a missing write permission
    else await mkdir(dirname(target.path), { recursive: true })
    if (before && mustStayInPlace(before)) await writeInPlace(replacement)
    else await writeAndRename(replacement)
    return await stat(target.path)
  } catch (error) {
    if (codeOf(error) === "EEXIST")
      throw new FileError(`${target.inputPath}: a part of its path is a file, not a directory.`)
    throw toFileError(target.inputPath, error)
  }
}

async function writeAndRename(replacement: FileReplacement): Promise<void> {
  const { target, bytes, before, mode = before?.mode } = replacement
  const draft = join(dirname(target.path), `.strata-${randomUUID()}.tmp`) // the file's name may already have the maximum length
  try {
    await writeFile(draft, bytes, { flag: "wx", flush: true })
    if (mode !== undefined) await chmod(draft, mode & 0o7777)
    await refuseIfChanged(target, before)
    await rename(draft, target.path)
  } catch (error) {
    await rm(draft, { force: true })
    if (!before || !CANNOT_RENAME.includes(codeOf(error) ?? "")) throw error
    await writeInPlace(replacement)
  }
}

async function writeInPlace({ target, bytes, before }: FileReplacement): Promise<void> {
  await refuseIfChanged(target, before)
  await writeFile(target.path, bytes, { flush: true })
}

function mustStayInPlace({ nlink, uid }: Stats): boolean {
  return nlink > 1 || (process.getuid !== undefined && process.getuid() !== uid)
}

/** Throws if the file was changed. The last check before its content is replaced. */
async function refuseIfChanged(target: Target, before: Stats | undefined): Promise<void> {
  const now = await statIfPresent(target.path)
  const same = now?.ino === before?.ino && now?.mtimeMs === before?.mtimeMs && now?.size === before?.size
  if (!same)
    throw new FileError(
      `${target.inputPath} was changed by something else just now. Nothing was written. Read it again.`,
    )
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
