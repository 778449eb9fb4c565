/**
 * Collects the output of a process within limits. The beginning and the end are held in memory. Long output is written to a file if a
 * directory is set. The returned text is safe for requests: well-formed, without control characters.
 */

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { formatNumber } from "../../../base/text.ts"

export interface OutputLimits {
  /** Maximum characters of beginning and end together. */
  readonly characters: number
  /** Directory for files with longer output. */
  readonly directory?: string
  /** Maximum characters of a file. Default: 64 million. */
  readonly fileCharacters?: number
  /** Name of the file. */
  readonly name?: string
}

/** The output since the last `take`. */
export interface OutputChunk {
  readonly text: string
  /** Number of characters omitted in the middle. */
  readonly omitted: number
  readonly file?: string
}

const MAX_FILE_CHARACTERS = 64 * 1024 * 1024 // limit for endless commands, which must not fill the disk
const LINE_END_WITHIN = 500 // a cut is moved to a line end within this many characters

export class BoundedOutput {
  readonly #limits: OutputLimits
  readonly #half: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #start = ""
  #end = ""
  #characters = 0
  #spill: Spill | undefined
  #files = 0

  constructor(limits: OutputLimits) {
    this.#limits = limits
    this.#half = Math.ceil(limits.characters / 2)
  }

  /** Appends output and returns it as text. A character that is split between chunks is completed by the next chunk. */
  append(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true })
    this.#add(text)
    return text
  }

  /** Called when the process has ended. An incomplete last character becomes a replacement character. */
  finish(): void {
    this.#add(this.#decoder.decode())
  }

  /** Returns the output since the last call, and resets it. */
  take(): OutputChunk {
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
      this.#spill = new Spill(join(directory, `${name}-${++this.#files}.txt`), fileCharacters)
      this.#spill.write(this.#start + this.#end)
    }
    if (this.#end.length > 2 * this.#half) this.#end = this.#end.slice(-this.#half)
  }
}

interface SpillFile {
  readonly path: string
  /** Length of the file, if the output was longer. */
  readonly cutAt?: number
}

/** Writes output to a file, up to a limit. If the disk is full, the file is lost but the command continues. */
class Spill {
  readonly #path: string
  #file: number | undefined
  readonly #max: number
  #remaining: number

  constructor(path: string, max: number) {
    this.#path = path
    this.#max = max
    this.#remaining = max
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
      if (this.#remaining > 0) writeSync(this.#file, text.slice(0, this.#remaining))
      this.#remaining -= text.length
    } catch {
      this.close()
    }
  }

  /** Closes the file. Returns its path if it could be written. */
  close(): SpillFile | undefined {
    if (this.#file === undefined) return undefined
    closeSync(this.#file)
    this.#file = undefined
    return { path: this.#path, ...(this.#remaining < 0 ? { cutAt: this.#max } : {}) }
  }
}

/** Removes terminal escape sequences. Other control characters become visible symbols (NUL becomes ␀). */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}--[\t\n\r]]/gv, (character) => {
      const code = character.charCodeAt(0)
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u{FFFD}"
    })
    .toWellFormed()
}

function omissionNote(omitted: number, spilled: SpillFile | undefined): string {
  const { path, cutAt } = spilled ?? {}
  const content = cutAt === undefined ? "the whole output is" : `the first ${formatNumber(cutAt)} characters of all are`
  const where = path === undefined ? "" : `; ${content} in ${path}`
  return `[… ${formatNumber(omitted)} characters left out here${where} …]`
}

function cutAtLastLine(text: string): string {
  const at = text.lastIndexOf("\n")
  return at >= text.length - LINE_END_WITHIN && at > 0 ? text.slice(0, at) : text
}

function cutAtFirstLine(text: string): string {
  const at = text.indexOf("\n")
  return at >= 0 && at < LINE_END_WITHIN && at < text.length - 1 ? text.slice(at + 1) : text
}
