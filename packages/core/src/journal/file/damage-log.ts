/**
 * What was found damaged in a journal file. Each place is reported once, and its bytes are copied to a file of their own once, however
 * often the journal is opened. The journal keeps them too.
 */
import { open } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { LockLostError } from "../../base/errors.ts"
import type { DamagedLine, DamageFound } from "../damage.ts"
import type { Fence } from "./fence.ts"
import { FILE_MODE } from "./layout.ts"
import { scanLines } from "./scan.ts"

const MOST_PLACES = 100 // that a report lists; the rest are counted
const WAITING_BYTES = 8 << 20 // copied in one write
const PIECE_BYTES = 16 << 20 // of one record: longer bytes are split

export type DamageListener = (found: DamageFound) => void

export class DamageLog {
  readonly #path: string
  /** Absent: nothing is copied. */
  #fence: Fence | undefined
  readonly #places: DamagedLine[] = []
  readonly #offsets = new Set<number>()
  readonly #listeners: DamageListener[] = []
  /** Found since the listeners were last called. */
  #news: { first: DamagedLine; count: number } | undefined
  #waiting: { readonly offset: number; readonly content: Buffer }[] = []
  #records: string[] = []
  #waitingBytes = 0
  /** What the file holds already. Read when the first damage is found. */
  #copied: Set<string> | undefined
  #isUsed = false

  constructor(path: string, fence: Fence | undefined) {
    this.#path = path
    this.#fence = fence
  }

  get places(): readonly DamagedLine[] {
    return this.#places
  }

  get count(): number {
    return this.#offsets.size
  }

  /** Where the bytes were copied to. */
  get setAside(): string | undefined {
    return this.#isUsed ? this.#path : undefined
  }

  /** Calls back after each reading that found something. */
  listen(listener: DamageListener): void {
    this.#listeners.push(listener)
  }

  /** A place that is known is not reported again. */
  add({ line, offset, bytes, why, isLost }: DamagedLine, content: Buffer): void {
    if (this.#offsets.has(offset)) return
    this.#offsets.add(offset)
    this.keep(offset, content)
    const damage = { line, offset, bytes, why, isLost }
    if (this.#places.length < MOST_PLACES) this.#places.push(damage)
    this.#news = { first: this.#news?.first ?? damage, count: (this.#news?.count ?? 0) + 1 }
  }

  /** Remembers bytes that are to be copied. */
  keep(offset: number, content: Buffer): void {
    if (this.#fence === undefined) return
    this.#waiting.push({ offset, content })
    this.#waitingBytes += content.length
  }

  /** Whether so much waits that it should be written before more is read. */
  get isFull(): boolean {
    return this.#waitingBytes >= WAITING_BYTES
  }

  /** Call it at the end of a reading. */
  async report(): Promise<void> {
    await this.write()
    const news = this.#news
    this.#news = undefined
    if (!news) return
    const found = { ...news, ...(this.setAside === undefined ? {} : { setAside: this.setAside }) }
    for (const listener of this.#listeners) listener(found)
  }

  async write(): Promise<void> {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isUsed = true
    this.#copied ??= await copiedBefore(this.#path)
    for (const { offset, content } of waiting) await this.#copy(offset, content)
    await this.#writeRecords()
  }

  async #copy(offset: number, content: Buffer): Promise<void> {
    for (let start = 0; start < content.length; start += PIECE_BYTES) {
      const piece = content.subarray(start, start + PIECE_BYTES)
      const place = { offset: offset + start, length: piece.length, crc: crc32(piece) }
      const key = keyOf(place)
      if (this.#copied!.has(key)) continue
      this.#copied!.add(key)
      // a stretch of zeros, as power losses leave it, is described
      const bytes = isZero(piece) ? '"zeros":true' : `"base64":"${piece.toString("base64")}"`
      this.#records.push(`{"offset":${place.offset},"length":${place.length},"crc":${place.crc},${bytes}}\n`)
      if (piece.length === PIECE_BYTES) await this.#writeRecords()
    }
  }

  async #writeRecords(): Promise<void> {
    const text = this.#records.join("")
    this.#records = []
    if (text === "") return
    const file = await open(this.#path, "a", FILE_MODE)
    try {
      this.#fence?.check("set-aside") // after the opening: from now on it is this owner's file
      await file.appendFile(text)
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error
      this.#fence = undefined // the new owner copies what it finds, and reading goes on
    } finally {
      await file.close()
    }
  }
}

const keyOf = ({ offset, length, crc }: { offset: number; length: number; crc: number }) => `${offset} ${length} ${crc}`

const isZero = (bytes: Buffer) => bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1))

async function copiedBefore(path: string): Promise<Set<string>> {
  const copied = new Set<string>()
  const handle = await open(path, "r").catch(() => undefined) // none yet
  if (!handle) return copied
  try {
    const { size } = await handle.stat()
    for await (const { bytes } of scanLines(handle, 0, size)) {
      const front = bytes.toString("latin1", 0, Math.min(bytes.length, 100))
      const match = /^\{"offset":(\d+),"length":(\d+),"crc":(\d+)/.exec(front)
      if (match) copied.add(`${match[1]} ${match[2]} ${match[3]}`)
    }
  } finally {
    await handle.close()
  }
  return copied
}
