/**
 * Moves a conversation away from a former owner that may still run. Each file that a process keeps open is replaced by a copy, so what the
 * former owner writes goes to a file without a name. Its drafts are removed, so it can no longer publish them.
 */
import { constants, existsSync } from "node:fs"
import { copyFile, open, readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Fence } from "./guarded-writes.ts"
import { draftName, publishDraft } from "./guarded-writes.ts"
import type { JournalPaths } from "./layout.ts"

/** The fence and the fencing number of the new owner, which holds the lock. */
export interface FileFencing {
  readonly fence: Fence
  readonly number: number
}

export async function fenceFiles(paths: JournalPaths, by: FileFencing): Promise<void> {
  const { journal, index, inFlight, quarantine } = paths
  await removeUnpublishedDrafts(paths)
  for (const path of [journal, index, inFlight, quarantine]) await fenceFile(path, by)
}

/** Removes drafts that a former owner of the lock wrote and did not publish. */
export async function removeUnpublishedDrafts(paths: JournalPaths): Promise<void> {
  const { directory, journal, index, inFlight, quarantine, blobs, checkpoint, notes } = paths
  const own = [journal, index, inFlight, quarantine, checkpoint]
  await removeDrafts(directory, (name) => own.some((path) => name.startsWith(`${basename(path)}.`)))
  await removeDrafts(blobs, () => true)
  await removeDrafts(dirname(notes), (name) => name.startsWith(`${basename(notes)}.`))
}

/** Removes only files named by `draftName`. */
export async function removeDrafts(directory: string, isOurs: (name: string) => boolean): Promise<void> {
  const names = await readdir(directory).catch(() => [] as string[])
  for (const name of names.filter((one) => one.endsWith(".draft") && isOurs(one)))
    await rm(join(directory, name), { force: true })
}

/** Replaces a file by a copy of itself under the same name. Flushed in every mode, so that what was on disk stays there. */
export async function fenceFile(path: string, { fence, number }: FileFencing): Promise<void> {
  if (!existsSync(path)) return
  const draft = draftName(path, number)
  try {
    await copyFile(path, draft, constants.COPYFILE_FICLONE)
    const copy = await open(draft, "r+")
    await copy.sync().finally(() => copy.close())
    publishDraft({ draft, path, check: () => fence.check("renew") })
  } finally {
    await rm(draft, { force: true })
  }
}
