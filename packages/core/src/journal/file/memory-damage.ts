/**
 * Handles a change whose intent was damaged on disk before it was completed. The rest of the change is not applied: files that were moved
 * out of its way are put back, and the intent is quarantined. Files it had already written may look like manual edits, so the write is
 * announced.
 */
import { randomUUID } from "node:crypto"
import { readdir, rename } from "node:fs/promises"
import { join } from "node:path"
import { WRITE_ANNOUNCEMENTS } from "../memory-files.ts"
import { flushDirectory } from "./index-file.ts"
import { INTENT, type IntendedChange, restoreMoved } from "./memory-intent.ts"
import { makeFolder, writeText } from "./memory-texts.ts"

export const DAMAGED = ".damaged"
const REPORTED = ".reported"

/** Can be repeated after a kill at any point. */
export async function quarantineDamaged(directory: string, changes: readonly IntendedChange[]): Promise<void> {
  const name = `${randomUUID().slice(0, 8)}.json`
  await writeText(await makeFolder(directory, `${WRITE_ANNOUNCEMENTS}/${name}`), JSON.stringify({ isDamaged: true }))
  await restoreMoved(directory, changes)
  await rename(join(directory, INTENT), await makeFolder(directory, `${DAMAGED}/${name}`))
  await flushDirectory(directory)
}

/** Describes each damaged change in one sentence. */
export async function listDamage(directory: string): Promise<readonly string[]> {
  return (await namesIn(directory)).map((name) => describeDamage(`${DAMAGED}/${name}`))
}

/** Describes damaged changes that were not reported yet. Each is reported once. */
export async function unreportedDamage(directory: string): Promise<readonly string[]> {
  const sentences: string[] = []
  for (const name of await namesIn(directory)) {
    if (name.endsWith(REPORTED)) continue
    await rename(join(directory, DAMAGED, name), join(directory, DAMAGED, name + REPORTED))
    sentences.push(describeDamage(`${DAMAGED}/${name}${REPORTED}`))
  }
  return sentences
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(join(directory, DAMAGED)).catch(() => [] as string[])).sort()

const describeDamage = (place: string) =>
  `A change to the memories was damaged on the disk before it was complete. The part that was not written yet is missing; all other memories and the history are intact. The damaged change is in ${place}: look there for the missing part, then delete it.`
