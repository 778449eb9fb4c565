/**
 * Directories of this machine for texts of a store without files, for as long as file tools work on them. One process has one of them at a
 * time. The same texts get the same path again, because messages name it. What a killed process left there is removed first.
 */
import { hash } from "node:crypto"
import { lstat, mkdir, mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DIRECTORY_MODE } from "../journal/file/layout.ts"
import { acquireLock, type FileLock } from "../journal/file/lock.ts"

const MAX_AT_ONCE = 100 // processes that work on the same texts
const NAME_DIGITS = 16

export interface Scratch {
  /** Links followed, and only for this user. */
  readonly directory: string
  /** Removes it. */
  release(): Promise<void>
}

interface ScratchOrder {
  readonly kind: "dream" | "memory" | "sync"
  /** What the texts are of. */
  readonly of: string
}

/** An empty directory. `at`: where temporary files are. */
export async function claimScratch({ kind, of }: ScratchOrder, at = tmpdir()): Promise<Scratch> {
  const base = await ownDirectory(at)
  const name = `${kind}-${hash("sha256", of, "hex").slice(0, NAME_DIGITS)}`
  for (let count = 1; count <= MAX_AT_ONCE; count++) {
    const directory = join(base, count === 1 ? name : `${name}-${count}`)
    const attempt = await acquireLock(`${directory}.lock`, new Date(0).toISOString())
    if (attempt.state === "acquired") return claimed(directory, attempt.lock)
  }
  throw new Error(`${MAX_AT_ONCE} processes work on ${of} already`)
}

async function claimed(directory: string, lock: FileLock): Promise<Scratch> {
  const remove = () => rm(directory, { recursive: true, force: true })
  await remove()
  await mkdir(directory, { mode: DIRECTORY_MODE })
  return { directory, release: () => remove().finally(() => lock.release()) }
}

/** Others can write where temporary files are. A directory with our name that is not only ours is not used. */
async function ownDirectory(at: string): Promise<string> {
  const user = process.getuid?.()
  const base = join(await realpath(at), `strata-${user ?? "scratch"}`)
  await mkdir(base, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
  })
  const facts = await lstat(base)
  const isOurs = facts.isDirectory() && (user === undefined || (facts.uid === user && (facts.mode & 0o077) === 0))
  return isOurs ? base : mkdtemp(`${base}-`)
}
