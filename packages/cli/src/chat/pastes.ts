/**
 * Pasted text that is too long for the input line. A label in the line represents it and a file keeps it, so that typing stays fast and
 * earlier inputs can be sent again. The label becomes the text when the line is sent.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DIRECTORY_MODE, FILE_MODE } from "@strata/core/internal/journal/file/layout"
import { counted } from "../display/numbers.ts"
import { MOST_TASK_CHARACTERS } from "../run/task.ts"

const LONGEST_IN_LINE = 1_000 // characters: about a screen
const MOST_LINES_IN_LINE = 12
const MOST_KEPT = 50 // files
const LABEL = /\[pasted text ([0-9a-f]{12}): [^\]\n]*\]/g

export type Abbreviated =
  /** What belongs into the input line: the text itself or its label. */
  | { readonly state: "abbreviated"; readonly text: string }
  /** It is too long for a message. The file has it. */
  | { readonly state: "refused"; readonly why: string }

export class Pastes {
  readonly #directory: string
  readonly #texts = new Map<string, string>()

  /** The directory must be one that the agent may read: a text that is refused can be named in a message. */
  constructor(directory: string) {
    this.#directory = directory
  }

  abbreviate(text: string): Abbreviated {
    const lines = lineCount(text)
    if (text.length <= LONGEST_IN_LINE && lines <= MOST_LINES_IN_LINE) return { state: "abbreviated", text }
    const id = createHash("sha256").update(text).digest("hex").slice(0, 12)
    const unkept = this.#keep(id, text)
    if (text.length > MOST_TASK_CHARACTERS) {
      const where = unkept ?? `It is kept in ${this.#path(id)}: name that file in your message.`
      const size = `The pasted text has ${text.length.toLocaleString("en")} characters, and a message takes at most`
      return {
        state: "refused",
        why: `${size} ${MOST_TASK_CHARACTERS.toLocaleString("en")}. Nothing was sent. ${where}`,
      }
    }
    this.#texts.set(id, text)
    const size = lines > 1 ? counted(lines, "line") : counted(text.length, "character")
    return { state: "abbreviated", text: `[pasted text ${id}: ${size}]` }
  }

  /** With the texts in place of their labels. A label without a file stays as it is: someone may have typed it. */
  inFull(line: string): string {
    return line.replace(LABEL, (label, id: string) => this.#texts.get(id) ?? this.#read(id) ?? label)
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.txt`)
  }

  /** Returns a sentence if it could not be written. The text is still in this process. */
  #keep(id: string, text: string): string | undefined {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: DIRECTORY_MODE })
      writeFileSync(this.#path(id), text, { mode: FILE_MODE })
      for (const old of this.#newestFirst().slice(MOST_KEPT)) rmSync(join(this.#directory, old), { force: true })
      return undefined
    } catch {
      return "It could not be kept either: write it to a file and name the file in your message."
    }
  }

  #newestFirst(): readonly string[] {
    const files = readdirSync(this.#directory).map((name) => ({
      name,
      at: statSync(join(this.#directory, name)).mtimeMs,
    }))
    return files.sort((a, b) => b.at - a.at).map(({ name }) => name)
  }

  #read(id: string): string | undefined {
    try {
      return readFileSync(this.#path(id), "utf8")
    } catch {
      return undefined // an older one, no longer kept
    }
  }
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}
