/**
 * Where a dream works: directories for the copy of the memory and for transcripts. Where the store keeps files, they are beside what dreams
 * note. Otherwise they are in a scratch directory of this machine.
 */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { clearScratch, openScratch, removeScratch } from "../../memory/scratch.ts"

export interface WorkPlace {
  readonly copy: string
  /** For transcripts of a store without files. */
  readonly transcripts: string
  remove(): Promise<void>
}

/** The dream has the right to consolidate, so what others left is not in use. */
export async function openWorkPlace(notes: MemoryFiles, id: string): Promise<WorkPlace> {
  await clearWorkPlaces(notes)
  const directory = notes.directory === undefined ? await openScratch("dream") : join(copiesIn(notes.directory), id)
  return {
    copy: notes.directory === undefined ? join(directory, "copy") : directory,
    transcripts: join(directory, "transcripts"),
    remove: () => removeScratch(directory),
  }
}

/** Removes what killed dreams left. Only while no dream runs. */
export async function clearWorkPlaces({ directory }: MemoryFiles): Promise<void> {
  if (directory === undefined) return clearScratch("dream")
  const copies = copiesIn(directory)
  const names = await readdir(copies).catch(() => [] as string[])
  await Promise.all(names.map((name) => removeScratch(join(copies, name))))
}

const copiesIn = (directory: string) => join(directory, "copies")
