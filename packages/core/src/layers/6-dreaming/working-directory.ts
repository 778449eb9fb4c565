/**
 * Where a dream works: directories for the copy of the memory and for transcripts. Where the store keeps files, they are beside what dreams
 * note. Otherwise they are in a scratch directory of this machine.
 */
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { claimScratch } from "../../memory/scratch.ts"

export interface DreamWorkspace {
  readonly copy: string
  /** For transcripts of a store without files. */
  readonly transcripts: string
  remove(): Promise<void>
}

/** The dream has the right to consolidate, so what others left is not in use. */
export async function openWorkingDirectory(notes: MemoryFiles, id: string): Promise<DreamWorkspace> {
  if (notes.directory === undefined) {
    const { directory, release } = await claimScratch(scratchOf(notes))
    return { copy: join(directory, "copy"), transcripts: join(directory, "transcripts"), remove: release }
  }
  await clearWorkingDirectories(notes)
  const copy = join(copiesIn(notes.directory), id)
  return { copy, transcripts: join(copy, "transcripts"), remove: () => remove(copy) }
}

/** Removes what killed dreams left. Only while no dream runs. */
export async function clearWorkingDirectories(notes: MemoryFiles): Promise<void> {
  if (notes.directory === undefined) return (await claimScratch(scratchOf(notes))).release()
  const copies = copiesIn(notes.directory)
  const names = await readdir(copies).catch(() => [] as string[])
  await Promise.all(names.map((name) => remove(join(copies, name))))
}

const scratchOf = ({ location }: MemoryFiles) => ({ kind: "dream", of: location }) as const
const remove = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

const copiesIn = (directory: string) => join(directory, "copies")
