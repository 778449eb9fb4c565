/** The prompt that asks an agent to write or improve the project's instruction file. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fillPrompt, promptText } from "../../base/text.ts"

/** Instruction files. The first existing one is improved. */
const FILES = ["AGENTS.md", "CLAUDE.md"] as const

/** Options of `initPrompt`. */
export interface InitOptions {
  /** The project's directory. */
  readonly directory: string
  /** The user's request, verbatim. */
  readonly request?: string
}

/** Creates the message to send. */
export function initPrompt({ directory, request = "" }: InitOptions): string {
  const existing = FILES.find((file) => existsSync(join(directory, file)))
  const file = existing ?? FILES[0]
  const prompt = existing
    ? promptText(new URL("./improve-instructions.md", import.meta.url))
    : promptText(new URL("./write-instructions.md", import.meta.url))
  const content = promptText(new URL("./instruction-content.md", import.meta.url))
  const text = fillPrompt(`${prompt.trim()}\n\n${content.trim()}`, { file })
  return request === "" ? text : `${text}\n\nThe user also wants: ${request}`
}
