/**
 * An intent as it is on disk: JSON as a whole, with a change in each line. It is as large as all that it changes, so no part of it is limited
 * and it is never one string. Older versions wrote one line.
 */
import { createHash, randomUUID } from "node:crypto"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { MemoryFileError } from "../../base/errors.ts"
import { checkedMemoryPath } from "../memory-files.ts"
import { factsOf, isMissing, writeWhole } from "./memory-texts.ts"
import { scanLines } from "./scan.ts"

export const INTENT = ".intent.json"
const PIECE_CHARACTERS = 1 << 20

export interface Intent {
  /** Tells its moved files from those of another intent with the same changes. Absent in intents of older versions. */
  readonly id?: string
  readonly changes: readonly IntendedChange[]
  /** Over the rest, so that a damaged intent is recognised. */
  readonly sum: string
}

export interface IntendedChange {
  readonly path: string
  readonly before: string | null
  readonly text: string | null
}

export function intentOf(changes: Intent["changes"]): Intent {
  const id = randomUUID().slice(0, 8)
  return { id, changes, sum: sumOf({ id, changes }) }
}

function sumOf({ id = "", changes }: Omit<Intent, "sum">): string {
  const sum = createHash("sha256").update(`${id}[`)
  for (const [at, change] of changes.entries()) sum.update(`${at === 0 ? "" : ","}${JSON.stringify(change)}`)
  return sum.update("]").digest("hex")
}

export const writeIntent = (path: string, intent: Intent, options: { flush?: boolean } = {}): Promise<void> =>
  writeWhole(path, inPieces(linesOf(intent)), options)

function* linesOf({ id, changes, sum }: Intent): Generator<string> {
  yield `${beginningOf(id)}\n`
  for (const [at, change] of changes.entries())
    yield `${JSON.stringify(change)}${at === changes.length - 1 ? "" : ","}\n`
  yield `],"sum":${JSON.stringify(sum)}}`
}

/** Also of the one line of older versions. */
const beginningOf = (id: string | undefined): string =>
  `{${id === undefined ? "" : `"id":${JSON.stringify(id)},`}"changes":[`

function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = ""
  for (const line of lines) {
    piece += line
    if (piece.length < PIECE_CHARACTERS) continue
    yield piece
    piece = ""
  }
  yield piece
}

export type ReadIntent =
  | { readonly state: "whole"; readonly intent: Intent }
  /** `changes`: those that can still be read. */
  | { readonly state: "damaged"; readonly changes: readonly IntendedChange[] }

/** Nothing where no intent is. */
export async function readIntent(directory: string, path = INTENT): Promise<ReadIntent | undefined> {
  const file = join(directory, path)
  const facts = await factsOf(file)
  if (facts === undefined) return undefined
  if (!facts.isFile()) throw new MemoryFileError(path, "it is not a plain file")
  const handle = await open(file, "r").catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!handle) return undefined
  try {
    const changes: IntendedChange[] = []
    const ends: { id?: string; sum?: string } = {}
    for await (const { bytes } of scanLines(handle, 0, facts.size)) readLine(bytes, { changes, ends })
    const { id, sum } = ends
    const isWhole = sum !== undefined && sumOf({ ...(id === undefined ? {} : { id }), changes }) === sum
    if (!isWhole) return { state: "damaged", changes }
    return { state: "whole", intent: { ...(id === undefined ? {} : { id }), changes, sum } }
  } finally {
    await handle.close()
  }
}

interface Ends {
  id?: string
  sum?: string
}

/** A line that cannot be read is left out: the sum says that something is missing. */
function readLine(bytes: Buffer, { changes, ends }: { readonly changes: IntendedChange[]; readonly ends: Ends }): void {
  try {
    const line = bytes.toString("utf8")
    if (line.startsWith('{"path":')) changes.push(checkedChange(JSON.parse(line.replace(/,$/, ""))))
    else if (line.startsWith("]")) Object.assign(ends, JSON.parse(`{${line.slice("],".length)}`))
    else if (line.endsWith("[")) Object.assign(ends, JSON.parse(`${line}]}`))
    else {
      const { changes: all, ...rest } = JSON.parse(line) as Intent
      changes.push(...all.map(checkedChange))
      Object.assign(ends, rest)
    }
  } catch {
    return // the sum tells
  }
}

function checkedChange({ path, before, text }: IntendedChange): IntendedChange {
  const isText = (value: unknown) => value === null || typeof value === "string"
  if (!isText(before) || !isText(text)) throw new TypeError("no change")
  return { path: checkedMemoryPath(path), before, text }
}

/** Whether it is there, and not one of another process. */
export async function isThere(directory: string, { id }: Intent): Promise<boolean> {
  const beginning = Buffer.from(beginningOf(id))
  const handle = await open(join(directory, INTENT), "r").catch(() => undefined)
  if (!handle) return false
  try {
    const start = Buffer.alloc(beginning.length)
    await handle.read(start, 0, start.length, 0)
    return start.equals(beginning)
  } finally {
    await handle.close()
  }
}
