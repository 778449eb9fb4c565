/** Output styles: instructions for how answers should read, in markdown files in the folder `output-styles` of the user's settings. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { readMarkdown, readPlainFile } from "../base/files.ts"

const MAX_BYTES = 128 * 1024 // instructions have a few kilobytes
const MAX_FILES = 100

export interface OutputStyle {
  readonly name: string
  readonly text: string
  /** The file. */
  readonly source: string
}

/**
 * Finds a style by the name in its frontmatter or by its file name. `undefined` for the styles built into Claude Code, which are not
 * files.
 */
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
