/** Reads a settings file. A repository may contain anything in its place, such as a link to a device or an endless file. */
import { errorReason, SettingsError } from "../base/errors.ts"
import { isMissing, readPlainFile } from "../base/files.ts"
import { escapeInvisible } from "../base/text.ts"

const MAX_BYTES = 1_000_000 // settings have a few kilobytes; everything in them is displayed before it is trusted
const MAX_DEPTH = 50 // the deepest setting has six levels

/** The parsed content. `{}` if the file does not exist. */
export async function readSettingsFile(file: string): Promise<unknown> {
  const unusable = (reason: string) => new SettingsError([{ source: file, key: "", reason }])
  if (isMissing(file)) return {}
  let text: string
  try {
    text = (await readPlainFile(file, MAX_BYTES)).toString("utf8")
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR") return {}
    throw unusable(`cannot be read (${errorReason(error)})`)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw unusable(`is not JSON (${escapeInvisible((error as Error).message)})`)
  }
  if (!isShallow(content)) throw unusable(`is nested more than ${MAX_DEPTH} levels deep`)
  return content
}

/** Limits the nesting. Checked level by level, because recursion on a hostile file would overflow the stack. */
function isShallow(content: unknown): boolean {
  let level: readonly unknown[] = [content]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []))
    if (level.length === 0) return true
  }
  return false
}
