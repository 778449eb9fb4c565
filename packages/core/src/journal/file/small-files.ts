/**
 * Small files of a conversation: session notes, requests in flight, append-only logs. The notes belong to the user: a file that appears in
 * the meantime is theirs and stays. A link in place of the file or its directory is refused, because it could lead to another file.
 */

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { appendFile, lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { StrataError } from "../../base/errors.ts"
import { readPlainFile } from "../../base/files.ts"
import { KeyedQueues, SerialQueue } from "../../base/work.ts"
import { usableUsage } from "../../messages/messages.ts"
import type { AppendLog } from "../append-log.ts"
import type { InFlightLog, SentRequest, UnsettledRequests } from "../in-flight.ts"
import { type AtomicFile, draftName, type HeldLock, publishDraft, removeFile } from "./guarded-writes.ts"
import { flushDirectory } from "./index-file.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const MAX_BYTES = 4 * 1024 * 1024 // notes have a few kilobytes; more is something else

/** The error if the notes file cannot be read or written. */
const notesFileError = (path: string, why: string) =>
  new StrataError(`No notes were taken: ${path} ${why}. Nothing was written. Remove it, or switch the notes off.`, {
    code: "notes-file",
  })

export async function readNotesFile(path: string): Promise<string | undefined> {
  if (!(await isPlain(path))) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readPlainFile(path, MAX_BYTES))
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof TypeError) throw notesFileError(path, "is not UTF-8 text")
    throw error
  }
}

export interface NotesToWrite extends Pick<AtomicFile, "path" | "number" | "check"> {
  readonly text: string
  /** The text to replace: `null` for no notes, `undefined` for any. */
  readonly expected?: string | null | undefined
}

/** Serializes writes within this process, so that the text does not change between check and write. */
const writes = new KeyedQueues<string>()

/** On disk when it resolves, in every flush mode, because it replaces a text that the user may have written. */
export function writeNotesFile(notes: NotesToWrite): Promise<boolean> {
  return writes.run(notes.path, () => writeNow(notes))
}

async function writeNow({ path, text, expected, number, check }: NotesToWrite): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const isThere = await isPlain(path)
  if (expected !== undefined && (await readNotesFile(path)) !== (expected ?? undefined)) return false
  const draft = draftName(path, number)
  try {
    await rm(draft, { force: true }) // a draft of a killed process, or a link in its place
    await writeFile(draft, text, { flag: "wx", mode: FILE_MODE, flush: true })
    publishDraft({ draft, path, check, isNew: !isThere })
    await flushDirectory(dirname(path))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  } finally {
    await rm(draft, { force: true })
  }
}

/** Whether the file exists. Anything else in its place is refused. */
async function isPlain(path: string): Promise<boolean> {
  const [directory, file] = await Promise.all([lstatIfPresent(dirname(path)), lstatIfPresent(path)])
  if (directory?.isSymbolicLink()) throw notesFileError(dirname(path), "is a symbolic link")
  if (file?.isSymbolicLink()) throw notesFileError(path, "is a symbolic link")
  if (file && !file.isFile()) throw notesFileError(path, "is not a file")
  return file !== undefined
}

const lstatIfPresent = (path: string) =>
  lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT"

// The log of requests in flight, a file next to the journal. A line is one small write, which a kill cannot tear and which waits for no
// disk. The file is empty while nothing is in flight.

export class InFlightFile implements InFlightLog, UnsettledRequests {
  readonly #path: string
  readonly #held: HeldLock | undefined
  readonly #open = new Set<string>()
  #file: number | undefined
  #isUsed = false

  /** `held` is absent for readers. */
  constructor(path: string, held?: HeldLock) {
    this.#path = path
    this.#held = held
  }

  /** Requests that an earlier process left unsettled. */
  unsettled(): readonly SentRequest[] {
    try {
      return parseUnsettled(readFileSync(this.#path, "utf8"))
    } catch {
      return [] // it does not exist
    }
  }

  sent(request: SentRequest): void {
    this.#open.add(request.id)
    this.#write((file) => writeSync(file, encodeInFlightLine({ sent: request })))
  }

  finished(id: string): void {
    if (!this.#open.delete(id)) return
    this.#write((file) =>
      this.#open.size === 0 ? ftruncateSync(file) : writeSync(file, encodeInFlightLine({ over: id })),
    )
    if (this.#open.size === 0) this.#giveBack()
  }

  /** Called once the unsettled requests are in the journal. */
  clear(): void {
    if (!this.#held) return
    const { lock, fence } = this.#held
    removeFile({ path: this.#path, number: lock.fence, check: () => fence.check("in-flight") })
  }

  close(): void {
    this.#giveBack()
    if (this.#isUsed && this.#open.size === 0 && this.#held?.lock.isHeld()) this.clear()
  }

  /** Closes the descriptor, because a server has thousands of conversations without a request. */
  #giveBack(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /**
   * Ignores errors: a full disk costs only the estimate after a kill, and the journal's own next line reports it, like a lost lock. The
   * lock is checked after opening, so that the descriptor belongs to this owner's file.
   */
  #write(write: (file: number) => unknown): void {
    const fence = this.#held?.fence
    if (!fence) return
    try {
      if (this.#file === undefined) fence.check("open")
      this.#file ??= openSync(this.#path, "a", FILE_MODE)
      this.#isUsed = true
      fence.check("in-flight")
      write(this.#file)
    } catch {}
  }
}

// A log of lines in one file. If it is large, it is rewritten without its older half.

const LARGE = 16_000_000 // bytes

export function appendLogFile(path: string): AppendLog {
  const queue = new SerialQueue()
  let made: Promise<unknown> | undefined
  const read = async (): Promise<readonly string[]> => {
    const text = await readFile(path, "utf8").catch(() => "")
    const lines = text.split("\n").slice(0, -1) // after the last line end is nothing, or an unfinished line
    // a file that cannot be rewritten is still read
    if (text.length > LARGE) await replace(path, lines.slice(Math.floor(lines.length / 2))).catch(() => undefined)
    return lines
  }
  return {
    read: () => queue.run(read),
    append: (line) =>
      queue.run(async () => {
        made ??= mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
        try {
          await made
          await appendFile(path, `${line}\n`, { mode: FILE_MODE })
        } catch (error) {
          made = undefined // the disk may have space again, or the folder was removed
          throw error
        }
      }),
  }
}

async function replace(path: string, lines: readonly string[]): Promise<void> {
  const draft = `${path}.draft`
  await writeFile(draft, lines.map((line) => `${line}\n`).join(""), { mode: FILE_MODE })
  await rename(draft, path)
}

/** Reads the log: each line is a request, or the id of a finished one. An unfinished line is ignored. */
function parseUnsettled(text: string): readonly SentRequest[] {
  const open = new Map<string, SentRequest>()
  for (const line of text.split("\n")) {
    const parsed = parseInFlightLine(line)
    if (parsed?.over !== undefined) open.delete(parsed.over)
    else if (parsed?.sent && usableUsage(parsed.sent.usage)) open.set(parsed.sent.id, parsed.sent)
  }
  return [...open.values()]
}

export const encodeInFlightLine = (line: InFlightLine): string => `${JSON.stringify(line)}\n`

type InFlightLine =
  | { readonly sent: SentRequest; readonly over?: never }
  | { readonly over: string; readonly sent?: never }

function parseInFlightLine(line: string): InFlightLine | undefined {
  try {
    return JSON.parse(line) as InFlightLine
  } catch {
    return undefined
  }
}
