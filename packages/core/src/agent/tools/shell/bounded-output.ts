/**
 * The output of a process, however long. The start and the end stay in memory. The whole goes to a file if there is a directory for it.
 * The text it returns is safe in a request: well-formed, without control characters.
 */

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { grouped } from "../../../base/text.ts"

export interface OutputLimits {
  /** For the start and the end together. */
  readonly characters: number
  /** Longer output is kept whole in this directory. */
  readonly directory?: string
  /** The most that a file there gets. Default: 64 million. */
  readonly fileCharacters?: number
  /** Names the file. */
  readonly name?: string
}

/** The output since the last `take`. */
export interface OutputPiece {
  readonly text: string
  /** Characters left out in the middle. */
  readonly omitted: number
  readonly file?: string
}

const MAX_FILE_CHARACTERS = 64 * 1024 * 1024 // an endless command must not fill the disk
const LINE_END_WITHIN = 500 // a cut moves to a line end that is at most this many characters away

export class BoundedOutput {
  readonly #limits: OutputLimits
  readonly #half: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #start = ""
  #end = ""
  #characters = 0
  #spill: Spill | undefined
  #pieces = 0

  constructor(limits: OutputLimits) {
    this.#limits = limits
    this.#half = Math.ceil(limits.characters / 2)
  }

  /** Adds what the process wrote and returns it as text. A character that is split between chunks waits for its rest. */
  append(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true })
    this.#add(text)
    return text
  }

  /** The process has ended. An incomplete last character becomes a replacement character. */
  finish(): void {
    this.#add(this.#decoder.decode())
  }

  /** Returns the output since the last call, and starts over. */
  take(): OutputPiece {
    const omitted = Math.max(0, this.#characters - 2 * this.#half)
    const spilled = this.#spill?.close()
    const text =
      omitted === 0
        ? safeText(this.#start + this.#end)
        : [
            safeText(cutAtLastLine(this.#start)),
            omissionNote(omitted, spilled),
            safeText(cutAtFirstLine(this.#end.slice(-this.#half))),
          ].join("\n")
    this.#start = this.#end = ""
    this.#characters = 0
    this.#spill = undefined
    return { text, omitted, ...(spilled === undefined ? {} : { file: spilled.path }) }
  }

  #add(text: string): void {
    const room = Math.max(0, this.#half - this.#start.length)
    this.#start += text.slice(0, room)
    this.#end += text.slice(room)
    this.#characters += text.length
    if (this.#characters <= 2 * this.#half) return
    if (this.#spill) this.#spill.write(text)
    else if (this.#limits.directory !== undefined) {
      const { directory, name = "output", fileCharacters = MAX_FILE_CHARACTERS } = this.#limits
      this.#spill = new Spill(join(directory, `${name}-${++this.#pieces}.txt`), fileCharacters)
      this.#spill.write(this.#start + this.#end)
    }
    if (this.#end.length > 2 * this.#half) this.#end = this.#end.slice(-this.#half)
  }
}

interface Spilled {
  readonly path: string
  /** The characters it has, if the output was longer. */
  readonly cutAt?: number
}

/** The whole output on disk, up to a limit. On a full disk the file is lost, never the command. */
class Spill {
  readonly #path: string
  #file: number | undefined
  readonly #max: number
  #left: number

  constructor(path: string, max: number) {
    this.#path = path
    this.#max = max
    this.#left = max
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      this.#file = openSync(this.#path, "w", 0o600)
    } catch {
      this.#file = undefined
    }
  }

  /** Writes synchronously, so that a fast command is slowed down instead of filling memory. */
  write(text: string): void {
    if (this.#file === undefined) return
    try {
      if (this.#left > 0) writeSync(this.#file, text.slice(0, this.#left))
      this.#left -= text.length
    } catch {
      this.close()
    }
  }

  /** Where it is, if the file could be written. */
  close(): Spilled | undefined {
    if (this.#file === undefined) return undefined
    closeSync(this.#file)
    this.#file = undefined
    return { path: this.#path, ...(this.#left < 0 ? { cutAt: this.#max } : {}) }
  }
}

/** Removes colours and cursor movements. Other control characters become visible symbols (NUL becomes ␀). */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}--[\t\n\r]]/gv, (character) => {
      const code = character.charCodeAt(0)
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u{FFFD}"
    })
    .toWellFormed()
}

function omissionNote(omitted: number, spilled: Spilled | undefined): string {
  const { path, cutAt } = spilled ?? {}
  const what = cutAt === undefined ? "the whole output is" : `the first ${grouped(cutAt)} characters of all are`
  const where = path === undefined ? "" : `; ${what} in ${path}`
  return `[… ${grouped(omitted)} characters left out here${where} …]`
}

function cutAtLastLine(text: string): string {
  const at = text.lastIndexOf("\n")
  return at >= text.length - LINE_END_WITHIN && at > 0 ? text.slice(0, at) : text
}

function cutAtFirstLine(text: string): string {
  const at = text.indexOf("\n")
  return at >= 0 && at < LINE_END_WITHIN && at < text.length - 1 ? text.slice(at + 1) : text
}
