/**
 * Search in a project's past conversations. The index follows the journals: each search first reads what is new in them, and nothing else.
 * If the index is damaged or from another version, it is built again. If it cannot be written, it is kept in memory.
 */
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isSafeId } from "../base/ids.ts"
import { DIRECTORY_MODE, FILE_MODE, projectDirectory } from "../journal/file/layout.ts"
import { scanLines } from "../journal/file/scan.ts"
import { decodeLine, peekLine } from "../journal/line.ts"
import { type JournalPassage, passagesOf } from "./journal-passages.ts"
import type { Found, Question } from "./ranking.ts"
import { TextIndex } from "./text-index.ts"

const EXTENSION = ".jsonl"
const INDEX_NAME = "recall.sqlite"
const BATCH = 2_000 // passages per transaction: a first indexing survives being stopped, and others get to write

export interface JournalIndexOptions {
  readonly root: string
  readonly project: string
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
}

export interface FoundInConversation {
  readonly conversation: string
  readonly message: string
  readonly speaker: "user" | "assistant"
  readonly time: string
  /** The message, or the part of a long one that fits. */
  readonly text: string
  readonly score: number
  readonly coverage: number
  readonly words: readonly string[]
}

/** How far a journal has been read: to the end of the line that starts at `last` and holds the entry `uuid`. */
interface Mark {
  readonly bytes: number
  readonly last: number
  readonly uuid: string | undefined
}

export class JournalIndex {
  readonly #directory: string
  readonly #mask: (text: string) => string
  #index: TextIndex | undefined
  #isInMemory = false

  constructor({ root, project, mask = (text) => text }: JournalIndexOptions) {
    this.#directory = projectDirectory(root, project)
    this.#mask = mask
  }

  /** The messages that answer a question, the best first. None where nothing fits. */
  async search(question: Question): Promise<readonly FoundInConversation[]> {
    return this.#retried(async (index) => {
      // a full disk or a busy index must not keep you from finding what is already there
      await this.#catchUp(index).catch((error: unknown) => {
        if (!isFromSqlite(error) || isDamage(error)) throw error
      })
      return index.search(question).map(foundInConversation)
    })
  }

  /** Reads what is new. Searching does that too; call it where no one waits. */
  async update(): Promise<void> {
    await this.#retried((index) => this.#catchUp(index))
  }

  close(): void {
    this.#index?.close()
    this.#index = undefined
  }

  /** A damaged index holds nothing that the journals do not: it is removed and built again, once. */
  async #retried<T>(work: (index: TextIndex) => Promise<T>): Promise<T> {
    try {
      return await work(this.#opened())
    } catch (error) {
      if (!isFromSqlite(error) || this.#isInMemory) throw error
      this.close()
      if (isDamage(error)) this.#removeFile()
      else this.#isInMemory = true
      return work(this.#opened())
    }
  }

  #opened(): TextIndex {
    this.#index ??= this.#isInMemory ? new TextIndex(":memory:") : this.#openedFile()
    return this.#index
  }

  #openedFile(): TextIndex {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: DIRECTORY_MODE })
      // SQLite would let others read it
      closeSync(openSync(this.#path, "a", FILE_MODE))
      return new TextIndex(this.#path)
    } catch (error) {
      if (isFromSqlite(error) && isDamage(error)) throw error
      this.#isInMemory = true
      return new TextIndex(":memory:")
    }
  }

  get #path(): string {
    return join(this.#directory, INDEX_NAME)
  }

  #removeFile(): void {
    removeDatabase(this.#path)
  }

  async #catchUp(index: TextIndex): Promise<void> {
    const journals = await this.#journals()
    const marks = index.marks()
    for (const conversation of marks.keys()) if (!journals.has(conversation)) index.remove(conversation)
    for (const [conversation, bytes] of journals) {
      const mark = marks.get(conversation)
      if (mark === undefined || (JSON.parse(mark) as Mark).bytes !== bytes) await this.#read(index, conversation, mark)
    }
  }

  /** The conversations of the project and the sizes of their journals. */
  async #journals(): Promise<ReadonlyMap<string, number>> {
    const names = await readdir(this.#directory).catch(() => [] as string[])
    const ids = names.filter((name) => name.endsWith(EXTENSION)).map((name) => name.slice(0, -EXTENSION.length))
    const sizes = await Promise.all(
      ids.filter(isSafeId).map(async (id) => {
        // deleted since
        const file = await stat(this.#file(id)).catch(() => undefined)
        return file?.isFile() ? [[id, file.size] as const] : []
      }),
    )
    return new Map(sizes.flat())
  }

  #file(conversation: string): string {
    return join(this.#directory, conversation + EXTENSION)
  }

  async #read(index: TextIndex, conversation: string, mark: string | undefined): Promise<void> {
    const handle = await open(this.#file(conversation)).catch(() => undefined)
    if (!handle) return
    try {
      const { size } = await handle.stat()
      const known = mark === undefined ? undefined : (JSON.parse(mark) as Mark)
      const isContinued = known !== undefined && (await isStillThere(handle, known))
      let from = mark
      let isRestart = !isContinued
      let reached: Mark = isContinued ? known : { bytes: 0, last: 0, uuid: undefined }
      let passages: JournalPassage[] = []
      const store = () => {
        const to = JSON.stringify(reached)
        const isStored = index.extend({ source: conversation, passages, from, to, isRestart })
        from = to
        isRestart = false
        passages = []
        return isStored
      }
      for await (const { offset, bytes, ended } of scanLines(handle, reached.bytes, size)) {
        if (!ended) break // still being written
        const line = decodeLine(bytes)
        if (line.state === "whole") passages.push(...passagesOf(line.entry, this.#mask))
        reached = { bytes: offset + bytes.length + 1, last: offset, uuid: peekLine(bytes)?.uuid }
        if (passages.length >= BATCH && !store()) return
      }
      if (JSON.stringify(reached) !== from) store()
    } finally {
      await handle.close()
    }
  }
}

type Handle = Awaited<ReturnType<typeof open>>

/** A journal only grows. If it was replaced, its last known entry is no longer in its place. */
async function isStillThere(handle: Handle, { bytes, last, uuid }: Mark): Promise<boolean> {
  if (bytes === 0) return true
  for await (const line of scanLines(handle, last, bytes)) {
    return line.ended && line.offset + line.bytes.length + 1 === bytes && peekLine(line.bytes)?.uuid === uuid
  }
  return false
}

function foundInConversation({ passage, score, coverage, words }: Found): FoundInConversation {
  return {
    conversation: passage.source,
    message: passage.address!,
    speaker: passage.speaker === "user" ? "user" : "assistant",
    time: passage.time ?? "",
    text: passage.text,
    score,
    coverage,
    words,
  }
}

interface SqliteError extends Error {
  readonly errcode: number
}

const isFromSqlite = (error: unknown): error is SqliteError =>
  error instanceof Error && (error as { code?: unknown }).code === "ERR_SQLITE_ERROR"

const DAMAGE = new Set([1, 11, 26]) // SQLITE_ERROR (a table is missing), SQLITE_CORRUPT, SQLITE_NOTADB

/** The low byte is the error, the rest says more about it. */
const isDamage = ({ errcode }: SqliteError) => DAMAGE.has(errcode & 0xff)

/** Removes the index of a project's directory. The next search builds it again from the journals. */
export const removeJournalIndex = ({ root, project }: { readonly root: string; readonly project: string }): void =>
  removeDatabase(join(projectDirectory(root, project), INDEX_NAME))

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
}
