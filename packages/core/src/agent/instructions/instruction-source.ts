/**
 * Reads instruction files and their imports within limits. During one scan of the project, each file is read once, regardless of the number
 * of imports. Files that may not be read, or are not plain text, are omitted and reported.
 */
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { type Clock, systemClock } from "../../base/clock.ts"
import { isInside } from "../permissions/permissions.ts"

/** Maximum characters of one instruction file with its imports, and of all files attached at once. */
export const MAX_CHARACTERS = 40_000
export const MAX_IMPORTS = 100 // per scan of the project
const MAX_MS = 2_000 // for following imports, per scan of the project
const MAX_BYTES = 4 * MAX_CHARACTERS // a character takes at most 4 bytes in UTF-8

export interface InstructionSourceOptions {
  /** Directory that must contain the project's files, with symbolic links resolved. */
  readonly project: string
  /** Whether the rules for Read allow a file without asking. Paths are absolute, with symbolic links resolved. */
  readonly mayRead: (path: string) => boolean
  /** Receives a sentence for the user. */
  readonly report?: (problem: string) => void
  readonly clock?: Clock
}

/** Owner of an instruction file. The user's files may import any file; a project's imports must be inside the project. */
export type InstructionOwner = "person" | "project"

export type InstructionText =
  | { readonly path: string; readonly text: string; readonly isCut: boolean; readonly modifiedMs: number }
  | undefined

export class InstructionSource {
  readonly #options: InstructionSourceOptions
  readonly #read = new Map<string, Promise<InstructionText>>()
  readonly #started: number
  #imports = 0

  constructor(options: InstructionSourceOptions) {
    this.#options = options
    this.#started = this.#now()
  }

  /** Reads a file. `name` is its name in reports. */
  async read(
    path: string,
    { owner, name }: { readonly owner: InstructionOwner; readonly name: string },
  ): Promise<InstructionText> {
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

  /** Whether the limit on the number or the time of imports is reached. Reports it. */
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

  async #readFile(path: string, name: string): Promise<InstructionText> {
    try {
      // opening a FIFO would otherwise block until a writer appears
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
      return undefined // unreadable files are skipped
    }
  }

  #leaveOut(what: string): undefined {
    this.report(`Left out of the instructions: ${what}.`)
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now().getTime()
  }
}

/** Decodes UTF-8 text. `undefined` if it is not text. A last character that the limit split is dropped. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** Cuts a text at a line end, and states what is missing and where it is. */
export function cutToLimit(
  text: string,
  { path, limit, more = false }: { path: string; limit: number; more?: boolean },
): string {
  if (text.length <= limit && !more) return text
  const end = text.lastIndexOf("\n", limit)
  const kept = text.slice(0, end > limit / 2 ? end : limit).toWellFormed()
  return `${kept}\n[Cut here: instructions may have ${MAX_CHARACTERS} characters. The rest was left out; it is in ${path}.]`
}
