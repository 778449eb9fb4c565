/**
 * An intent: a change of several memory files that is completely on disk before the first file changes. From then on the change is
 * installed, at the latest by the next reader or writer.
 *
 * A user who saves a file at the same moment wins. Nothing is overwritten: an existing file is moved aside first, and the new text is
 * linked into the free place. If the moved file is not what the change expected, it is put back. An editor may still write into a moved
 * file, so moved files are kept for a while and checked again.
 */

import { createHash, hash, randomUUID } from "node:crypto"
import { link, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { MemoryFileError } from "../../base/errors.ts"
import { validateMemoryPath } from "../memory-files.ts"
import { DIRECTORY_MODE } from "./layout.ts"
import {
  draftPath,
  exists,
  isMissing,
  makeFolder,
  readText,
  statIfPresent,
  writeDraft,
  writeText,
} from "./memory-texts.ts"
import { scanLines } from "./scan.ts"

// An intent on disk is JSON with one change per line. It is as large as everything it changes, so its size is unlimited and it is never
// held as one string. Older versions wrote a single line.

export const INTENT = ".intent.json"
const CHUNK_CHARACTERS = 1 << 20

export interface Intent {
  /** Distinguishes its moved files from those of another intent with the same changes. Absent in intents of older versions. */
  readonly id?: string
  readonly changes: readonly IntendedChange[]
  /** Checksum of the other fields, to detect a damaged intent. */
  readonly sum: string
}

export interface IntendedChange {
  readonly path: string
  readonly before: string | null
  readonly text: string | null
}

export function createIntent(changes: Intent["changes"]): Intent {
  const id = randomUUID().slice(0, 8)
  return { id, changes, sum: checksumOf({ id, changes }) }
}

function checksumOf({ id = "", changes }: Omit<Intent, "sum">): string {
  const sum = createHash("sha256").update(`${id}[`)
  for (const [at, change] of changes.entries()) sum.update(`${at === 0 ? "" : ","}${JSON.stringify(change)}`)
  return sum.update("]").digest("hex")
}

export const writeIntent = (path: string, intent: Intent, options: { flush?: boolean } = {}): Promise<void> =>
  writeText(path, inChunks(intentLines(intent)), options)

function* intentLines({ id, changes, sum }: Intent): Generator<string> {
  yield `${intentPrefix(id)}\n`
  for (const [at, change] of changes.entries())
    yield `${JSON.stringify(change)}${at === changes.length - 1 ? "" : ","}\n`
  yield `],"sum":${JSON.stringify(sum)}}`
}

/** The start of an intent, which is the same in the one-line form of older versions. */
const intentPrefix = (id: string | undefined): string =>
  `{${id === undefined ? "" : `"id":${JSON.stringify(id)},`}"changes":[`

function* inChunks(lines: Iterable<string>): Generator<string> {
  let piece = ""
  for (const line of lines) {
    piece += line
    if (piece.length < CHUNK_CHARACTERS) continue
    yield piece
    piece = ""
  }
  yield piece
}

export type IntentReadResult =
  | { readonly state: "whole"; readonly intent: Intent }
  /** `changes` are those that can still be read. */
  | { readonly state: "damaged"; readonly changes: readonly IntendedChange[] }

/** Returns `undefined` if there is no intent. */
export async function readIntent(directory: string, path = INTENT): Promise<IntentReadResult | undefined> {
  const file = join(directory, path)
  const facts = await statIfPresent(file)
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
    const isWhole = sum !== undefined && checksumOf({ ...(id === undefined ? {} : { id }), changes }) === sum
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

/** Skips a line that cannot be read: the checksum shows that something is missing. */
function readLine(bytes: Buffer, { changes, ends }: { readonly changes: IntendedChange[]; readonly ends: Ends }): void {
  try {
    const line = bytes.toString("utf8")
    if (line.startsWith('{"path":')) changes.push(validateChange(JSON.parse(line.replace(/,$/, ""))))
    else if (line.startsWith("]")) Object.assign(ends, JSON.parse(`{${line.slice("],".length)}`))
    else if (line.endsWith("[")) Object.assign(ends, JSON.parse(`${line}]}`))
    else {
      const { changes: all, ...rest } = JSON.parse(line) as Intent
      changes.push(...all.map(validateChange))
      Object.assign(ends, rest)
    }
  } catch {
    return // the checksum detects it
  }
}

function validateChange({ path, before, text }: IntendedChange): IntendedChange {
  const isText = (value: unknown) => value === null || typeof value === "string"
  if (!isText(before) || !isText(text)) throw new TypeError("no change")
  return { path: validateMemoryPath(path), before, text }
}

/** Whether this intent is on disk, and not another process's. */
export async function isIntentPresent(directory: string, { id }: Intent): Promise<boolean> {
  const beginning = Buffer.from(intentPrefix(id))
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

const REPLACED = ".replaced"
const QUARANTINE = ".set-aside"
const WRITES_AT_ONCE = 32 // each waits for the disk
const RETENTION_MS = 10_000 // an editor that saves has its file open for milliseconds
const NAME_DIGITS = 12

export interface CarryOut {
  readonly directory: string
  readonly intent: Intent
  /** Throws if the lock is lost. The new holder then completes the intent. */
  readonly check: () => void
  readonly atStep: (step: "moved" | "changed") => void
}

/** Resolves with the files that were edited in the meantime. Their texts stay. */
export async function carryOut({ directory, intent, check, atStep }: CarryOut): Promise<readonly string[]> {
  const { changes, sum } = intent
  await mkdir(join(directory, REPLACED), { recursive: true, mode: DIRECTORY_MODE })
  const kept: string[] = []
  for (let at = 0; at < changes.length; at += WRITES_AT_ONCE) {
    const some = changes.slice(at, at + WRITES_AT_ONCE)
    const ends = await Promise.allSettled(
      some.map(async (change) => {
        if ((await replace({ directory, sum, ...change, check, moved: () => atStep("moved") })) === "kept")
          kept.push(change.path)
        atStep("changed")
      }),
    )
    // only after all have settled: none may continue after the lock is released
    for (const end of ends) if (end.status === "rejected") throw end.reason
  }
  check()
  if (await isIntentPresent(directory, intent)) {
    const replaced = changes.filter(({ before }) => before !== null)
    if (replaced.length > 0) await writeIntent(recordPath(directory, sum), createIntent(replaced), { flush: false })
    await rm(join(directory, INTENT))
  }
  return kept.sort()
}

const recordPath = (directory: string, sum: string) => join(directory, REPLACED, `${sum.slice(0, NAME_DIGITS)}.json`)

/** Where a replaced text is moved to. */
const replacedPath = (directory: string, { sum, path }: { sum: string; path: string }) =>
  join(directory, REPLACED, `${sum.slice(0, NAME_DIGITS)}-${pathKey(path)}`)

const pathKey = (path: string) => hash("sha256", path, "hex").slice(0, NAME_DIGITS)

interface TextReplacement extends IntendedChange {
  readonly directory: string
  readonly sum: string
  readonly check: () => void
  readonly moved: () => void
}

async function replace(change: TextReplacement): Promise<"done" | "kept"> {
  try {
    return await replaceText(change)
  } finally {
    await rm(draftPath(join(change.directory, change.path)), { force: true }) // including a draft of a killed process
  }
}

async function replaceText(change: TextReplacement): Promise<"done" | "kept"> {
  const { directory, path, before, text, check, moved } = change
  await makeWay(directory, path)
  const current = (await readText(directory, path)) ?? null
  if (current === text) return "done"
  const aside = replacedPath(directory, change)
  const isHalfDone = await exists(aside) // a killed process got this far
  const isAsExpected = isHalfDone ? current === null : current === before
  if (!isAsExpected) return "kept"
  const target = await makeFolder(directory, path)
  const draft = text === null ? undefined : await writeDraft(target, text)
  check()
  if (current !== null) {
    if (!(await moveTo(target, aside))) return "kept" // the file was removed in the meantime
    moved()
    if (!(await statIfPresent(aside))?.isFile()) await quarantine({ directory, path, from: aside })
    else if (!(await isText(aside, before))) {
      await putBack({ directory, path, aside })
      return "kept"
    }
  }
  return draft === undefined || (await linkTo(draft, target)) ? "done" : "kept"
}

/** The text of a file while an intent waits for disk space or for permission to write. */
export async function intendedText(directory: string, intent: Intent, path: string): Promise<string | undefined> {
  const current = await readText(directory, path)
  const change = intent.changes.find((one) => one.path === path)
  if (!change) return current
  const isMoved = current === undefined && (await exists(replacedPath(directory, { sum: intent.sum, path })))
  return isMoved || (current ?? null) === change.before ? (change.text ?? undefined) : current
}

/** Puts an edited file back where it was saved. The file itself is moved, because its writer may not have finished. */
async function putBack({ directory, path, aside }: { directory: string; path: string; aside: string }): Promise<void> {
  if (!(await linkTo(aside, join(directory, path)))) await archive({ directory, path, aside })
  await rm(aside, { force: true })
}

async function archive({ directory, path, aside }: { directory: string; path: string; aside: string }): Promise<void> {
  const sum = hash("sha256", await readFile(aside), "hex").slice(0, 8)
  const target = await makeFolder(directory, `archive/${sum}-${basename(path)}`)
  await linkTo(aside, target)
}

/**
 * Checks files that were replaced in the last seconds again: an edit made since then is put back, or archived if the file has changed
 * again. Older files are removed. `all` removes the newest too.
 */
export async function recheckReplaced(directory: string, { all = false } = {}): Promise<void> {
  const names = await namesIn(directory)
  for (const name of names.filter(isRecord)) {
    const record = join(directory, REPLACED, name)
    const facts = await statIfPresent(record)
    if (facts === undefined) continue
    const sum = name.slice(0, NAME_DIGITS)
    const asides = new Set(names.filter((one) => one.startsWith(`${sum}-`)))
    const isOver = all || asides.size === 0 || Math.abs(Date.now() - facts.ctimeMs) > RETENTION_MS
    for (const change of asides.size === 0 ? [] : await changesIn(directory, `${REPLACED}/${name}`)) {
      const aside = replacedPath(directory, { sum, path: change.path })
      if (asides.has(basename(aside)) && !(await isText(aside, change.before)))
        await restoreLateEdit({ directory, change, aside })
    }
    if (!isOver) continue
    for (const aside of asides) await rm(join(directory, REPLACED, aside), { force: true })
    await rm(record, { force: true })
  }
}

async function changesIn(directory: string, path: string): Promise<readonly IntendedChange[]> {
  const read = await readIntent(directory, path)
  return read?.state === "whole" ? read.intent.changes : (read?.changes ?? [])
}

/** Puts back files that were moved out of the way of an incomplete change. Files that belong to no readable change go to the archive. */
export async function restoreMoved(directory: string, changes: readonly IntendedChange[]): Promise<void> {
  const names = await namesIn(directory)
  const finished = new Set(names.filter(isRecord).map((name) => name.slice(0, NAME_DIGITS)))
  const paths = new Map(changes.map(({ path }) => [pathKey(path), path]))
  for (const name of names) {
    if (isRecord(name) || finished.has(name.slice(0, NAME_DIGITS))) continue
    const path = paths.get(name.slice(-NAME_DIGITS))
    const aside = join(directory, REPLACED, name)
    if (path === undefined) await archive({ directory, path: `${name}.md`, aside })
    else if (await exists(join(directory, path))) await archive({ directory, path, aside })
    else await linkTo(aside, join(directory, path))
    await rm(aside, { force: true })
  }
}

/** Whether there are replaced files to check. */
export const hasReplacedFiles = async (directory: string): Promise<boolean> => (await namesIn(directory)).some(isRecord)

const namesIn = (directory: string): Promise<readonly string[]> =>
  readdir(join(directory, REPLACED)).catch(() => [] as string[])

const isRecord = (name: string) => name.endsWith(".json")

interface LateEdit {
  readonly directory: string
  readonly change: IntendedChange
  readonly aside: string
}

async function restoreLateEdit({ directory, change, aside }: LateEdit): Promise<void> {
  const { path, text } = change
  const target = join(directory, path)
  const ours = `${aside}.ours`
  const current = (await readText(directory, path).catch(() => undefined)) ?? null
  if (text !== null && current === text && (await moveTo(target, ours)) && !(await isText(ours, text)))
    await putBack({ directory, path, aside: ours }) // the user saved again
  await putBack({ directory, path, aside })
  await rm(ours, { force: true }) // the history contains this text
}

/** Quarantines what cannot be replaced as text: a link, a folder, a file that is too large or not text. It is preserved and reported. */
async function makeWay(directory: string, path: string): Promise<void> {
  const parts = path.split("/")
  for (let count = 1; count < parts.length; count++) {
    const folder = parts.slice(0, count).join("/")
    const facts = await statIfPresent(join(directory, folder))
    if (facts && !facts.isDirectory()) return quarantine({ directory, path: folder })
  }
  try {
    await readText(directory, path)
  } catch (error) {
    if (!isNotText(error)) throw error
    await quarantine({ directory, path })
  }
}

const NOT_TEXT = new Set(["EACCES", "EPERM", "EISDIR", "ELOOP", "ENXIO"])

export const isNotText = (error: unknown): boolean =>
  error instanceof MemoryFileError || NOT_TEXT.has((error as NodeJS.ErrnoException).code ?? "")

async function quarantine(thing: { directory: string; path: string; from?: string }): Promise<void> {
  const { directory, path, from = join(directory, path) } = thing
  await moveTo(from, await makeFolder(directory, `${QUARANTINE}/${randomUUID().slice(0, 8)}/${path}`))
}

/** Describes each quarantined file in one sentence. */
export async function quarantineReports(directory: string): Promise<readonly string[]> {
  const folder = join(directory, QUARANTINE)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const holding = new Set(entries.map(({ parentPath }) => parentPath))
  return entries
    .filter((entry) => !holding.has(join(entry.parentPath, entry.name))) // a quarantined folder may be empty
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep))
    .map(([id, ...path]) => describeQuarantined(path.join("/"), `${QUARANTINE}/${id}/${path.join("/")}`))
    .sort()
}

const describeQuarantined = (path: string, place: string) =>
  `${path} was in the way of a change and could not be read as text, so it was moved to ${place}. Look at it, then move it back or delete it.`

async function moveTo(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isMissing(error) && !(await exists(from))) return false
    throw error
  }
}

async function linkTo(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: DIRECTORY_MODE })
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/** Compares bytes, because an edited file may not be text. */
async function isText(file: string, text: string | null): Promise<boolean> {
  const facts = await statIfPresent(file)
  return text !== null && facts?.isFile() === true && (await readFile(file)).equals(Buffer.from(text))
}
