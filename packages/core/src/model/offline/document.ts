/**
 * Texts with sections: a prompt that names the requested sections, or a summary or notes that contain them. A section is numbered ("3.
 * Files: …"), has a heading ("## Files") or is bold ("- **Files**: …"). Text inside a code fence is never a section, so quoted user
 * messages cannot be mistaken for one.
 */
import { fenceAfter, withFencesClosed } from "../../messages/blocks.ts"

// Parts of texts: prefixes, sentences, a short hash. A part never splits a character.

const ENDS_IN_HALF = /[\uD800-\uDBFF]$/
/** A full stop ends a sentence if a space follows. The sentence ends of Chinese, Japanese and Hindi need none. */
const BETWEEN = /(?<=[.!?])\s+|(?<=[。！？।؟۔])\s*|\n+/u

/** The first characters of a text, up to this number. */
export function headOf(text: string, characters: number): string {
  if (text.length <= characters) return text
  return text.slice(0, characters).replace(ENDS_IN_HALF, "")
}

export const firstLineOf = (text: string): string => {
  const end = text.indexOf("\n")
  return end < 0 ? text : text.slice(0, end)
}

export const sentencesOf = (text: string): string[] =>
  text
    .split(BETWEEN)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")

/** FNV-1a with 32 bits, equal on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

export interface Section {
  readonly title: string
  /** The title as written, with its number or hashes. */
  readonly heading: string
  /** The rest of the title's line. */
  readonly remark: string
  /** The lines below, up to the next section. */
  readonly body: string
}

type Style = "number" | "hashes" | "bold"

interface Heading {
  readonly style: Style
  /** The number of a numbered section, or the count of hashes. */
  readonly rank: number
  readonly title: string
  readonly remark: string
  readonly line: number
}

