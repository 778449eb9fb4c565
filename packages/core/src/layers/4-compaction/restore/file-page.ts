/**
 * A file as it is shown again: numbered lines as Read shows them. Whole where it fits; otherwise from where it was read before, cut at a
 * line end, with a note on what is left out and how to read it. It comes with what then counts as read.
 */
import { type Attachment, renderAttachment } from "../../../messages/attachments.ts"
import { linesOf } from "../../../tools/files/line-endings.ts"
import { MOST_LINE_CHARACTERS, numberLines } from "../../../tools/files/numbered-lines.ts"
import type { FileRead } from "../../../tools/tool.ts"
import { charactersWithin, type Estimate, largest } from "../cut-text.ts"
import type { Candidate } from "./candidates.ts"
import type { ReadAgain } from "./read-again.ts"

export interface PageInput {
  readonly candidate: Candidate
  readonly file: ReadAgain
  /** Tokens of the attachment as it is sent. */
  readonly limit: number
  readonly estimate: Estimate
  readonly now: Date
}

export interface RestoredFile {
  readonly attachment: Attachment
  readonly tokens: number
  /** Absent where the file is only named. */
  readonly read?: readonly [path: string, read: FileRead]
}

interface Page {
  /** The number of the first line shown. */
  readonly first: number
  readonly lines: readonly string[]
  readonly total: number
}

export function pageOf(input: PageInput): RestoredFile {
  const { candidate, file, limit, estimate, now } = input
  const all = linesOf(file.text)
  const page = fittingPage(all, input)
  if (all.length > 0 && page.lines.length === 0) return onlyNamed(candidate.path, estimate)
  const attachment = fileAttachment(candidate.path, page)
  const range = page.lines.length < page.total ? { offset: page.first, limit: page.lines.length } : undefined
  const read: FileRead = {
    content: file.text,
    modifiedMs: file.modifiedMs,
    at: now.toISOString(),
    ...(range && { range }),
  }
  const tokens = sizeOf(attachment, estimate)
  return tokens > limit ? onlyNamed(candidate.path, estimate) : { attachment, tokens, read: [candidate.path, read] }
}

function fittingPage(all: readonly string[], { candidate: { path, read }, limit, estimate }: PageInput): Page {
  const fitsFrom = (first: number) => {
    const lines = numberLines(worthMeasuring(all.slice(first - 1), limit), first)
    const page = (count: number): Page => ({ first, lines: lines.slice(0, count), total: all.length })
    return page(largest(lines.length, (count) => sizeOf(fileAttachment(path, page(count)), estimate) <= limit))
  }
  const fromStart = fitsFrom(1)
  const before = read.range?.offset ?? 1
  const isUsable = before > 1 && before <= all.length
  return fromStart.lines.length < all.length && isUsable ? fitsFrom(before) : fromStart
}

/** Files can be thousands of times larger than the part that is shown. */
function worthMeasuring(lines: readonly string[], limit: number): readonly string[] {
  let characters = charactersWithin(limit)
  const end = lines.findIndex((line) => {
    characters -= Math.min(line.length, MOST_LINE_CHARACTERS) + 1
    return characters < 0
  })
  return end < 0 ? lines : lines.slice(0, end + 1)
}

function fileAttachment(path: string, { first, lines, total }: Page): Attachment {
  const last = first + lines.length - 1
  const before = first > 1 ? [`[Lines 1-${first - 1} come before and are not shown here.]`] : []
  const after =
    last < total ? [`[Lines ${first}-${last} of ${total}. The file goes on: Read it with offset ${last + 1}.]`] : []
  const content = total === 0 ? `[The file is empty.]` : [...before, ...lines, ...after].join("\n")
  return { type: "file", path, content }
}

function onlyNamed(path: string, estimate: Estimate): RestoredFile {
  const attachment: Attachment = { type: "compact_file_reference", path }
  return { attachment, tokens: sizeOf(attachment, estimate) }
}

export function sizeOf(attachment: Attachment, estimate: Estimate): number {
  return renderAttachment(attachment).reduce((sum, { text }) => sum + estimate(text), 0)
}
