/**
 * Directories of this machine for texts of a store without files, for as long as file tools work on them. Each names its process, so that
 * what a killed one left is recognised and removed.
 */
import { lstat, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FILE_MODE } from "../journal/file/layout.ts"
import { type Holder, judge, thisProcess } from "../journal/file/lock-owner.ts"

const OWNER = ".strata-process.json"
const PREFIX = "strata-"

export type ScratchKind = "dream" | "memory"

/** A new directory with links followed, only for this user. Those that killed processes left go first. */
export async function openScratch(kind: ScratchKind, at = tmpdir()): Promise<string> {
  await clearScratch(kind, at)
  const directory = await mkdtemp(join(await realpath(at), prefixOf(kind)))
  await writeFile(join(directory, OWNER), JSON.stringify(await thisProcess("")), { mode: FILE_MODE, flag: "wx" })
  return directory
}

/** Removes what killed processes left. What cannot be removed stays for the next. */
export async function clearScratch(kind: ScratchKind, at = tmpdir()): Promise<void> {
  const names = await readdir(at).catch(() => [] as string[])
  const ours = names.filter((name) => name.startsWith(prefixOf(kind))).map((name) => join(at, name))
  await Promise.all(
    ours.map(async (directory) => {
      if (await isLeft(directory)) await removeScratch(directory).catch(() => undefined)
    }),
  )
}

export const removeScratch = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

const prefixOf = (kind: ScratchKind) => `${PREFIX}${kind}-`

/** Only where it is sure: a directory of this user whose process is dead. */
async function isLeft(directory: string): Promise<boolean> {
  const facts = await lstat(directory).catch(() => undefined)
  if (!facts?.isDirectory() || (process.getuid && facts.uid !== process.getuid())) return false
  try {
    const owner = JSON.parse(await readFile(join(directory, OWNER), "utf8")) as Holder
    return Number.isSafeInteger(owner.pid) && (await judge(owner)) === "dead"
  } catch {
    return false
  }
}
