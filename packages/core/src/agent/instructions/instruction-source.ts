/**
 * Reads the files that instructions are made of, within limits. Each file is read once for one look at the project, whatever imports it.
 * Anything that may not be read, or is not plain text, is left out and reported.
 */
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { type Clock, systemClock } from "../../base/clock.ts"
import { isInside } from "../permissions/permissions.ts"

/** Of one instruction file with its imports, and of all that are attached at once. */
export const MAX_CHARACTERS = 40_000
export const MAX_IMPORTS = 100 // for one look at the project
const MAX_MS = 2_000 // for following imports, in one look at the project
const MAX_BYTES = 4 * MAX_CHARACTERS // no character takes more in UTF-8

export interface SourceOptions {
  /** Where the project's files must be, links followed. */
  readonly project: string
  /** Whether the rules for Read let a file be read without a question. Paths are absolute, with symlinks followed. */
  readonly mayRead: (path: string) => boolean
  /** Takes a sentence for the person. */
  readonly report?: (problem: string) => void
  readonly clock?: Clock
}

/** Whose file it is. The person's own may name any file; a project's files stay inside the project. */
export type Owner = "person" | "project"

export type Source =
  | { readonly path: string; readonly text: string; readonly isCut: boolean; readonly modifiedMs: number }
  | undefined

export class InstructionSource {
  readonly #options: SourceOptions
  readonly #read = new Map<string, Promise<Source>>()
  readonly #started: number
  #imports = 0

  constructor(options: SourceOptions) {
    this.#options = options
    this.#started = this.#now()
  }

  /** `name` is how reports call the file. */
  async read(path: string, { owner, name }: { readonly owner: Owner; readonly name: string }): Promise<Source> {
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) return undefined
    if (owner === "project" && !isInside(real, this.#options.project))
      return this.#leaveOut(`${name}, which is outside the project`)
    if (!this.#options.mayRead(real)) return this.#leaveOut(`${name}, which Read may not read without a question`)
    const reading = this.#read.get(real) ?? this.#readFile(real, name)
    this.#read.set(real, reading)
    return reading
  }

  countImport(): void {
    this.#imports++
  }

  /** Whether there were too many imports, or they took too long. */
  isFull(from: string): boolean {
    if (this.#imports >= MAX_IMPORTS) {
      this.report(`Instruction files import more than ${MAX_IMPORTS} files. The rest was left out, from ${from} on.`)
      return true
    }
    if (this.#now() - this.#started > MAX_MS) {
      this.report(
        `Instruction files took longer than ${MAX_MS / 1000} s to import. The rest was left out, from ${from} on.`,
      )
      return true
    }
    return false
  }

  report(problem: string): void {
    this.#options.report?.(problem)
  }

  async #readFile(path: string, name: string): Promise<Source> {
    try {
      // a FIFO would otherwise wait for a writer for ever
      const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
      try {
        const stats = await file.stat()
        if (!stats.isFile()) return this.#leaveOut(`${name}, which is not a regular file`)
        const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0)
        const bytes = buffer.subarray(0, Math.min(bytesRead, MAX_BYTES))
        const text = textOf(bytes)
        if (text === undefined) return this.#leaveOut(`${name}, which is not UTF-8 text`)
        return { path, text, isCut: bytesRead > MAX_BYTES, modifiedMs: stats.mtimeMs }
      } finally {
        await file.close()
      }
    } catch {
      return undefined // unreadable: nothing to load
    }
  }

  #leaveOut(what: string): undefined {
    this.report(`Left out of the instructions: ${what}.`)
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now().getTime()
  }
}

/** The limit may have split the last character, which is dropped. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** Cuts a text at a line end and says what is missing and where it is. */
export function cutToLimit(
  text: string,
  { path, limit, more = false }: { path: string; limit: number; more?: boolean },
): string {
  if (text.length <= limit && !more) return text
  const end = text.lastIndexOf("\n", limit)
  const kept = text.slice(0, end > limit / 2 ? end : limit).toWellFormed()
  return `${kept}\n[Cut here: instructions may have ${MAX_CHARACTERS} characters. The rest was left out; it is in ${path}.]`
}
