/**
 * Reconstructs files from a recording: what its tools read and wrote, and the last content of each path. A policy that attaches files again
 * after a compaction reads them here, so a replay needs no disk. Lines that no call shows are filled with neighboring lines.
 */

import { resolve } from "node:path"
import type { Entry } from "@strata/core"
import type { FileRead } from "@strata/core/agent"
import { FileReads, forgetCalls, linesOf, type ReadFileAgain, type RestorableFile } from "@strata/core/policy"
import { isDecision } from "@strata/core/store"
import {
  type FileEffect,
  type FinishedCall,
  fileEffects,
  followCalls,
  isShellTool,
  type OpenCall,
} from "@strata/core/views"

const NUMBERED = /^\s*(\d+)[\t→](.*)$/
const GOES_ON = /^\[Lines (\d+)-\d+ of (\d+)\..*\]$/ // how Strata's Read ends its output if the file is longer
const NO_CONTENT = /^\[[^\n]*\]\s*$/ // output of Strata's Read for unchanged or empty files

export class RecordedFiles {
  /** Files that the tools have read, as the tools track them. */
  readonly reads = new FileReads()
  readonly #contents = new Map<string, string>()
  readonly #open = new Map<string, OpenCall>()
  #cwd = "/"

  take(entry: Entry): void {
    if (isDecision(entry) && entry.subtype === "session" && entry.cwd !== "") this.#cwd = entry.cwd
    for (const call of followCalls(this.#open, entry)) {
      if (call.failed || isShellTool(call.tool)) continue // tools know only files that they read or wrote themselves
      for (const effect of fileEffects(call, { cwd: this.#cwd })) this.#note(effect, { call, at: entry.timestamp })
    }
  }

  /** Forgets files whose results are no longer completely in view. */
  readonly forget = (toolUseIds: readonly string[]): void => forgetCalls(this.reads, new Set(toolUseIds))

  /** Only files that the recording contains can be attached again. */
  readonly mayRead = (path: string): boolean => this.#contents.has(path)

  readonly readFile: ReadFileAgain = async (path): Promise<RestorableFile | undefined> => {
    const text = this.#contents.get(path)
    return text === undefined ? undefined : { text, modifiedMs: 0 }
  }

  #note(effect: FileEffect, { call, at }: EffectSource): void {
    const path = resolve(this.#cwd, effect.path)
    const known = this.#contents.get(path)
    if (effect.what === "deleted") {
      this.#contents.delete(path)
      this.reads.forget(path)
    } else if (effect.what === "read") {
      const page = NO_CONTENT.test(call.output) || call.output === "" ? undefined : pageIn(call)
      if (page) this.#keep(path, withPage(known, page), { at, toolUseId: call.id, ...rangeOf(page) })
    } else {
      const content = effect.content ?? withEdits(known, call.input)
      if (content !== undefined) this.#keep(path, content, { at })
    }
  }

  #keep(path: string, content: string, read: Omit<FileRead, "content" | "modifiedMs">): void {
    this.#contents.set(path, content)
    this.reads.set(path, { ...read, content, modifiedMs: 0 })
  }
}

interface EffectSource {
  readonly call: FinishedCall
  readonly at: string
}

/** Lines of a file in the output of a call. */
interface FilePage {
  /** The number of the first line. */
  readonly first: number
  readonly lines: readonly string[]
  /** Number of lines of the file, as far as known. */
  readonly total: number
  readonly isWhole: boolean
}

function pageIn({ output, input }: FinishedCall): FilePage {
  const raw = linesOf(output)
  const numbered = raw.flatMap((line) => {
    const [, number, text] = NUMBERED.exec(line) ?? []
    return number === undefined ? [] : [{ number: Number(number), text: text! }]
  })
  const isNumbered = numbered.length * 2 > raw.length
  const lines = isNumbered ? numbered.map(({ text }) => text) : raw
  const offset = typeof input.offset === "number" ? Math.max(1, input.offset) : 1
  const first = isNumbered ? numbered[0]!.number : offset
  const end = first + lines.length - 1
  const total = Math.max(end, Number(GOES_ON.exec(raw.at(-1) ?? "")?.[2] ?? 0))
  const isPart = input.offset !== undefined || input.limit !== undefined
  return { first, lines, total, isWhole: first === 1 && end === total && !isPart }
}

const rangeOf = ({ first, lines, isWhole }: FilePage) =>
  isWhole ? {} : { range: { offset: first, limit: lines.length } }

function withPage(known: string | undefined, { first, lines, total, isWhole }: FilePage): string {
  if (isWhole || lines.length === 0) return lines.join("\n")
  const before = known === undefined ? [] : linesOf(known)
  const length = Math.max(total, before.length)
  const all = Array.from({ length }, (_, at) => lines[at - first + 1] ?? before[at] ?? lines[at % lines.length]!)
  return all.join("\n")
}

/** The known content with the edits of a call applied: one, or a list of them. */
function withEdits(known: string | undefined, input: FinishedCall["input"]): string | undefined {
  if (known === undefined) return undefined
  const edits = Array.isArray(input.edits) ? input.edits : [input]
  return edits.reduce((text: string, edit) => edited(text, edit), known)
}

function edited(text: string, edit: unknown): string {
  const { old_string: before, old_str = before, new_string: after, new_str = after } = (edit ?? {}) as Edit
  const { replace_all: all } = (edit ?? {}) as Edit
  if (typeof old_str !== "string" || typeof new_str !== "string" || old_str === "") return text
  return all === true ? text.replaceAll(old_str, () => new_str) : text.replace(old_str, () => new_str)
}

interface Edit {
  readonly old_string?: unknown
  readonly new_string?: unknown
  readonly old_str?: unknown
  readonly new_str?: unknown
  readonly replace_all?: unknown
}
