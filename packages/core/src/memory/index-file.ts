/**
 * `MEMORY.md`: one line per memory, a link and a hook. It follows the memories; manually written lines stay. The loaded part is
 * generated from the memories and the lines that the user wrote. It is cut to a limit, and its last line then says so.
 */
import { formatNumber } from "../base/text.ts"
import { INDEX_FILE } from "./file-names.ts"
import { isCurrentMemory, type Memory } from "./memory.ts"
import { cut } from "./topic-file.ts"

export const MAX_INDEX_LINES = 200
export const MAX_INDEX_BYTES = 25_000
const MAX_LINE_CHARACTERS = 150
const MAX_FILE_BYTES = 3_500_000 // of the limit of 4 MB: rewritten lines may grow

export interface LoadedIndex {
  readonly text: string
  /** All lines, including those that are not loaded. */
  readonly lines: readonly string[]
  readonly isCut: boolean
}

/** The line for one memory. */
export function indexLine({ file, name, description, failed, doubtedBy }: Memory): string {
  const label = name.replace(/[[\]\\]/g, "\\$&")
  const target = /[\s()<>]/.test(file) ? `<${file.replace(/[<>]/g, "")}>` : file
  const link = `- [${cut(label, 60)}](${target})`
  const room = MAX_LINE_CHARACTERS - countCharacters(link) - 2
  const hook =
    `${failed ? "(did not work) " : ""}${doubtedBy === undefined ? "" : "(a later one may say otherwise) "}${description}`
      .replace(/\s+/g, " ")
      .trim()
  return hook === "" || room < 10 ? link : `${link}: ${cut(hook, room)}`
}

const countCharacters = (text: string) => (/[\ud800-\udfff]/.test(text) ? [...text].length : text.length)

interface IndexUpdate {
  /** The current index. */
  readonly text: string | undefined
  readonly memories: readonly Memory[]
  /** Files whose name or description changed: their lines are rewritten. */
  readonly renewed?: ReadonlySet<string>
  /** Files that were memories and no longer exist: their lines are removed. */
  readonly removed?: ReadonlySet<string>
}

/** Updates the index to match the memories. New lines come first: if the list is too long, the oldest are cut. */
export function updateIndex({ text = "", memories, renewed, removed }: IndexUpdate): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n"
  const current = new Map(memories.filter(isCurrentMemory).map((memory) => [memory.file, memory]))
  const known = new Set(memories.map(({ file }) => file))
  const listed = new Set<string>()
  const currentLines = text
    .split(/\r?\n/)
    .map((line) => {
      const file = linkedFile(line)
      if (file === undefined) return line
      const memory = current.get(file)
      if (!memory) return known.has(file) || removed?.has(file) ? undefined : line
      if (listed.has(file)) return undefined
      listed.add(file)
      return renewed?.has(file) ? indexLine(memory) : line
    })
    .filter((line) => line !== undefined)
  const added = withoutOldestLines(text, [...current.values()].filter(({ file }) => !listed.has(file)).map(indexLine))
  const first = currentLines.findIndex((line) => linkedFile(line) !== undefined)
  const at = first >= 0 ? first : truncationNote(currentLines)
  const lines = [...currentLines.slice(0, at), ...added, ...currentLines.slice(at)]
  const joined = lines.join(newline)
  return joined === "" || joined.endsWith(newline) ? joined : joined + newline
}

/** Drops the oldest lines, because a file that is too large could not be read again. The memories themselves stay. */
function withoutOldestLines(text: string, added: readonly string[]): readonly string[] {
  let room = MAX_FILE_BYTES - Buffer.byteLength(text)
  return added.filter((line) => {
    room -= Buffer.byteLength(line) + "\r\n".length
    return room >= 0
  })
}

interface IndexText {
  readonly text: string
  readonly memories: readonly Memory[]
  /** Lines that the user wrote. */
  readonly lines: ReadonlySet<string>
}

/** The index without lines of unknown origin: each line is generated from its memory, or the user's. */
export function trustedIndex({ text, memories, lines }: IndexText): string {
  const current = new Map(memories.filter(isCurrentMemory).map((memory) => [memory.file, memory]))
  return text
    .split(/\r?\n/)
    .flatMap((line) => {
      if (line.trim() === "" || lines.has(line)) return [line]
      const memory = current.get(linkedFile(line) ?? "")
      return memory ? [indexLine(memory)] : []
    })
    .join("\n")
}

/** The file that an index line links to, if it is a list item that starts with a link to a markdown file. */
export function linkedFile(line: string): string | undefined {
  const match = /^\s*[-*+]\s+(?:\*\*)?\[(?:[^\]\\]|\\.)*\]\((?:<([^<>]+)>|([^()\s]+))\)/.exec(line)
  const target = match?.[1] ?? match?.[2]
  if (!target || !/\.md$/i.test(target) || /^[a-z][a-z+.-]*:/i.test(target)) return undefined
  try {
    return decodeURI(target).replace(/^\.\//, "")
  } catch {
    return target
  }
}

function truncationNote(lines: readonly string[]): number {
  let at = lines.length
  while (at > 0 && lines[at - 1]!.trim() === "") at--
  return at
}

/** The part of the index that is loaded: at most 200 lines and 25 KB, including the warning. */
export function loadedIndex(text: string): LoadedIndex {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .trimEnd()
  const lines = plain === "" ? [] : plain.split("\n")
  const bytes = Buffer.byteLength(plain)
  if (lines.length <= MAX_INDEX_LINES && bytes <= MAX_INDEX_BYTES) return { text: plain, lines, isCut: false }
  const warning = `[${INDEX_FILE} is too long: it has ${formatNumber(lines.length)} lines and ${formatNumber(bytes)} bytes. Only the beginning is shown here, at most ${MAX_INDEX_LINES} lines and ${formatNumber(MAX_INDEX_BYTES)} bytes. The rest is in the file.]`
  const room = MAX_INDEX_BYTES - Buffer.byteLength(warning) - 1
  const loadedLines: string[] = []
  let used = 0
  for (const line of lines.slice(0, MAX_INDEX_LINES - 1)) {
    const size = Buffer.byteLength(line) + 1
    if (used + size > room) {
      if (loadedLines.length === 0) loadedLines.push(firstBytes(line, room - 1))
      break
    }
    loadedLines.push(line)
    used += size
  }
  return { text: [...loadedLines, warning].join("\n"), lines, isCut: true }
}

function firstBytes(text: string, max: number): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return decoder.decode(Buffer.from(text).subarray(0, max), { stream: true }) // drops a character that was cut
}
