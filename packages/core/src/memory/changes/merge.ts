/** Merges two changes of the same files, line by line. Overlapping changes are a conflict. */
import { StrataError } from "../../base/errors.ts"
import { INDEX_FILE } from "../file-names.ts"

/** Texts by path; `null` removes the file. */
export type Edits = ReadonlyMap<string, string | null>

/** Thrown if the files were changed in the same lines since. */
export class MemoryConflictError extends StrataError {
  static override readonly code: string = "memory-conflict"
  override readonly name = "MemoryConflictError"
  readonly files: readonly string[]

  constructor(files: readonly string[]) {
    super(
      `${files.join(", ")} changed since in the same lines. Nothing was written. Look at the newer change, and edit the file by hand or revert that change first.`,
    )
    this.files = files
  }
}

/** The edits, merged with the changes since their base. Edits without effect are omitted. */
export async function mergeEdits(options: {
  edits: Edits
  base: ReadonlyMap<string, string | null> | undefined
  texts: ReadonlyMap<string, string>
}): Promise<Edits> {
  const { edits, base, texts } = options
  const merged = new Map<string, string | null>()
  const conflicts: string[] = []
  for (const [file, text] of edits) {
    const current = texts.get(file) ?? null
    const from = base?.get(file)
    const result = from === undefined ? text : await mergeFile({ base: from, current, text })
    if (result !== "conflict") {
      if (result !== current) merged.set(file, result)
    } else if (file !== INDEX_FILE) conflicts.push(file) // the index keeps its text: it is generated from the memories anyway
  }
  if (conflicts.length > 0) throw new MemoryConflictError(conflicts)
  return merged
}

type FileText = string | null

/** Merges two changes of one file. */
export async function mergeFile(file: {
  base: FileText
  current: FileText
  text: FileText
}): Promise<FileText | "conflict"> {
  const { base, current, text } = file
  if (current === base || current === text) return text
  if (text === base) return current
  if (base === null || current === null || text === null) return "conflict"
  return (await mergeTexts({ base, ours: current, theirs: text })) ?? "conflict"
}

interface Hunk {
  /** Lines of the base that the hunk replaces: from `start` up to, but not including, `end`. */
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

/** Undefined if the changes overlap. All three texts differ. */
async function mergeTexts(texts: { base: string; ours: string; theirs: string }): Promise<string | undefined> {
  const { base, ours, theirs } = texts
  const lines = splitLines(base)
  const [first, second] = [await findHunks(lines, splitLines(ours)), await findHunks(lines, splitLines(theirs))]
  const isShared = (hunk: Hunk) => second.some((other) => JSON.stringify(other) === JSON.stringify(hunk))
  const own = first.filter((hunk) => !isShared(hunk))
  if (own.some((a) => second.some((b) => a.start <= b.end && b.start <= a.end))) return undefined
  const result = [...lines]
  for (const { start, end, lines: fresh } of [...own, ...second].sort((a, b) => b.start - a.start))
    result.splice(start, end - start, ...fresh)
  return result.join("")
}

/** Splits a text into lines, each with its line end. */
const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

async function findHunks(base: readonly string[], changed: readonly string[]): Promise<readonly Hunk[]> {
  const { diffArrays } = await import("diff")
  const hunks: Hunk[] = []
  let at = 0
  let open: { start: number; end: number; lines: string[] } | undefined
  for (const { added, removed, value } of diffArrays([...base], [...changed])) {
    if (!added && !removed) {
      open = undefined
      at += value.length
      continue
    }
    if (!open) {
      open = { start: at, end: at, lines: [] }
      hunks.push(open)
    }
    if (added) open.lines.push(...value)
    else {
      at += value.length
      open.end = at
    }
  }
  return hunks
}

/** A unified diff of one file. Undefined stands for a file that does not exist. */
export async function createPatch(
  path: string,
  before: string | undefined,
  after: string | undefined,
): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff")
  const from = before === undefined ? "/dev/null" : `a/${path}`
  const to = after === undefined ? "/dev/null" : `b/${path}`
  const headers = { headerOptions: FILE_HEADERS_ONLY }
  return createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, headers)
}
