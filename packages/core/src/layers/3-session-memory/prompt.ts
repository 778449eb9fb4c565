/**
 * The template of the notes and the prompt that asks for them. Those in the configuration directory replace ours (L3-2). Variables are
 * filled in as values: whatever a value looks like, it changes nothing but its own place.
 */
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { isMissing } from "../../tools/files/file-error.ts"

const VARIABLE = /\{\{([a-z_]+)\}\}/g

export interface NotesTexts {
  readonly template: string
  readonly prompt: string
}

/** Read anew each time: whoever edits them sees the effect with the next update. */
export async function loadTexts(configDirectory: string | undefined): Promise<NotesTexts> {
  return { template: await custom("template.md", configDirectory), prompt: await custom("prompt.md", configDirectory) }
}

/** `{{name}}` becomes the value of that name. A variable that is not known stays as it is. */
export function fillVariables(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole))
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

export function ownText(name: "template.md" | "prompt.md"): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), "utf8")
}
