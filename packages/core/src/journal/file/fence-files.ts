/**
 * Moves a conversation away from an owner that may still run: each of its files that a process keeps open gets a copy in its place, so that
 * what the former owner writes goes to a file without a name. Files that it has not named yet are removed: it can no longer name them.
 */
import { constants, existsSync } from "node:fs"
import { copyFile, open, readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Fence } from "./guarded-writes.ts"
import { draftName, publishDraft } from "./guarded-writes.ts"
import type { JournalPaths } from "./layout.ts"

/** Of the new owner, which holds the lock. `number`: of its acquisition. */
export interface FileFencing {
  readonly fence: Fence
  readonly number: number
}

export async function fenceFiles(paths: JournalPaths, by: FileFencing): Promise<void> {
  const { journal, index, inFlight, quarantine } = paths
  await removeUnpublishedDrafts(paths)
  for (const path of [journal, index, inFlight, quarantine]) await fenceFile(path, by)
}

/** Removes what a former owner of the lock has written and not named. */
export async function removeUnpublishedDrafts(paths: JournalPaths): Promise<void> {
  const { directory, journal, index, inFlight, quarantine, blobs, checkpoint, notes } = paths
  const own = [journal, index, inFlight, quarantine, checkpoint]
  await removeDrafts(directory, (name) => own.some((path) => name.startsWith(`${basename(path)}.`)))
  await removeDrafts(blobs, () => true)
  await removeDrafts(dirname(notes), (name) => name.startsWith(`${basename(notes)}.`))
}

/** Only what `draftName` names. */
export async function removeDrafts(directory: string, isOurs: (name: string) => boolean): Promise<void> {
  const names = await readdir(directory).catch(() => [] as string[])
  for (const name of names.filter((one) => one.endsWith(".draft") && isOurs(one)))
    await rm(join(directory, name), { force: true })
}

/** The same bytes under the same name in another file. Flushed in every mode: what was on disk stays there. */
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
