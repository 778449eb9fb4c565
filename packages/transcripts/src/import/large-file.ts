/**
 * Reads a transcript that is too large for memory line by line. The content of its messages goes to a temporary file until the journal has
 * it. Memory holds only the links between messages: about a kilobyte for each, whatever its size.
 */
import { randomUUID } from "node:crypto"
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { Uuid } from "@strata/core"
import { formatNumber, ImportError, usableMemory } from "@strata/core/base"
import type { Message } from "@strata/core/messages"
import { parseExact, stringifyExact } from "@strata/core/messages"

const CHUNK = 1024 * 1024 // bytes per read
const MIN_SPILLED_CHARACTERS = 100 // shorter texts stay in memory
const HEAD = 256 * 1024 // bytes of complete lines, for recognizing the format

/** Shares of the memory that this process may use. Parsing a text takes about eight times its size. */
const LARGE_SHARE = 1 / 32 // larger files are read line by line, where the format allows it
const WHOLE_SHARE = 1 / 8
const LINE_SHARE = 1 / 8
const MESSAGES_SHARE = 1 / 2
const MESSAGE_BYTES = 1_000 // memory per message, without its content

export const isLarge = (bytes: number): boolean => bytes > usableMemory() * LARGE_SHARE
export const canBeWhole = (bytes: number): boolean => bytes <= usableMemory() * WHOLE_SHARE

/** The error for a file that does not fit in memory. */
export const tooLarge = (what: string): ImportError =>
  new ImportError(
    `${what} than ${formatNumber(Math.round(usableMemory() / 1024 / 1024))} MB of memory can hold. Nothing was imported. Allow more memory: NODE_OPTIONS=--max-old-space-size=8192 (in MB).`,
  )

export class LargeFile {
  readonly #path: string
  readonly #spill: number
  #spilled = 0
  #messages = 0
  #newest: Uuid | undefined
  #session: string | undefined

  constructor(path: string) {
    this.#path = path
    const spill = join(tmpdir(), `strata-import-${randomUUID()}`)
    this.#spill = openSync(spill, "wx+", 0o600)
    rmSync(spill, { force: true }) // the open file is deleted with its last reader
    closing.register(this, this.#spill)
  }

  /** The first complete lines, up to `HEAD` characters. */
  head(): string {
    let text = ""
    for (const line of this.lines()) {
      if (text.length + line.length > HEAD) break
      text += `${line}\n`
    }
    return text
  }

  /** The lines without their ends. */
  *lines(): Generator<string> {
    const max = usableMemory() * LINE_SHARE
    const file = openSync(this.#path, "r")
    try {
      const chunk = Buffer.alloc(CHUNK)
      let parts: Buffer[] = []
      let bytes = 0
      let number = 1
      for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
        let from = 0
        for (let end = chunk.indexOf(NEWLINE, from); end >= 0 && end < read; end = chunk.indexOf(NEWLINE, from)) {
          yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString()
          parts = []
          bytes = 0
          number++
          from = end + 1
        }
        bytes += read - from
        if (bytes > max) throw tooLarge(`Line ${formatNumber(number)} of ${basename(this.#path)} is longer`)
        if (from < read) parts.push(Buffer.from(chunk.subarray(from, read)))
      }
      if (bytes > 0) yield Buffer.concat(parts).toString()
    } finally {
      closeSync(file)
    }
  }

  /** Moves the content of a message to the temporary file. The returned message reads it again on each access. */
  spill(message: Message): Message {
    if (++this.#messages * MESSAGE_BYTES > usableMemory() * MESSAGES_SHARE)
      throw tooLarge(`${basename(this.#path)} has more messages`)
    const place = { ...message, ...this.#shared(message) } as Message
    switch (place.type) {
      case "user":
      case "assistant":
        return { ...place, message: this.#spilledFields(place.message) } as Message
      case "attachment":
        return { ...place, attachment: this.#spilledFields(place.attachment) }
      case "progress":
        return { ...place, data: this.#spilledFields(place.data) }
      default:
        return place
    }
  }

  /** Shares equal strings between messages: the parent's uuid and the session id. */
  #shared({ uuid, parentUuid, sessionId }: Message): Partial<Message> {
    const before = this.#newest
    this.#newest = uuid
    if (sessionId !== undefined && sessionId !== this.#session) this.#session = sessionId
    return {
      ...(parentUuid !== null && parentUuid === before ? { parentUuid: before } : {}),
      ...(sessionId === undefined ? {} : { sessionId: this.#session! }),
    }
  }

  /**
   * Replaces long values by getters that read them from the temporary file. The message's own fields stay, because copying the message
   * would read them all.
   */
  #spilledFields<T>(holder: T): T {
    if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return holder
    const rest = {} as Record<string, unknown>
    let all = 0
    for (const [key, value] of Object.entries(holder)) {
      const text = value === undefined ? "" : stringifyExact(value)
      if (text.length < MIN_SPILLED_CHARACTERS) {
        rest[key] = value === undefined ? value : parseExact(text) // a substring of a line would keep the complete line in memory
        continue
      }
      const at = this.#spilled
      const { length } = this.#write(text)
      all += length
      Object.defineProperty(rest, key, { enumerable: true, get: () => parseExact(this.#read(at, length)) })
    }
    sizes.set(rest, all)
    return rest as T
  }

  #write(text: string): Buffer {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#spill, bytes, written, bytes.length - written, this.#spilled + written)
    this.#spilled += bytes.length
    return bytes
  }

  #read(at: number, length: number): string {
    const bytes = Buffer.alloc(length)
    for (let read = 0; read < length; ) read += readSync(this.#spill, bytes, read, length - read, at + read)
    return bytes.toString()
  }
}

const NEWLINE = 10
const closing = new FinalizationRegistry<number>((file) => closeSync(file))
const sizes = new WeakMap<object, number>()

/** Bytes that the content of an entry takes once it is read again. */
export function spilledBytes(entry: object): number {
  const { message, attachment, data } = entry as Readonly<Record<string, unknown>>
  const holder = message ?? attachment ?? data
  return typeof holder === "object" && holder !== null ? (sizes.get(holder) ?? 0) : 0
}
