/** A journal on the server, open for writing or for reading only. Every write says which acquisition it belongs to. */

import { randomUUID } from "node:crypto"
import { ClosedError, type Entry, LockLostError, StrataError } from "@strata/core"
import { keyOf, Queue } from "@strata/core/base"
import { usableUsage } from "@strata/core/messages"
import {
  type AppendedLines,
  encodeLine,
  type InFlightLog,
  isBoundaryEntry,
  type Journal,
  type JournalAddress,
  type KeptRequests,
  type OpeningReport,
  type SentRequest,
} from "@strata/core/store"
import type { Database } from "./database.ts"
import { type Holder, type HolderRow, holderFrom } from "./holder.ts"
import { JournalReading } from "./journal-reading.ts"
import { listedIn } from "./listing.ts"
import { checkedBlobName, placeKey } from "./names.ts"

// Requests whose cost is not in the journal yet, noted on the server. No one waits for it: notes go out together, in their order.

interface InFlightParts {
  /** What earlier processes left: a list of texts, as JSON. */
  readonly sent: string | undefined
  /** Notes what was sent and what is over. */
  readonly note: (ids: readonly string[], requests: readonly string[], over: readonly string[]) => Promise<void>
}

export class InFlight implements InFlightLog, KeptRequests {
  readonly #note: InFlightParts["note"]
  #kept: readonly SentRequest[]
  readonly #sent = new Map<string, string>()
  readonly #over = new Set<string>()
  #noting: Promise<void> | undefined

  constructor({ sent, note }: InFlightParts) {
    this.#note = note
    this.#kept = sent === undefined ? [] : (JSON.parse(sent) as readonly string[]).flatMap(requestIn)
  }

  sent(request: SentRequest): void {
    this.#over.delete(request.id)
    this.#sent.set(request.id, JSON.stringify(request))
    this.#later()
  }

  over(id: string): void {
    this.#sent.delete(id)
    this.#over.add(id)
    this.#later()
  }

  unsettled(): readonly SentRequest[] {
    return this.#kept
  }

  clear(): void {
    for (const { id } of this.#kept) this.over(id)
    this.#kept = []
  }

  /** Resolves when nothing is left to note. */
  async settled(): Promise<void> {
    while (this.#noting) await this.#noting
  }

  /** What fails is lost: it is an estimate, and the conversation goes on. */
  #later(): void {
    this.#noting ??= Promise.resolve().then(async () => {
      const [sent, over] = [[...this.#sent], [...this.#over]]
      this.#sent.clear()
      this.#over.clear()
      await this.#note(
        sent.map(([id]) => id),
        sent.map(([, request]) => request),
        over,
      ).catch(() => undefined)
      this.#noting = undefined
      if (this.#sent.size + this.#over.size > 0) this.#later()
    })
  }
}

function requestIn(text: string): readonly SentRequest[] {
  const request = JSON.parse(text) as SentRequest
  return usableUsage(request.usage) ? [request] : []
}

/** What opening a journal found on the server. */
export interface OpenedJournal {
  readonly jid: number
  readonly bytes: number
  readonly tailAt: number
  /** Absent for a reader. */
  readonly fence?: number
  readonly created: boolean
  readonly tookOver: boolean
  /** The beginning of the tail, if it was asked for. */
  readonly lines?: Buffer
  readonly checkpoint?: Buffer
  readonly sent?: string
  readonly hasFirstWords: boolean
}

export interface PostgresJournalParts {
  readonly address: JournalAddress
  readonly location: string
  readonly database: Database
  readonly holder: Holder
  readonly opened: OpenedJournal
  /** With mode `always` every append waits for the disk of the server. */
  readonly flush: "always" | "turn" | "never"
  readonly onAppended: (appended: AppendedLines) => void
  readonly onClosed: () => void
}

const NOTHING_FOUND = {
  tornBytes: 0,
  repeatedLines: 0,
  bridged: 0,
  restored: 0,
  index: "used",
  checkpoint: "unread",
} as const

export class PostgresJournal extends JournalReading implements Journal {
  readonly address: JournalAddress
  readonly location: string
  readonly fence?: number
  readonly flushesItself: boolean
  readonly inFlight: InFlight
  resumed?: Awaited<ReturnType<Journal["resume"]>>
  readonly #parts: PostgresJournalParts
  #bytes: number
  #hasFirstWords: boolean
  /** Appends are made one after the other: each begins where the one before ended. */
  readonly #appends = new Queue()

  constructor(parts: PostgresJournalParts) {
    const { address, location, opened, flush, database, holder } = parts
    super({ database, tenant: holder.tenant, jid: opened.jid })
    this.#parts = parts
    this.address = address
    this.location = location
    if (opened.fence !== undefined) this.fence = opened.fence
    this.flushesItself = flush !== "turn"
    this.#bytes = opened.bytes
    this.#hasFirstWords = opened.hasFirstWords
    this.inFlight = new InFlight({
      sent: opened.sent,
      note: (...changes) => this.rows("in_flight_note", ...changes).then(() => undefined),
    })
  }

  get opening(): OpeningReport {
    const { created, tookOver } = this.#parts.opened
    return { ...NOTHING_FOUND, ...this.damage, created, tookOverLock: tookOver }
  }

