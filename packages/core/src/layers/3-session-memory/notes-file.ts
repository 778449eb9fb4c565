/**
 * The file with the notes. It belongs to the person: it is read as it is, created from the template where it is missing, and never
 * overwritten, unless it holds only what we noted on a branch that was left. A link in its place is refused, because it could lead the
 * fork that edits it to another file.
 */
import { randomUUID } from "node:crypto"
import { link, lstat, mkdir, realpath, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { StrataError } from "../../base/errors.ts"
import { readTextIfPresent } from "../../tools/files/file-content.ts"
import { codeOf, isMissing } from "../../tools/files/file-error.ts"
import type { FileRead } from "../../tools/tool.ts"

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

/** The notes cannot be written to their file. */
const noNotes = (path: string, why: string) =>
  new StrataError(`No notes were taken: ${path} ${why}. Nothing was written. Remove it, or switch the notes off.`, {
    code: "notes-file",
  })

export interface NotesFile {
  /** As it is shown to people and to the model. */
  readonly given: string
  /** With links in the directory's path resolved. */
  readonly path: string
  readonly text: string
  /** What the Edit tool needs to know before a change. */
  readonly read: FileRead
}

export interface NotesFileInput {
  readonly path: string
  readonly template: string
  readonly now: Date
  readonly signal: AbortSignal
}

/** The notes as they are on disk now. */
export async function openNotesFile(input: NotesFileInput): Promise<NotesFile> {
  const path = await placeFor(input.path)
  const current = await readNotes(path, input)
  if (current && current.text.trim() !== "") return current
  await writeWhole({ path, text: input.template, isReplacing: current !== undefined })
  const made = await readNotes(path, input)
  if (!made) throw noNotes(input.path, "was removed while it was being created")
  return made
}

/** Replaces the notes of a branch that was left. */
export async function replaceNotes({ path, text }: { readonly path: string; readonly text: string }): Promise<void> {
  await writeWhole({ path: await placeFor(path), text, isReplacing: true })
}

/** The file's real path. Creates its directory. */
async function placeFor(given: string): Promise<string> {
  const directory = dirname(given)
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  if ((await lstat(directory)).isSymbolicLink()) throw noNotes(directory, "is a symbolic link")
  const path = join(await realpath(directory), basename(given))
  await refuseUnlessPlain(path)
  return path
}

/** The notes as they are on disk now; `undefined` if the file is missing, or if something else has its name. */
export async function readNotesText({
  path,
  now,
  signal,
}: Omit<NotesFileInput, "template">): Promise<string | undefined> {
  try {
    const directory = dirname(path)
    if ((await lstat(directory)).isSymbolicLink()) return undefined
    const real = join(await realpath(directory), basename(path))
    await refuseUnlessPlain(real)
    return (await readNotes(real, { path, now, signal }))?.text
  } catch {
    return undefined // a link, a pipe, not text, no permission: it makes no difference here
  }
}

async function refuseUnlessPlain(path: string): Promise<void> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) throw noNotes(path, "is a symbolic link")
    if (!stats.isFile()) throw noNotes(path, "is not a file")
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function readNotes(
  path: string,
  { path: given, now, signal }: Omit<NotesFileInput, "template">,
): Promise<NotesFile | undefined> {
  const directory = { get: () => dirname(path), set: () => undefined }
  const file = await readTextIfPresent({ given, path }, { directory, signal })
  if (!file) return undefined
  return {
    given,
    path,
    text: file.text,
    read: { content: file.text, modifiedMs: file.stats.mtimeMs, at: now.toISOString() },
  }
}

interface NotesToWrite {
  readonly path: string
  readonly text: string
  /** A file is there and may be replaced. */
  readonly isReplacing: boolean
}

/** Whole or not at all. A file that appears in the meantime is someone else's and stays. */
async function writeWhole({ path, text, isReplacing }: NotesToWrite): Promise<void> {
  const draft = join(dirname(path), `.strata-${randomUUID()}.tmp`)
  try {
    await writeFile(draft, text, { flag: "wx", mode: FILE_MODE, flush: true })
    await (isReplacing ? rename(draft, path) : link(draft, path))
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  } finally {
    await rm(draft, { force: true })
  }
}
