/** Puts the files of a kept session back, byte for byte. All of it is checked first, and no file is overwritten. */
import { link, lstat, open, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { StrataError } from "@strata/core/base"
import { FILE_MODE, makeDirectory } from "@strata/core/store"
import { unpacked } from "./packed-file.ts"
import type { Pieces } from "./pieces.ts"
import { type FoundRecord, isSafeName, type KeptFile } from "./record.ts"

/** What was put back. */
export interface RestoredSession {
  /** The transcript. */
  readonly path: string
  readonly files: number
  readonly bytes: number
}

interface Restoring {
  readonly found: FoundRecord
  readonly pieces: Pieces
  /** Default: where the session was. */
  readonly directory?: string | undefined
}

export async function restoreSession({ found, pieces, directory }: Restoring): Promise<RestoredSession> {
  const { record, file } = found
  if (!record)
    throw new StrataError(`The record ${file} is missing or damaged. Nothing was restored. Run "strata keep check".`, {
      code: "damaged",
    })
  const folder = resolve(directory ?? dirname(record.path))
  for (const each of record.files) await checkTarget(each, folder)
  for (const each of record.files) for await (const _ of unpacked(each, pieces));
  const written: string[] = []
  try {
    for (const each of record.files) {
      const path = join(folder, each.name)
      await writeNew(path, unpacked(each, pieces))
      written.push(path)
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true })
    throw error
  }
  const bytes = record.files.reduce((sum, { size }) => sum + size, 0)
  return { path: written[0]!, files: written.length, bytes }
}

async function checkTarget({ name }: KeptFile, folder: string): Promise<void> {
  if (!isSafeName(name))
    throw new StrataError(`The record names a file outside its folder: ${JSON.stringify(name)}. Nothing was restored.`)
  const path = join(folder, name)
  for (let parent = dirname(path); parent !== folder; parent = dirname(parent))
    if ((await lstat(parent).catch(() => undefined))?.isSymbolicLink())
      throw new StrataError(`${parent} is a link to another place. Nothing was restored. Name another directory.`)
  if (await lstat(path).catch(() => undefined))
    throw new StrataError(`${path} is there already. Nothing was restored. Name another directory.`, { code: "exists" })
}

/** The name appears only once all bytes are on disk, and never in place of another file. */
async function writeNew(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await makeDirectory(dirname(path))
  const draft = `${path}.${process.pid}.strata-new` // what a killed process left is in no one's way
  const file = await open(draft, "wx", FILE_MODE)
  try {
    try {
      for await (const bytes of content) await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
