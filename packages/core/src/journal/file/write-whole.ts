/**
 * Replaces a file in one step: a reader sees the old content or the new, never a mix. The draft is finished before the lock is checked, and
 * a new owner of the lock removes drafts. So a process that was paused after the check has nothing left to name.
 */
import { linkSync, renameSync, rmSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { FILE_MODE } from "./layout.ts"

let drafts = 0

/** `number`: the fencing number of the writer, so that no two processes share a draft. Two writes at the same time do not share one either. */
export const draftName = (path: string, number: number): string =>
  `${path}.${number.toString(36)}_${(++drafts).toString(36)}.draft`

export interface WholeFile {
  readonly path: string
  readonly data: string | Uint8Array
  readonly number: number
  /** Whether the content is on disk before the file gets its name. */
  readonly flush: boolean
  /** Throws unless the lock is held. */
  readonly check: () => void
}

export async function writeWhole({ path, data, number, flush, check }: WholeFile): Promise<void> {
  const draft = draftName(path, number)
  try {
    await writeFile(draft, data, { mode: FILE_MODE, flush })
    named({ draft, path, check })
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

interface Naming extends Pick<WholeFile, "path" | "check"> {
  readonly draft: string
  /** What is at the path by then stays, and the call fails with `EEXIST`. */
  readonly isNew?: boolean
}

/** Check and rename in one turn of the event loop. A draft that a new owner removed means that the lock is lost, which a second check says. */
export function named({ draft, path, check, isNew = false }: Naming): void {
  check()
  try {
    if (isNew) linkSync(draft, path)
    else renameSync(draft, path)
  } catch (error) {
    check()
    throw error
  }
}

/** Removes a file only while the lock is held. One that is moved after the lock was lost is the new owner's and goes back. */
export function removeNamed({ path, number, check }: Pick<WholeFile, "path" | "number" | "check">): void {
  const aside = draftName(path, number)
  check()
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    throw error
  }
  try {
    check()
  } catch (error) {
    linkSync(aside, path)
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}
