/**
 * Stores pasted text that is too long for the input line. A label in the line represents the text and a file stores it, so that typing
 * stays fast and earlier inputs can be sent again. The label is replaced by the text when the line is sent.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DIRECTORY_MODE, FILE_MODE } from "@strata/core/store"
import { pluralize } from "../display/numbers.ts"
import { MAX_TASK_CHARACTERS } from "../run/task.ts"
import { PASTE_LABEL } from "./paste-label.ts"

/**
 * Limits for text that stays in the input line. A message that returns for editing may be longer than a paste, because the user wrote it.
 */
const PASTED = { characters: 800, lines: 5 }
const WRITTEN = { characters: 1_000, lines: 12 } // about a screen
const MAX_STORED = 50 // files
const FILE = /^([1-9]\d{0,14})\.txt$/

export type AbbreviationResult =
  /** The text for the input line: the original or its label. */
  | { readonly state: "abbreviated"; readonly text: string }
  /** The text is too long for a message. Its file stores it. */
  | { readonly state: "refused"; readonly why: string }

interface StoredPaste {
  readonly number: number
  /** Why the text has no file. It is still in memory. */
  readonly unkept?: string
}

export class Pastes {
  readonly #directory: string
  readonly #texts = new Map<number, string>()
  readonly #numbers = new Map<string, StoredPaste>()

  /** The agent must be allowed to read the directory, so that a message can name the file of a refused text. */
  constructor(directory: string) {
    this.#directory = directory
  }

  /** Also abbreviates a text that contains a label, because sending it would replace the label with another text. */
  abbreviate(text: string, { isWritten = false } = {}): AbbreviationResult {
    const lines = lineCount(text)
    const max = isWritten ? WRITTEN : PASTED
    const isShort = text.length <= max.characters && lines <= max.lines
    if (isShort && text.search(PASTE_LABEL) < 0) return { state: "abbreviated", text }
    const { number, unkept } = this.#keep(text)
    if (text.length > MAX_TASK_CHARACTERS) {
      const where = unkept ?? `It is stored in ${this.#path(number)}: name that file in your message.`
      const size = `The pasted text has ${text.length.toLocaleString("en")} characters, and a message takes at most`
      return {
        state: "refused",
        why: `${size} ${MAX_TASK_CHARACTERS.toLocaleString("en")}. Nothing was sent. ${where}`,
      }
    }
    const size = lines > 1 ? pluralize(lines, "line") : pluralize(text.length, "character")
    return { state: "abbreviated", text: `[Pasted text #${number} +${size}]` }
  }

  /** Replaces labels with their texts. A label without a file stays: the user may have typed it. */
  inFull(line: string): string {
    return line.replace(PASTE_LABEL, (label, digits: string) => {
      const number = Number(digits)
      return this.#texts.get(number) ?? this.#read(number) ?? label
    })
  }

  #path(number: number): string {
    return join(this.#directory, `${number}.txt`)
  }

  /** Stores the text. The same text always gets the same number. */
  #keep(text: string): StoredPaste {
    const kept = this.#numbers.get(text) ?? this.#write(text)
    this.#numbers.set(text, kept)
    this.#texts.set(kept.number, text)
    return kept
  }

  /** Numbers continue after those of earlier processes, so that labels in earlier inputs keep their texts. */
  #write(text: string): StoredPaste {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: DIRECTORY_MODE })
      for (let number = this.#next(); ; number++) {
        if (!this.#claim(number, text)) continue
        for (const old of this.#newestFirst().slice(MAX_STORED)) rmSync(this.#path(old), { force: true })
        return { number }
      }
    } catch {
      const unkept = "It could not be stored either: write it to a file and name the file in your message."
      return { number: Math.max(0, ...this.#texts.keys()) + 1, unkept }
    }
  }

  /** Creates the file; false if another process of this project has taken the number. */
  #claim(number: number, text: string): boolean {
    try {
      writeFileSync(this.#path(number), text, { mode: FILE_MODE, flag: "wx" })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
      throw error
    }
  }

  #next(): number {
    return Math.max(0, this.#newestFirst()[0] ?? 0, ...this.#texts.keys()) + 1
  }

  #newestFirst(): readonly number[] {
    const numbers = readdirSync(this.#directory).flatMap((name) => FILE.exec(name)?.[1] ?? [])
    return numbers.map(Number).sort((a, b) => b - a)
  }

  #read(number: number): string | undefined {
    try {
      return readFileSync(this.#path(number), "utf8")
    } catch {
      return undefined // an older file that was removed
    }
  }
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}
