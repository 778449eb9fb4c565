/**
 * Temporary directories for texts of a store without files, while file tools work on them. A directory belongs to one process at a
 * time. The same texts get the same path again, because messages mention it. What a killed process left in the directory is removed
 * first.
 */
import { hash } from "node:crypto"
import { lstat, mkdir, mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DIRECTORY_MODE } from "../journal/file/layout.ts"
import { acquireLock, type FileLock } from "../journal/file/lock.ts"

const MAX_CONCURRENT = 100 // processes that work on the same texts
const NAME_DIGITS = 16

export interface Scratch {
  /** Links resolved, and accessible only to this user. */
  readonly directory: string
  /** Removes the directory. */
  release(): Promise<void>
}

interface ScratchRequest {
  readonly kind: "dream" | "memory" | "sync"
  /** Identifies the texts. */
  readonly of: string
}

/** Claims an empty directory. `at`: the directory for temporary files. */
export async function claimScratch({ kind, of }: ScratchRequest, at = tmpdir()): Promise<Scratch> {
  const base = await privateDirectory(at)
  const name = `${kind}-${hash("sha256", of, "hex").slice(0, NAME_DIGITS)}`
  for (let count = 1; count <= MAX_CONCURRENT; count++) {
    const directory = join(base, count === 1 ? name : `${name}-${count}`)
    const attempt = await acquireLock(`${directory}.lock`, new Date(0).toISOString())
    if (attempt.state === "acquired") return tryClaim(directory, attempt.lock)
  }
  throw new Error(`${MAX_CONCURRENT} processes work on ${of} already`)
}

async function tryClaim(directory: string, lock: FileLock): Promise<Scratch> {
  const remove = () => rm(directory, { recursive: true, force: true })
  await remove()
  await mkdir(directory, { mode: DIRECTORY_MODE })
  return { directory, release: () => remove().finally(() => lock.release()) }
}

/** Other users can write to the directory for temporary files. A directory with this name that is not private is not used. */
async function privateDirectory(at: string): Promise<string> {
  const user = process.getuid?.()
  const base = join(await realpath(at), `strata-${user ?? "scratch"}`)
  await mkdir(base, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
  })
  const facts = await lstat(base)
  const isOurs = facts.isDirectory() && (user === undefined || (facts.uid === user && (facts.mode & 0o077) === 0))
  return isOurs ? base : mkdtemp(`${base}-`)
}
