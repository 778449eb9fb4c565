/**
 * Reads a settings file of another program in the person's home directory. A file that cannot be used must not stop Strata, so the answer
 * says what is wrong, without a word of the content: it may hold keys.
 */
import { reasonOf } from "../base/errors.ts"
import { PlainFileError, readPlainFile } from "../base/plain-file.ts"

const MOST_BYTES = 64 * 1024 * 1024 // `.claude.json` also held the history of every project

export type ForeignJson =
  | { readonly state: "read"; readonly content: unknown }
  /** `why` ends a sentence that begins with the file. `text` is empty if the file could not be read. */
  | { readonly state: "broken"; readonly why: string; readonly text: string }

export async function readForeignJson(file: string): Promise<ForeignJson> {
  let text: string
  try {
    text = (await readPlainFile(file, MOST_BYTES)).toString("utf8").replace(/^\uFEFF/, "")
  } catch (error) {
    const why = error instanceof PlainFileError ? error.message : reasonOf(error)
    return { state: "broken", why: `cannot be read (${why})`, text: "" }
  }
  try {
    return { state: "read", content: text.trim() === "" ? {} : JSON.parse(text) }
  } catch (error) {
    const [place = ""] = / ?\(line \d+ column \d+\)/.exec((error as Error).message) ?? []
    return { state: "broken", why: `is not JSON${place}`, text }
  }
}
