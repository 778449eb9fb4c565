/** A journal on the server, open for writing or for reading only. Every write includes the number of its acquisition. */

import { randomUUID } from "node:crypto"
import { ClosedError, type Entry, LockLostError, StrataError } from "@strata/core"
import { SerialQueue, uuidKey } from "@strata/core/base"
import { usableUsage } from "@strata/core/messages"
import {
  type AppendedLines,
  encodeLine,
  type InFlightLog,
  isBoundaryEntry,
  type Journal,
  type JournalAddress,
  type OpeningReport,
  type SentRequest,
  type UnsettledRequests,
} from "@strata/core/store"
import type { Database } from "./database.ts"
import { JournalReader } from "./journal-reader.ts"
import { extractListingFacts } from "./listing.ts"
import { journalNamespaceKey, validateBlobName } from "./names.ts"
import { type LeaseOwnerRow, leaseOwner, type ProcessLease } from "./process-lease.ts"

// Requests whose cost is not in the journal yet, recorded on the server. Nothing waits for these writes: they are sent in batches, in
// order.

interface InFlightOptions {
  /** Requests of earlier processes: a list of texts, as JSON. */
  readonly sent: string | undefined
  /** Records sent requests, and ids of finished ones. */
  readonly note: (ids: readonly string[], requests: readonly string[], over: readonly string[]) => Promise<void>
}

export class InFlight implements InFlightLog, UnsettledRequests {
  readonly #note: InFlightOptions["note"]
  #earlier: readonly SentRequest[]
  readonly #sent = new Map<string, string>()
  readonly #over = new Set<string>()
  #noting: Promise<void> | undefined

  constructor({ sent, note }: InFlightOptions) {
    this.#note = note
    this.#earlier = sent === undefined ? [] : (JSON.parse(sent) as readonly string[]).flatMap(requestIn)
  }

  sent(request: SentRequest): void {
    this.#over.delete(request.id)
    this.#sent.set(request.id, JSON.stringify(request))
    this.#later()
  }

  finished(id: string): void {
    this.#sent.delete(id)
    this.#over.add(id)
    this.#later()
  }

  unsettled(): readonly SentRequest[] {
    return this.#earlier
  }

  clear(): void {
    for (const { id } of this.#earlier) this.finished(id)
    this.#earlier = []
  }

  /** Resolves when no record is pending. */
  async settled(): Promise<void> {
    while (this.#noting) await this.#noting
  }

  /** A failed record is lost: it is only an estimate, and the conversation continues. */
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

/** The result of opening a journal on the server. */
export interface OpenedJournal {
  readonly jid: number
  readonly bytes: number
  readonly tailAt: number
  /** Absent for a reader. */
  readonly fence?: number
  readonly created: boolean
  readonly tookOver: boolean
  /** The beginning of the tail, if it was requested. */
  readonly lines?: Buffer
  readonly checkpoint?: Buffer
  readonly sent?: string
  readonly hasFirstWords: boolean
}

export interface PostgresJournalOptions {
  readonly address: JournalAddress
  readonly location: string
  readonly database: Database
  readonly holder: ProcessLease
  readonly opened: OpenedJournal
  /** With mode `always` every append waits for the server's disk. */
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

export class PostgresJournal extends JournalReader implements Journal {
  readonly address: JournalAddress
  readonly location: string
  readonly fence?: number
  readonly flushesItself: boolean
  readonly inFlight: InFlight
  preloaded?: Awaited<ReturnType<Journal["resume"]>>
  readonly #parts: PostgresJournalOptions
  #bytes: number
  #hasFirstWords: boolean
  /** Appends are serial: each begins at the end of the one before. */
  readonly #appends = new SerialQueue()

  constructor(parts: PostgresJournalOptions) {
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
    const { facts, firstWords } = extractListingFacts(entries, { hasFirstWords: this.#hasFirstWords })
    const state = await this.value<string>(
      "append",
      ...[...this.#right(), from, bytes],
      lines.map(({ length }) => length),
      Buffer.concat(entries.map(({ uuid }) => uuidKey(uuid))),
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

  /** Decodes the lines that opening returned. Call it once, before the journal is used. */
  async decodePreloaded(): Promise<this> {
    const { lines, checkpoint, tailAt, bytes } = this.#parts.opened
    this.preloaded = await this.parseResume({
      first: tailAt,
      past: bytes,
      lines: lines ?? null,
      kept: checkpoint ?? null,
    })
    return this
  }

  async writeCheckpoint(value: unknown): Promise<void> {
    if (this.isClosed || this.fence === undefined) return // readers write nothing
    await this.value<boolean>("checkpoint_write", ...this.#right(), Buffer.from(JSON.stringify(value)))
  }

  async writeBlob(name: string, data: string | Uint8Array): ReturnType<Journal["writeBlob"]> {
    this.#mustBeWriter()
    const bytes = Buffer.from(data)
    checkSize("stored result", bytes)
    const { database, flush } = this.#parts
    const given = [...this.#call(), validateBlobName(name), bytes, flush === "always"]
    if (!(await database.value<boolean>("blob_write", ...given))) throw await this.#lost()
    return { location: `${this.location}/${name}`, bytes: bytes.length }
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    return (await this.value<Buffer | null>("blob_read", validateBlobName(name))) ?? undefined
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
        if (this.fence !== undefined) await holder.release("close", holder.tenant, opened.jid, ...this.#right())
      } finally {
        onClosed()
      }
    })
  }

  /** The credentials of a writer: the process, and the number of its acquisition. */
  #right(): readonly [string, number] {
    return [this.#parts.holder.id, this.fence ?? -1]
  }

  /** The first arguments of a write with an id of its own: repeating the call writes nothing. */
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
    const key = [own.tenant, ...journalNamespaceKey(this.address), id]
    const [found] = await database.rows<LeaseOwnerRow>("writer", ...key).catch(() => [])
    const holder = found && leaseOwner(found, own)
    return new LockLostError(`${project}/${id}`, holder ? { holder } : {})
  }
}

/**
 * The driver decodes bytes as one text with up to four characters per byte, and the process would crash if that exceeded the maximum string
 * length.
 */
const MAX_VALUE_BYTES = 120 * 1024 * 1024

function checkSize(what: string, { length }: Uint8Array): void {
  if (length <= MAX_VALUE_BYTES) return
  throw new StrataError(
    `A ${what} of ${Math.ceil(length / 1024 ** 2)} MB is too large for PostgreSQL: the limit is ${MAX_VALUE_BYTES / 1024 ** 2} MB. Nothing was written. Store it in parts, or elsewhere.`,
    { code: "too-large" },
  )
}

/** This process is the only writer, so the additional bytes come from a write of its own that had timed out. */
const grownError = (name: string) =>
  new StrataError(
    `${name} does not end where this process left it: an earlier write, whose answer did not come, was made after all, or lost with the server. This write was not made, and everything acknowledged is kept. Close the conversation here and open it again: then it continues from what is there.`,
    { code: "journal-grown" },
  )