const PATTERNS: readonly { style: Style; pattern: RegExp }[] = [
  { style: "number", pattern: /^\s{0,6}(\d{1,2})[.)]\s+(\S.*)$/ },
  { style: "hashes", pattern: /^(#{1,6})\s+(\S.*)$/ },
  { style: "bold", pattern: /^\s{0,6}([-*]\s+)?(\*\*[^*]+\*\*.*)$/ },
]
const BULLET = /^\s{0,6}[-*]\s+(.*)$/
const BEGINS_WITH_FENCE = /^(?:`{3,}|~{3,})/
/** A tag that readers of a conversation remove in pairs. Quoted tags in a summary stay verbatim, because their position identifies them. */
const PAIRED_TAG = /<(\/?)system-reminder>/gi
const MAX_CODE = 400 // characters; a longer line is a dump
const MAX_TITLE = 9 // words; anything longer is an instruction, not a title

/** The sections of a document in order. Empty if it has no recognizable headings. */
export function splitDocument(text: string): Section[] {
  const lines = text.split("\n")
  const headings = longestRun(findHeadings(lines))
  return headings.map((heading, index) => ({
    title: heading.title,
    heading: lines[heading.line]!,
    remark: heading.remark,
    body: lines.slice(heading.line + 1, headings[index + 1]?.line ?? lines.length).join("\n"),
  }))
}

function findHeadings(lines: readonly string[]): Heading[] {
  const headings: Heading[] = []
  let fence: string | undefined
  for (const [line, text] of lines.entries()) {
    const before = fence
    fence = fenceAfter(text, fence)
    if (fence !== undefined || before !== undefined) continue
    const heading = readHeading(text, line)
    if (heading !== undefined) headings.push(heading)
  }
  return headings
}

function readHeading(text: string, line: number): Heading | undefined {
  for (const { style, pattern } of PATTERNS) {
    const [, mark = "", words = ""] = pattern.exec(text) ?? []
    if (words === "") continue
    const { title, remark } = splitTitle(words)
    if (title === "" || title.split(/\s+/).length > MAX_TITLE) return undefined
    return { style, rank: style === "number" ? Number(mark) : mark.trim().length, title, remark, line }
  }
  return undefined
}

function splitTitle(words: string): { title: string; remark: string } {
  const plain = words.replaceAll("**", "").replace(/^\d{1,2}[.)]\s+/, "")
  const [title = ""] = /^[^:(—–]*?(?=$|\s*[:(—–]|\s+-\s|\.(?:\s|$))/.exec(plain) ?? []
  return { title: title.trim(), remark: plain.slice(title.length).replace(/^[\s:.—–-]+/, "") }
}

/** If a text has several lists, uses the longest as the list of sections, or the first of equally long ones. */
function longestRun(headings: readonly Heading[]): Heading[] {
  const runs = [...numberedRuns(headings), ...rankedRuns(headings)]
  return runs.reduce<Heading[]>((longest, run) => (run.length > longest.length ? run : longest), [])
}

function numberedRuns(headings: readonly Heading[]): Heading[][] {
  const runs: Heading[][] = []
  for (const heading of headings) {
    if (heading.style !== "number") continue
    const run = runs.at(-1)
    if (run !== undefined && heading.rank === run.at(-1)!.rank + 1) run.push(heading)
    else runs.push([heading])
  }
  return runs
}

function rankedRuns(headings: readonly Heading[]): Heading[][] {
  const runs = Map.groupBy(
    headings.filter(({ style }) => style !== "number"),
    ({ style, rank }) => `${style} ${rank}`,
  )
  return [...runs.values()]
}

/** The entries of a list: each bullet with the lines below it, up to a paragraph that is not indented. */
export function readEntries(body: string): string[] {
  const entries: string[][] = []
  let fence: string | undefined
  let isOver = true
  for (const line of body.split("\n")) {
    const bullet = fence === undefined ? BULLET.exec(line)?.[1] : undefined
    const begins = fence === undefined && /^\S/.test(line) && entries.at(-1)?.at(-1)?.trim() === ""
    if (bullet !== undefined) entries.push([bullet])
    if (bullet !== undefined || begins) isOver = bullet === undefined
    if (bullet === undefined && !isOver) entries.at(-1)!.push(line)
    fence = fenceAfter(line, fence)
  }
  return entries.map((lines) => lines.join("\n").trimEnd())
}

/** The paragraphs of a section before its list. A fence with its blank lines belongs to one paragraph. */
export function readParagraphs(body: string): string[] {
  const paragraphs: string[][] = [[]]
  let fence: string | undefined
  for (const line of body.split("\n")) {
    if (fence === undefined && BULLET.test(line)) break
    fence = fenceAfter(line, fence)
    if (fence === undefined && line.trim() === "") paragraphs.push([])
    else paragraphs.at(-1)!.push(line)
  }
  return paragraphs.map((lines) => lines.join("\n").trim())
}

/**
 * Makes a list entry self-contained: closes fences and escapes unpaired tags that would affect later text. A fence starts on its own line,
 * where every reader recognizes it.
 */
export function asEntry(text: string): string {
  return withFencesClosed(withoutOpenTags(BEGINS_WITH_FENCE.test(text) ? `code:\n${text}` : text))
}

function withoutOpenTags(text: string): string {
  const open = text.matchAll(PAIRED_TAG).reduce((depth, [, slash]) => depth + (slash === "" ? 1 : -1), 0)
  return open === 0 ? text : text.replace(PAIRED_TAG, (tag) => `&lt;${tag.slice(1)}`)
}

/** A verbatim quotation: in double quotes, or in a fence if it has several lines. */
export function quote(words: string): string {
  return words.includes("\n") ? `verbatim:\n${fenced(words)}` : `"${words}"`
}

/** The text inside a quotation made by `quote`. `undefined` if the entry is not one. */
export function unquote(entry: string): string | undefined {
  const block = /^verbatim:\n(~{3,})\n([\s\S]*)\n\1$/.exec(entry)?.[2]
  return block ?? /^"(.*)"$/.exec(entry)?.[1]
}

/** Formats a verbatim name, such as a path or a command. Only its first line, truncated if very long. */
export function code(words: string): string {
  const line = headOf(firstLineOf(words), MAX_CODE)
  return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``
}

/** Puts lines unchanged and unindented in a fence that is longer than any inside. */
export function fenced(words: string): string {
  const longest = Math.max(2, ...(words.match(/~{3,}/g) ?? []).map((run) => run.length))
  const fence = "~".repeat(longest + 1)
  return `${fence}\n${words}\n${fence}`
}
