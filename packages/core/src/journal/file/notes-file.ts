/**
 * The file with the session notes. It belongs to the person: a file that appears meanwhile is theirs and stays. A link in its place, or in
 * the place of its directory, is refused, because it could lead to another file.
 */
import { lstat, mkdir, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { StrataError } from "../../base/errors.ts"
import { readPlainFile } from "../../base/plain-file.ts"
import { Queues } from "../../base/queue.ts"
import { flushDirectory } from "./flush-names.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"
import { draftName, named, type WholeFile } from "./write-whole.ts"

const MOST_BYTES = 4 * 1024 * 1024 // notes have a few kilobytes; more is something else

/** The notes cannot be read from their file, or written to it. */
const noNotes = (path: string, why: string) =>
  new StrataError(`No notes were taken: ${path} ${why}. Nothing was written. Remove it, or switch the notes off.`, {
    code: "notes-file",
  })

export async function readNotesFile(path: string): Promise<string | undefined> {
  if (!(await isPlain(path))) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readPlainFile(path, MOST_BYTES))
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof TypeError) throw noNotes(path, "is not UTF-8 text")
    throw error
  }
}

export interface NotesToWrite extends Pick<WholeFile, "path" | "number" | "check"> {
  readonly text: string
  /** The text that is replaced: `null` for no notes, left out for any. */
  readonly expected?: string | null | undefined
}

/** Within this process, one after the other: the text must not change between the look and the write. */
const writes = new Queues<string>()

/** On disk when it resolves, in every flush mode: it replaces a text that a person may have written. */
export function writeNotesFile(notes: NotesToWrite): Promise<boolean> {
  return writes.run(notes.path, () => writeNow(notes))
}

async function writeNow({ path, text, expected, number, check }: NotesToWrite): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const isThere = await isPlain(path)
  if (expected !== undefined && (await readNotesFile(path)) !== (expected ?? undefined)) return false
  const draft = draftName(path, number)
  try {
    await rm(draft, { force: true }) // of a killed process, or a link that someone put there
    await writeFile(draft, text, { flag: "wx", mode: FILE_MODE, flush: true })
    named({ draft, path, check, isNew: !isThere })
    await flushDirectory(dirname(path))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  } finally {
    await rm(draft, { force: true })
  }
}

/** Whether there is a file. Anything else in its place is refused. */
async function isPlain(path: string): Promise<boolean> {
  const [directory, file] = await Promise.all([factsOf(dirname(path)), factsOf(path)])
  if (directory?.isSymbolicLink()) throw noNotes(dirname(path), "is a symbolic link")
  if (file?.isSymbolicLink()) throw noNotes(path, "is a symbolic link")
  if (file && !file.isFile()) throw noNotes(path, "is not a file")
  return file !== undefined
}

const factsOf = (path: string) =>
  lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT"
