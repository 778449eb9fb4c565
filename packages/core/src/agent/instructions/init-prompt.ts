/** What asks an agent to write the project's instruction file, or to improve the one that is there. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fillPrompt, promptText } from "../../base/text.ts"

/** The first that exists is improved. */
const FILES = ["AGENTS.md", "CLAUDE.md"] as const

/** Options of `initPrompt`. */
export interface InitOptions {
  /** The project's directory. */
  readonly directory: string
  /** What the person wants of it, in their words. */
  readonly wish?: string
}

/** The message to send. */
export function initPrompt({ directory, wish = "" }: InitOptions): string {
  const existing = FILES.find((file) => existsSync(join(directory, file)))
  const file = existing ?? FILES[0]
  const prompt = existing
    ? promptText(new URL("./improve-instructions.md", import.meta.url))
    : promptText(new URL("./write-instructions.md", import.meta.url))
  const content = promptText(new URL("./instruction-content.md", import.meta.url))
  const text = fillPrompt(`${prompt.trim()}\n\n${content.trim()}`, { file })
  return wish === "" ? text : `${text}\n\nThe user also wants: ${wish}`
}
