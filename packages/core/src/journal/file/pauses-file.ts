/**
 * The pauses of an owner's conversations as sums, in one small file under the root: a few numbers for each owner, and no text. A file that
 * cannot be read counts as empty: the planner then begins without a habit to go by. Each write replaces the file in one step.
 */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Owner, placeFor } from "../../base/owner.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const VERSION = 1
const MOST = 1_000 // owners: those who were away longest go first

/** Plain sums. What they mean is known where they are used. */
export type KeptSums = object

export const pausesFile = (root: string): string => join(root, "pauses.json")

export async function readPauses(root: string, owner: Owner): Promise<KeptSums | undefined> {
  return (await readAll(root))[keyOf(owner)]
}

export async function keepPauses(root: string, owner: Owner, change: (sums: KeptSums | undefined) => KeptSums) {
  const key = keyOf(owner)
  const { [key]: own, ...others } = await readAll(root)
  const owners = Object.fromEntries([...Object.entries(others).slice(1 - MOST), [key, change(own)]])
  const draft = `${pausesFile(root)}.${randomUUID()}.draft`
  await mkdir(root, { recursive: true, mode: DIRECTORY_MODE })
  try {
    await writeFile(draft, `${JSON.stringify({ version: VERSION, owners })}\n`, { flag: "wx", mode: FILE_MODE })
    await rename(draft, pausesFile(root))
  } finally {
    await rm(draft, { force: true })
  }
}

/** The name of an owner is not kept. */
const keyOf = (owner: Owner): string => placeFor("pauses", owner)

async function readAll(root: string): Promise<Readonly<Record<string, KeptSums>>> {
  try {
    const found = JSON.parse(await readFile(pausesFile(root), "utf8")) as { version?: unknown; owners?: unknown }
    if (found.version !== VERSION || typeof found.owners !== "object" || found.owners === null) return {}
    return Object.fromEntries(Object.entries(found.owners).filter(([, sums]) => isSums(sums)))
  } catch {
    return {}
  }
}

function isSums(value: unknown): value is KeptSums {
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).every((each) => (typeof each === "object" ? isSums(each) : Number.isFinite(each)))
}
