/**
 * A change whose intent was damaged on the disk before all of it was made. Nothing more of it is made: what was moved out of its way goes
 * back, and the intent is moved to a folder of its own. What it had written already may look like an edit by hand, so the write is announced.
 */
import { randomUUID } from "node:crypto"
import { readdir, rename } from "node:fs/promises"
import { join } from "node:path"
import { WRITING } from "../memory-files.ts"
import { flushDirectory } from "./index-file.ts"
import { giveBackMoved, INTENT, type IntendedChange } from "./memory-intent.ts"
import { makeFolder, writeWhole } from "./memory-texts.ts"

export const DAMAGED = ".damaged"
const REPORTED = ".reported"

/** After a kill at any place, the next one does it again. */
export async function setAsideDamaged(directory: string, changes: readonly IntendedChange[]): Promise<void> {
  const name = `${randomUUID().slice(0, 8)}.json`
  await writeWhole(await makeFolder(directory, `${WRITING}/${name}`), JSON.stringify({ isDamaged: true }))
  await giveBackMoved(directory, changes)
  await rename(join(directory, INTENT), await makeFolder(directory, `${DAMAGED}/${name}`))
  await flushDirectory(directory)
}

/** One sentence for each. */
export async function damageIn(directory: string): Promise<readonly string[]> {
  return (await namesIn(directory)).map((name) => sentence(`${DAMAGED}/${name}`))
}

/** Those that were not reported yet. Each is reported once. */
export async function unreportedDamage(directory: string): Promise<readonly string[]> {
  const sentences: string[] = []
  for (const name of await namesIn(directory)) {
    if (name.endsWith(REPORTED)) continue
    await rename(join(directory, DAMAGED, name), join(directory, DAMAGED, name + REPORTED))
    sentences.push(sentence(`${DAMAGED}/${name}${REPORTED}`))
  }
  return sentences
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(join(directory, DAMAGED)).catch(() => [] as string[])).sort()

const sentence = (place: string) =>
  `A change of the memories was damaged on the disk before all of it was made. What it had not written yet is not remembered; all other memories and the history are kept. The damaged change is in ${place}: look there for what is missing, then delete it.`
