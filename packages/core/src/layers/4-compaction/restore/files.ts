/**
 * Step 5, restore. The files that are shown again after a boundary: which ones are worth it (most recently read first), their current text
 * on disk, and the page of each that fits.
 */

import { realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { renderAttachment } from "../../../messages/attachment-texts.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import { isToolResult } from "../../../messages/blocks.ts"
import { contentOf, type Message, type Uuid } from "../../../messages/messages.ts"
import { readTextIfPresent } from "../../../tools/files/file-content.ts"
import { linesOf } from "../../../tools/files/line-endings.ts"
import { MAX_LINE_CHARACTERS, numberLines } from "../../../tools/files/numbered-lines.ts"
import type { FileRead } from "../../../tools/tool.ts"
import type { Artifacts } from "../../../views/record/artifacts.ts"
import { charactersWithin, type Estimate, largest } from "../cut.ts"

export interface FileCandidate {
  readonly path: string
  readonly read: FileRead
}

export interface CandidateInput {
  /** Reads and writes, oldest first. */
  readonly reads: readonly (readonly [string, FileRead])[]
  /** Ids of calls whose results stay completely in view. */
  readonly wholeCalls: ReadonlySet<string>
  readonly excluded: ExcludedPaths
}

export interface ExcludedPaths {
  /** The plan, memory files and known instruction files. */
  readonly files: readonly string[]
  /** Directories of journals, notes and memories. */
  readonly directories: readonly string[]
}

// Instruction files have these names in any directory. They are read again when the prompt is rendered.
const INSTRUCTION_NAMES = new Set(["AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"])
const RULE_DIRECTORIES = [`.strata${sep}rules`, `.claude${sep}rules`]

export function candidates({ reads, wholeCalls, excluded }: CandidateInput): readonly FileCandidate[] {
  return reads
    .filter(([path, read]) => !isShownInFull(read, wholeCalls) && !isExcluded(path, excluded))
    .map(([path, read]) => ({ path, read }))
    .toReversed()
}

/** Whether the complete file stays in view. A call that read only a part does not exclude the file. */
function isShownInFull({ toolUseId, range }: FileRead, wholeCalls: ReadonlySet<string>): boolean {
  return toolUseId !== undefined && range === undefined && wholeCalls.has(toolUseId)
}

function isExcluded(path: string, { files, directories }: ExcludedPaths): boolean {
  return files.includes(path) || directories.some((directory) => isInside(path, directory)) || isInstruction(path)
}

function isInstruction(path: string): boolean {
  if (INSTRUCTION_NAMES.has(basename(path))) return true
  const directory = dirname(path)
  return RULE_DIRECTORIES.some((rules) => directory.endsWith(`${sep}${rules}`))
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Ids of calls whose complete result is in the preserved messages. A file that such a result shows need not be shown again. `isWhole`:
 * whether a result is neither offloaded nor cleared.
 */
export function callsShownInFull(
  kept: readonly Message[],
  isWhole: (toolUseId: string) => boolean,
): ReadonlySet<string> {
  const results = kept.flatMap((message) => (message.type === "user" ? contentOf(message).filter(isToolResult) : []))
  return new Set(results.map(({ tool_use_id }) => tool_use_id).filter(isWhole))
}

interface EarlierReadsInput {
  readonly artifacts: Pick<Artifacts, "files">
  /** Base of relative paths. */
  readonly cwd: string
  /** Reads that the tools know, oldest first. */
  readonly reads: Iterable<readonly [string, FileRead]>
  /** Uuids of messages that stay in view. Files that they show are not shown again. */
  readonly preserved: ReadonlySet<Uuid>
  readonly mayRead: (path: string) => boolean
}

const MAX_FILES = 50 // the newest: hardly any file of an imported journal may exist here
/** Placeholder for a file whose content is no longer known. It is read from disk before it is shown. */
const FORGOTTEN: FileRead = { content: "", modifiedMs: 0, at: "" }

/**
 * Adds files that the journal mentions and the tools no longer know: after a resume the tools have read nothing yet. They count as older
 * than all known reads. A journal may come from someone else, so only files that may be read without asking are included. Result: files of
 * the journal, then known reads, each oldest first.
 */
export function withEarlierReads(seen: EarlierReadsInput): readonly (readonly [string, FileRead])[] {
  const reads = [...seen.reads]
  const known = new Set(reads.map(([path]) => path))
  const before = [...seen.artifacts.files]
    .filter(([, { deleted, last, onlyByShell }]) => !deleted && !onlyByShell && !seen.preserved.has(last))
    .map(([path]) => resolve(seen.cwd, path))
    .filter((path) => !known.has(path) && seen.mayRead(path))
    .slice(-MAX_FILES)
  return [...before.map((path) => [path, FORGOTTEN] as const), ...reads]
}

export interface RestorableFile {
  readonly text: string
  readonly modifiedMs: number
}

export type ReadFileAgain = (path: string, signal: AbortSignal) => Promise<RestorableFile | undefined>

/**
 * Reads a file's current text. Only the original path counts: if a link has replaced the file or a directory above it, another file would
 * be shown under its name. Never throws: returns `undefined` for what cannot be read.
 */
export const readAgain: ReadFileAgain = async (path, signal) => {
  try {
    if ((await realpath(path)) !== path) return undefined // before it is opened: a link may lead to anything
    const file = await readTextIfPresent({ inputPath: path, path }, { signal, directory: NOWHERE })
    const isSamePlace = (await realpath(path)) === path // it may have been replaced while it was read
    return file && isSamePlace ? { text: file.text, modifiedMs: file.stats.mtimeMs } : undefined
  } catch {
    return undefined // gone, no permission, a directory, not text, too large, interrupted: it makes no difference here
  }
}

/** Working directory stub: paths are absolute. */
const NOWHERE = { get: () => "/", set: () => undefined }

interface PageInput {
  readonly candidate: FileCandidate
  readonly file: RestorableFile
  /** Maximum tokens of the attachment as it is sent. */
  readonly limit: number
  readonly estimate: Estimate
  readonly now: Date
}

export interface RestoredFile {
  readonly attachment: Attachment
  readonly tokens: number
  /** Absent if the file is only mentioned. */
  readonly read?: readonly [path: string, read: FileRead]
}

interface Page {
  /** Number of the first line shown. */
  readonly first: number
  readonly lines: readonly string[]
  readonly total: number
}

/**
 * Renders a file to show again, with numbered lines as Read shows them: complete if it fits, otherwise from where it was read before, cut
 * at a line end, with a note on what is omitted and how to read it. Also returns the read that the tools should remember.
 */
export function pageOf(input: PageInput): RestoredFile {
  const { candidate, file, limit, estimate, now } = input
  const all = linesOf(file.text)
  const page = fittingPage(all, input)
  if (all.length > 0 && page.lines.length === 0) return referenceTo(candidate.path, estimate)
  const attachment = fileAttachment(candidate.path, page)
  const range = page.lines.length < page.total ? { offset: page.first, limit: page.lines.length } : undefined
  const read: FileRead = {
    content: file.text,
    modifiedMs: file.modifiedMs,
    at: now.toISOString(),
    ...(range && { range }),
  }
  const tokens = sizeOf(attachment, estimate)
  return tokens > limit ? referenceTo(candidate.path, estimate) : { attachment, tokens, read: [candidate.path, read] }
}

function fittingPage(all: readonly string[], { candidate: { path, read }, limit, estimate }: PageInput): Page {
  const fitsFrom = (first: number) => {
    const lines = numberLines(measurableLines(all.slice(first - 1), limit), first)
    const page = (count: number): Page => ({ first, lines: lines.slice(0, count), total: all.length })
    return page(largest(lines.length, (count) => sizeOf(fileAttachment(path, page(count)), estimate) <= limit))
  }
  const fromStart = fitsFrom(1)
  const before = read.range?.offset ?? 1
  const isUsable = before > 1 && before <= all.length
  return fromStart.lines.length < all.length && isUsable ? fitsFrom(before) : fromStart
}

/** The lines that could fit. Files can be thousands of times larger than the part that is shown. */
function measurableLines(lines: readonly string[], limit: number): readonly string[] {
  let characters = charactersWithin(limit)
  const end = lines.findIndex((line) => {
    characters -= Math.min(line.length, MAX_LINE_CHARACTERS) + 1
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

function referenceTo(path: string, estimate: Estimate): RestoredFile {
  const attachment: Attachment = { type: "compact_file_reference", path }
  return { attachment, tokens: sizeOf(attachment, estimate) }
}

export function sizeOf(attachment: Attachment, estimate: Estimate): number {
  return renderAttachment(attachment).reduce((sum, { text }) => sum + estimate(text), 0)
}
