/**
 * The directories of a dream, for the copy of the memory and for transcripts: next to the state files if the store keeps files, otherwise
 * in a scratch directory of this machine.
 */
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { claimScratch } from "../../memory/scratch.ts"

export interface DreamWorkspace {
  readonly copy: string
  /** Directory for transcripts of a store without files. */
  readonly transcripts: string
  remove(): Promise<void>
}

/** Creates the directories. The dream holds the permit, so leftovers of other dreams are not in use. */
export async function openWorkingDirectory(notes: MemoryFiles, id: string): Promise<DreamWorkspace> {
  if (notes.directory === undefined) {
    const { directory, release } = await claimScratch(scratchOf(notes))
    return { copy: join(directory, "copy"), transcripts: join(directory, "transcripts"), remove: release }
  }
  await clearWorkingDirectories(notes)
  const copy = join(copiesIn(notes.directory), id)
  return { copy, transcripts: join(copy, "transcripts"), remove: () => remove(copy) }
}

/** Removes leftovers of killed dreams. Call it only while no dream runs. */
export async function clearWorkingDirectories(notes: MemoryFiles): Promise<void> {
  if (notes.directory === undefined) return (await claimScratch(scratchOf(notes))).release()
  const copies = copiesIn(notes.directory)
  const names = await readdir(copies).catch(() => [] as string[])
  await Promise.all(names.map((name) => remove(join(copies, name))))
}

const scratchOf = ({ location }: MemoryFiles) => ({ kind: "dream", of: location }) as const
const remove = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

const copiesIn = (directory: string) => join(directory, "copies")
