/**
 * The full-text index of a project's transcripts, in Strata's own directory, or in memory if the store has no files. It is updated
 * incrementally, newest transcripts first, and only new content of grown ones is read. It can always be rebuilt.
 */
import { createHash } from "node:crypto"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { setImmediate } from "node:timers/promises"
import { maskSecrets } from "@strata/core/base"
import { handleOf } from "@strata/core/messages"
import {
  type BlockText,
  type JournalQuestion,
  type JournalSearchResult,
  PersistentIndex,
  splitBlock,
} from "@strata/core/recall"
import { DIRECTORY_MODE } from "@strata/core/store"
import type { Transcript } from "../project-transcripts.ts"
import type { TranscriptReader } from "./read-transcripts.ts"

const BATCH = 100 // passages per transaction: about 20 ms, after which other work can run
/**
 * Strata's own tool under the names that programs give it: `mcp__strata__recall`, `strata_recall`. Its results are already in the index.
 */
const OWN_TOOL = /(?:^|[^A-Za-z])recall$/i

/** How far a transcript was read. `mark` is empty until it was read completely. */
interface ReadState {
  readonly mark: string
  readonly texts: number
  readonly digest: string
}

export class TranscriptIndex {
  readonly #index: PersistentIndex
  readonly #reader: TranscriptReader

  /** `path`: a file for the index. Default: in memory. */
  constructor({ path, reader }: { readonly path?: string; readonly reader: TranscriptReader }) {
    this.#index = new PersistentIndex(path)
    this.#reader = reader
    if (path === undefined) return
    try {
      mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
    } catch {
      // falls back to an index in memory
    }
  }

  /**
   * Indexes new content, newest transcript first. Returns whether it finished. `all`: transcripts that are not in this list are removed
   * from the index.
   */
  async update(
    transcripts: readonly Transcript[],
    { isLate = () => false, all }: { readonly isLate?: () => boolean; readonly all?: readonly Transcript[] } = {},
  ): Promise<boolean> {
    if (all) this.#removeOthers(new Set(all.map(({ path }) => path)))
    let isThrough = true
    for (const transcript of transcripts) {
      if (this.has(transcript)) continue
      if (isLate()) return false
      isThrough = (await this.#read(transcript, isLate)) && isThrough
    }
    return isThrough
  }

  /** Whether the current version of a transcript is completely indexed. */
  has({ path, mark }: Transcript): boolean {
    return reachedIn(this.#mark(path))?.mark === mark
  }

  search({ around = 0, ...question }: JournalQuestion): JournalSearchResult {
    return this.#index.ask((index) => {
      const { found, ...answer } = index.search(question)
      const neighbors = index.around(found, around)
      const withAround = found.map((one, at) => (neighbors[at] ? { ...one, around: neighbors[at] } : one))
      return { ...answer, found: withAround }
    })
  }

  /** Paths of transcripts with a message that has this handle or uuid. */
  pathsWith(message: string): ReadonlySet<string> {
    return this.#index.ask((index) => index.sourcesWith((uuid) => uuid === message || handleOf(uuid) === message))
  }

  close(): void {
    this.#index.close()
  }

  #mark(path: string): string | undefined {
    return this.#index.ask((index) => index.positions().get(path))
  }

  #removeOthers(paths: ReadonlySet<string>): void {
    this.#index.ask((index) => {
      for (const path of [...index.positions().keys()]) if (!paths.has(path)) index.remove(path)
    })
  }

  /** Returns whether the transcript was read completely. */
  async #read(transcript: Transcript, isLate: () => boolean): Promise<boolean> {
    const texts = (await this.#reader.read(transcript)).texts()
    let from = this.#mark(transcript.path)
    const known = reachedIn(from)
    const digest = createHash("sha1")
    for (const text of texts.slice(0, known?.texts ?? 0)) digest.update(markOf(text))
    const isContinued = known !== undefined && digest.copy().digest("base64") === known.digest
    const running = isContinued ? digest : createHash("sha1")
    let done = isContinued ? known.texts : 0
    let isRestart = !isContinued
    while (true) {
      const passages = []
      while (passages.length < BATCH && done < texts.length) {
        const text = texts[done++]!
        running.update(markOf(text))
        if (!OWN_TOOL.test(text.label ?? "")) passages.push(...splitBlock(text, maskSecrets))
      }
      const isAll = done === texts.length
      const reached: ReadState = {
        mark: isAll ? transcript.mark : "",
        texts: done,
        digest: running.copy().digest("base64"),
      }
      const to = JSON.stringify(reached)
      const extension = { source: transcript.path, passages, from, to, isRestart }
      if (!this.#index.ask((index) => index.extend(extension))) return false // another process is indexing it
      if (isAll) return true
      from = to
      isRestart = false
      if (isLate()) return false
      await setImmediate() // lets other work run
    }
  }
}

const markOf = ({ uuid, blocks, text }: BlockText): string => `${uuid}.${blocks.join(".")} ${text.length}\n`

const reachedIn = (mark: string | undefined): ReadState | undefined =>
  mark === undefined ? undefined : (JSON.parse(mark) as ReadState)