  append(entries: readonly Entry[], { endsTurn = false } = {}): Promise<void> {
    return this.#appends.run(async () => {
      this.#mustBeWriter()
      if (entries.length === 0) return
      await this.#append(entries, this.#parts.flush === "always" || (this.#parts.flush === "turn" && endsTurn))
    })
  }

  async #append(entries: readonly Entry[], waits: boolean): Promise<void> {
    const lines = entries.map(encodeLine)
    for (const line of lines) checkSize("entry", line)
    const [bytes, from] = [Buffer.concat(lines), this.#bytes]
    const { facts, firstWords } = listedIn(entries, { hasFirstWords: this.#hasFirstWords })
    const state = await this.value<string>(
      "append",
      ...[...this.#right(), from, bytes],
      lines.map(({ length }) => length),
      Buffer.concat(entries.map(({ uuid }) => keyOf(uuid))),
      entries.flatMap((entry, at) => (isBoundaryEntry(entry) ? [at + 1] : [])),
      ...[facts, firstWords, waits],
    )
    if (state === "grown") throw grownError(`${this.address.project}/${this.address.id}`)
    if (state !== "written" && state !== "there") throw await this.#lost()
    this.#bytes = from + bytes.length
    this.#hasFirstWords ||= firstWords !== null
    this.#parts.onAppended({ conversation: this.address.id, from, bytes })
  }

  async sync(): Promise<void> {
    if (this.fence === undefined || this.flushesItself || this.isClosed) return
    await this.#appends.run(async () => {
      if (!(await this.value<boolean>("flush", ...this.#right()))) throw await this.#lost()
    })
  }

  /** What opening brought along. Call it once, before the journal is used. */
  async takeResumed(): Promise<this> {
    const { lines, checkpoint, tailAt, bytes } = this.#parts.opened
    this.resumed = await this.resumedFrom({
      first: tailAt,
      past: bytes,
      lines: lines ?? null,
      kept: checkpoint ?? null,
    })
    return this
  }

  async writeCheckpoint(value: unknown): Promise<void> {
    if (this.isClosed || this.fence === undefined) return // a reader changes nothing
    await this.value<boolean>("checkpoint_write", ...this.#right(), Buffer.from(JSON.stringify(value)))
  }

  async writeBlob(name: string, data: string | Uint8Array): ReturnType<Journal["writeBlob"]> {
    this.#mustBeWriter()
    const bytes = Buffer.from(data)
    checkSize("stored result", bytes)
    const { database, flush } = this.#parts
    const given = [...this.#call(), checkedBlobName(name), bytes, flush === "always"]
    if (!(await database.value<boolean>("blob_write", ...given))) throw await this.#lost()
    return { location: `${this.location}/${name}`, bytes: bytes.length }
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return (await this.value<Buffer | null>("blob_read", checkedBlobName(name))) ?? undefined
  }

  async readNotes(): Promise<string | undefined> {
    return (await this.value<Buffer | null>("notes_read"))?.toString("utf8")
  }

  async writeNotes(text: string, expected?: string | null): Promise<boolean> {
    this.#mustBeWriter()
    const bytes = Buffer.from(text.toWellFormed())
    checkSize("text of notes", bytes)
    const before = typeof expected === "string" ? Buffer.from(expected) : null
    const given = [...this.#call(), bytes, expected === undefined, before]
    const state = await this.#parts.database.value<string>("notes_write", ...given)
    if (state === "lost") throw await this.#lost()
    return state === "written"
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    const { onClosed } = this.#parts
    await this.#appends.run(async () => {
      if (this.isClosed) return
      this.isClosed = true
      try {
        await this.inFlight.settled()
        const { holder, opened } = this.#parts
        if (this.fence !== undefined) await holder.giveBack("close", holder.tenant, opened.jid, ...this.#right())
      } finally {
        onClosed()
      }
    })
  }

  /** Who may write: the process, and the number of its acquisition. */
  #right(): readonly [string, number] {
    return [this.#parts.holder.id, this.fence ?? -1]
  }

  /** What a write begins with that is known by its own id: made again, it writes nothing. */
  #call(): readonly unknown[] {
    const { holder, opened } = this.#parts
    return [holder.tenant, randomUUID(), opened.jid, ...this.#right()]
  }

  #mustBeWriter(): void {
    if (this.isClosed || this.fence === undefined) throw new ClosedError()
  }

  async #lost(): Promise<LockLostError> {
    const { project, id } = this.address
    const { database, holder: own } = this.#parts
    const key = [own.tenant, ...placeKey(this.address), id]
    const [found] = await database.rows<HolderRow>("writer", ...key).catch(() => [])
    const holder = found && holderFrom(found, own)
    return new LockLostError(`${project}/${id}`, holder ? { holder } : {})
  }
}

/** The driver reads bytes as one text, up to four letters for each, and ends the process where that is longer than a text can be. */
const MAX_VALUE_BYTES = 120 * 1024 * 1024

function checkSize(what: string, { length }: Uint8Array): void {
  if (length <= MAX_VALUE_BYTES) return
  throw new StrataError(
    `A ${what} of ${Math.ceil(length / 1024 ** 2)} MB is too large for PostgreSQL, which takes ${MAX_VALUE_BYTES / 1024 ** 2} MB at most here. Nothing was written. Store it in parts, or elsewhere.`,
    { code: "too-large" },
  )
}

/** Only this process writes, so it is a write of its own that was given up before its answer came. */
const grownError = (name: string) =>
  new StrataError(
    `${name} does not end where this process left it: an earlier write, whose answer did not come, was made after all, or lost with the server. This write was not made, and everything acknowledged is kept. Close the conversation here and open it again: then it continues from what is there.`,
    { code: "journal-grown" },
  )
