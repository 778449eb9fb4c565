/**
 * Replaces `promptText(new URL("./prompt.md", import.meta.url))` in compiled code with the text of that file, so that a package, and a
 * bundle made from it, reads no prompt from disk.
 */
import { basename } from "node:path"

const READS_PROMPT = /\bpromptText\(\s*new URL\(\s*"([^"]+)",\s*import\.meta\.url\s*\),?\s*\)/g
const OTHER_CALL = /(?<!\bfunction )\bpromptText\(/

export interface CompiledFile {
  readonly path: string
  readonly code: string
}

/** `read` returns the text of a file, given its path relative to the compiled one. */
export function withInlinedPrompts({ path, code }: CompiledFile, read: (relative: string) => string): string {
  const inlined = code.replace(READS_PROMPT, (_call, prompt: string) => JSON.stringify(read(prompt)))
  if (OTHER_CALL.test(code.replace(READS_PROMPT, "")))
    throw new Error(
      `${basename(path)} calls promptText with something the build cannot inline. Write promptText(new URL("./file.md", import.meta.url)).`,
    )
  return inlined
}
