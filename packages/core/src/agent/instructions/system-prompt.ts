/** The system prompt of the coding agent. */
import { promptText } from "../../base/prompt-file.ts"

export function codingPrompt(): string {
  return promptText(new URL("./system-prompt.md", import.meta.url)).trim()
}
