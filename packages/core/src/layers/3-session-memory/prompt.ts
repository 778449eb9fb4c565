/**
 * The template of the notes and the prompt that asks for them. Files in the configuration directory replace ours. Variables are filled in
 * as values: what looks like a pattern or a variable inside a value has no effect. `rendered/` shows the whole prompt.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promptText } from "../../base/prompt-file.ts"
import { isMissing } from "../../tools/files/file-error.ts"

export interface NotesTexts {
  readonly template: string
  readonly prompt: string
}

/** Reads the files each time, so an edit takes effect with the next update. */
export async function loadTexts(configDirectory: string | undefined): Promise<NotesTexts> {
  return { template: await custom("template.md", configDirectory), prompt: await custom("prompt.md", configDirectory) }
}

/** An empty file counts as none. */
async function custom(name: "template.md" | "prompt.md", directory: string | undefined): Promise<string> {
  const text = directory === undefined ? "" : await textIfPresent(join(directory, name))
  return text.trim() === "" ? ownText(name) : text
}

async function textIfPresent(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return ""
    throw error
  }
}

const OWN = {
  "template.md": promptText(new URL("./template.md", import.meta.url)),
  "prompt.md": promptText(new URL("./prompt.md", import.meta.url)),
  "how-with-edit.md": promptText(new URL("./how-with-edit.md", import.meta.url)),
  "how-as-text.md": promptText(new URL("./how-as-text.md", import.meta.url)),
} as const

export const ownText = (name: keyof typeof OWN): string => OWN[name]
