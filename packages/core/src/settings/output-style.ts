/** An output style: how the person wants answers to read. A markdown file in the folder `output-styles` of their settings. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { readMarkdown, readPlainFile } from "../base/files.ts"

const MAX_BYTES = 128 * 1024 // instructions, not a book
const MAX_FILES = 100

export interface OutputStyle {
  readonly name: string
  readonly text: string
  /** The file. */
  readonly source: string
}

/** By the name in its head, or by the name of its file. Those that come with Claude Code are not files: `undefined`. */
export async function findOutputStyle(folder: string, wanted: unknown): Promise<OutputStyle | undefined> {
  if (typeof wanted !== "string" || wanted === "") return undefined
  const directory = join(folder, "output-styles")
  const names = (await readdir(directory).catch(() => [])).filter((name) => /\.md$/i.test(name)).toSorted()
  for (const file of names.slice(0, MAX_FILES)) {
    const source = join(directory, file)
    const bytes = await readPlainFile(source, MAX_BYTES).catch(() => undefined)
    if (!bytes) continue
    const { values, body } = await readMarkdown(bytes.toString("utf8"))
    const isWanted = [values?.get("name"), file.replace(/\.md$/i, "")].some((name) => isSame(name, wanted))
    if (isWanted && body !== "") return { name: wanted, text: body, source }
  }
  return undefined
}

const isSame = (name: unknown, wanted: string): boolean =>
  typeof name === "string" && name.toLowerCase() === wanted.toLowerCase()
