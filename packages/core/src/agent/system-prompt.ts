/** The system prompt of the coding agent, read once from the file beside this one. */
import { readFileSync } from "node:fs"

export function codingPrompt(): string {
  return readFileSync(new URL("./system-prompt.md", import.meta.url), "utf8").trim()
}
