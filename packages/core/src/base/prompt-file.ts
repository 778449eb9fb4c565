/**
 * Reads a prompt from the markdown file beside the code that uses it.
 *
 * Pass a literal, `new URL("./prompt.md", import.meta.url)`: the build replaces the whole call with the text, so an installed or bundled
 * package reads no file.
 */
import { readFileSync } from "node:fs"

export function promptText(file: URL): string {
  return readFileSync(file, "utf8")
}
