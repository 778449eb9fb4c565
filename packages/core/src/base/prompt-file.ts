/**
 * A prompt: a markdown file beside the code that uses it, with values in its `{{places}}`.
 *
 * Pass a literal, `new URL("./prompt.md", import.meta.url)`: the build replaces the whole call with the text, so an installed or bundled
 * package reads no file.
 */
import { readFileSync } from "node:fs"

export function promptText(file: URL): string {
  return readFileSync(file, "utf8")
}

/** A place without a value stays as it is. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  // one pass, and a function as the replacement: neither places nor patterns inside a value have a meaning
  return text.replace(/\{\{([a-z_]+)\}\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : place,
  )
}
