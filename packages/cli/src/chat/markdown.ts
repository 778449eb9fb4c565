/**
 * A subset of markdown for a terminal: headings, code, lists, quotes, emphasis. Works line by line, so that streamed text can be shown at
 * any moment. An unclosed delimiter appears as typed, and no text is ever lost.
 */
import { escapeToLine } from "../display/visible.ts"

export interface MarkdownLine {
  readonly form: "text" | "heading" | "code" | "quote" | "rule"
  /** Indentation, bullet or number before the text. */
  readonly lead: string
  readonly spans: readonly Span[]
}

export interface Span {
  readonly text: string
  readonly style?: "bold" | "italic" | "code"
}

const TAB = "  "
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/
const HEADING = /^#{1,6}\s+(.*)$/
const LIST_ITEM = /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/
const QUOTE = /^\s*>\s?(.*)$/
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/

export function parseMarkdown(text: string): readonly MarkdownLine[] {
  const lines: MarkdownLine[] = []
  let fence: string | undefined
  for (const raw of text.split("\n")) {
    const line = escapeToLine(raw.replaceAll("\t", TAB)).trimEnd()
    const mark = FENCE.exec(line)
    if (fence !== undefined) {
      if (mark && mark[1]!.startsWith(fence) && mark[2]!.trim() === "") fence = undefined
      else lines.push({ form: "code", lead: TAB, spans: plain(line) })
    } else if (mark) fence = mark[1]!
    else lines.push(parseLine(line))
  }
  return withoutDoubleBlanks(lines)
}

function parseLine(line: string): MarkdownLine {
  const heading = HEADING.exec(line)
  if (heading) return { form: "heading", lead: "", spans: parseSpans(heading[1]!) }
  if (RULE.test(line)) return { form: "rule", lead: "", spans: [] }
  const item = LIST_ITEM.exec(line)
  if (item)
    return { form: "text", lead: `${item[1]}${/\d/.test(item[2]!) ? item[2] : "•"} `, spans: parseSpans(item[3]!) }
  const quote = QUOTE.exec(line)
  if (quote) return { form: "quote", lead: "│ ", spans: parseSpans(quote[1]!) }
  const indent = /^\s*/.exec(line)![0]
  return { form: "text", lead: indent, spans: parseSpans(line.slice(indent.length)) }
}

/** Inline styles in order of precedence. Delimiters inside a word are ignored: `snake_case_name`, `2 * 3 * 4`. */
const INLINE: readonly { readonly pattern: RegExp; readonly style: NonNullable<Span["style"]> }[] = [
  { pattern: /`([^`]+)`/y, style: "code" },
  { pattern: /\*\*(?=\S)(.+?)(?<=\S)\*\*/y, style: "bold" },
  { pattern: /__(?=\S)(.+?)(?<=\S)__(?!\w)/y, style: "bold" },
  { pattern: /\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![*\w])/y, style: "italic" },
  { pattern: /_(?=[^\s_])([^_]+?)(?<=\S)_(?!\w)/y, style: "italic" },
]
const MARK_CHARACTERS = "`*_"

export function parseSpans(text: string): readonly Span[] {
  const spans: Span[] = []
  let pending = ""
  for (let at = 0; at < text.length; ) {
    const found = MARK_CHARACTERS.includes(text[at]!) && isWordStart(text, at) ? spanAt(text, at) : undefined
    if (!found) {
      pending += text[at++]
      continue
    }
    spans.push(...plain(pending), found.span)
    pending = ""
    at = found.end
  }
  return [...spans, ...plain(pending)]
}

const isWordStart = (text: string, at: number) => text[at] === "`" || at === 0 || !/\w/.test(text[at - 1]!)

function spanAt(text: string, at: number): { readonly span: Span; readonly end: number } | undefined {
  for (const { pattern, style } of INLINE) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) return { span: { text: match[1]!, style }, end: pattern.lastIndex }
  }
  return undefined
}

const plain = (text: string): readonly Span[] => (text === "" ? [] : [{ text }])

/** Collapses consecutive blank lines into one, except in code. */
function withoutDoubleBlanks(lines: readonly MarkdownLine[]): readonly MarkdownLine[] {
  const isBlank = (line: MarkdownLine | undefined) =>
    line === undefined || (line.form === "text" && line.spans.length === 0 && line.lead.trim() === "")
  const kept = lines.filter((line, i) => !isBlank(line) || !isBlank(lines[i - 1]))
  return isBlank(kept.at(-1)) ? kept.slice(0, -1) : kept
}
