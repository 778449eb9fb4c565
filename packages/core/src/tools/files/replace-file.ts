/**
 * Replaces a file's content completely or not at all: it writes a file next to it and renames that. The mode is kept. If a rename would
 * break hard links, change the owner, or is not possible, it writes in place instead.
 */
import { randomUUID } from "node:crypto"
import type { Stats } from "node:fs"
import { access, chmod, constants, mkdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { asFileError, codeOf, FileError, isMissing } from "./file-error.ts"
import type { Target } from "./paths.ts"

/** The directory accepts no new file, or the file is a mount of its own. Writing in place may still work. */
const NO_REPLACING = ["EACCES", "EPERM", "EBUSY"]

export interface FileReplacement {
  readonly target: Target
  readonly bytes: Buffer
  /** The file that the new content was made from. Missing if there was none. */
  readonly before?: Stats
  /** Permission bits of a file that is created. Default: those of the system. */
  readonly mode?: number
}

/** Resolves with the new stats. Refuses if the file no longer matches `before`. */
export async function replaceFile(replacement: FileReplacement): Promise<Stats> {
  const { target, before } = replacement
  try {
    if (before)
      await access(target.path, constants.W_OK) // a rename does not check this
    else await mkdir(dirname(target.path), { recursive: true })
    if (before && mustStayInPlace(before)) await writeInPlace(replacement)
    else await writeBeside(replacement)
    return await stat(target.path)
  } catch (error) {
    if (codeOf(error) === "EEXIST")
      throw new FileError(`${target.given}: a part of its path is a file, not a directory.`)
    throw asFileError(target.given, error)
  }
}

async function writeBeside(replacement: FileReplacement): Promise<void> {
  const { target, bytes, before, mode = before?.mode } = replacement
  const draft = join(dirname(target.path), `.strata-${randomUUID()}.tmp`) // the file's own name may already be as long as allowed
  try {
    await writeFile(draft, bytes, { flag: "wx", flush: true })
    if (mode !== undefined) await chmod(draft, mode & 0o7777)
    await refuseIfChanged(target, before)
    await rename(draft, target.path)
  } catch (error) {
    await rm(draft, { force: true })
    if (!before || !NO_REPLACING.includes(codeOf(error) ?? "")) throw error
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

/** The last check before the old content is gone. */
async function refuseIfChanged(target: Target, before: Stats | undefined): Promise<void> {
  const now = await statIfPresent(target.path)
  const same = now?.ino === before?.ino && now?.mtimeMs === before?.mtimeMs && now?.size === before?.size
  if (!same)
    throw new FileError(`${target.given} was changed by something else just now. Nothing was written. Read it again.`)
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
