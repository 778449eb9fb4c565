/**
 * The history of a memory directory: one file per change, copies of the texts by hash, and a head that says what was recorded
 * last. Nothing in it is ever rewritten except the head, which can be rebuilt from the changes.
 */
import { hash } from "node:crypto"
import { MemoryFileError, reasonOf, StrataError } from "../../base/errors.ts"
import type { MemoryFileChange, MemoryFiles } from "../../journal/memory-files.ts"
import { INDEX_FILE } from "../file-names.ts"
import type { MemoryChange, MemoryFileEdit, MemoryProvenance } from "../memory.ts"

export const CHANGES = ".history/changes"
export const TEXTS = ".history/texts"
export const HEAD = ".history/head.json"
const ID_DIGITS = 6
export const changePath = (id: number) => `${CHANGES}/${String(id).padStart(ID_DIGITS, "0")}.json`
export const FIRST_CHANGE = changePath(1)

/** What was recorded last about one file. */
export interface RecordedFile {
  /** Of the text on disk. */
  readonly hash: string
  /** Of the copy in the history. It differs from `hash` if the copy has secrets removed. */
  readonly copy: string
  readonly created: string
  readonly source: MemoryProvenance
  /** Lines of the index that the person wrote. */
  readonly lines?: readonly string[]
}

export interface Head {
  readonly last: number
  readonly files: Readonly<Record<string, RecordedFile>>
  /** Strata computed the sources. Older versions took them from the files. */
  readonly computed?: true
}

export interface LoadedHead {
  readonly head: Head
  /** The file's text, to be sure that it is unchanged when the next one is written. */
  readonly text: string | null
  readonly problems: readonly string[]
}

export const historyError = (why: string) => new StrataError(why, { code: "memory-history" })

export const hashOf = (text: string): string => hash("sha256", text, "hex")

/** Differs after every recorded change. */
export const readHeadText = async (files: MemoryFiles): Promise<string | null> =>
  (await files.read(HEAD).catch((error: unknown) => {
    if (error instanceof MemoryFileError) return undefined // something else is in its place: the next change sets that aside
    throw error
  })) ?? null

export interface HeadNow {
  /** Of the head, as it is now. */
  readonly text: string | null
  /** As it was loaded last. It is the same value if nothing was recorded since. */
  readonly known?: LoadedHead | undefined
  /** False where there is neither a memory nor a first change: then there is no history to look for. */
  readonly mayHaveChanges: boolean
}

export async function loadHead(files: MemoryFiles, { text, known, mayHaveChanges }: HeadNow): Promise<LoadedHead> {
  if (known && text !== null && known.text === text) return known
  if (text === null && (!mayHaveChanges || (await files.list(CHANGES)).length === 0))
    return { head: { last: 0, files: {} }, text, problems: [] }
  const head = text === null ? undefined : unsealed<Head>(text)
  if (head?.computed) return { head, text, problems: [] }
  const rebuilt = await rebuiltHead(files)
  if (head) return { head: withSources(head, rebuilt), text, problems: [] }
  return { head: rebuilt, text, problems: ["The head of the history was damaged and is rebuilt from the changes."] }
}

/** What the changes say about who wrote it counts, where no source was computed. */
function withSources(head: Head, { files }: Head): Head {
  const recorded = Object.entries(head.files).map(([path, file]): [string, RecordedFile] => {
    const { source = UNKNOWN, lines } = files[path] ?? {}
    return [path, { ...file, source, ...(lines ? { lines } : {}) }]
  })
  return { ...head, files: Object.fromEntries(recorded) }
}

const UNKNOWN: MemoryProvenance = { saidBy: "agent" }

/** A change of an older version has no sources. What the person did is theirs; a change taken back is not a new word of theirs. */
export const sourceAfter = (
  change: MemoryChange,
  edit: MemoryFileEdit,
  known: MemoryProvenance = UNKNOWN,
): MemoryProvenance =>
  edit.source ?? (change.by !== "person" ? UNKNOWN : change.reverts === undefined ? { saidBy: "user" } : known)

/** The source that a text of the history had. */
export function sourceOfCopy(changes: readonly MemoryChange[], path: string, copy: string): MemoryProvenance {
  const isIt = (edit: MemoryFileEdit) => edit.path === path && edit.after === copy
  const change = changes.findLast(({ files }) => files.some(isIt))
  return change ? sourceAfter(change, change.files.find(isIt)!) : UNKNOWN
}

/** What the changes say about each file. */
async function rebuiltHead(files: MemoryFiles): Promise<Head> {
  const { changes } = await loadChanges(files)
  const ids = (await files.list(CHANGES)).map(({ path }) => idIn(path))
  const recorded = new Map<string, RecordedFile>()
  for (const change of changes) {
    for (const edit of change.files) {
      const { path, after } = edit
      const known = recorded.get(path)
      const source = sourceAfter(change, edit, known?.source)
      const lines = path === INDEX_FILE ? await linesAfter(files, change, { edit, known: known?.lines }) : undefined
      if (after === undefined) recorded.delete(path)
      else {
        const created = known?.created ?? change.at
        recorded.set(path, { hash: after, copy: after, created, source, ...(lines ? { lines } : {}) })
      }
    }
  }
  return { last: Math.max(0, ...ids), files: Object.fromEntries(recorded) }
}

/** The lines of the index that the person has written up to this change. */
async function linesAfter(
  files: MemoryFiles,
  { by, reverts }: MemoryChange,
  { edit, known = [] }: { readonly edit: MemoryFileEdit; readonly known: readonly string[] | undefined },
): Promise<readonly string[]> {
  if (by !== "person" || reverts !== undefined || edit.after === undefined) return known
  const textOf = async (copy: string | undefined) => (copy ? await readCopy(files, copy).catch(() => "") : "")
  return addedLines({ known, before: await textOf(edit.before), after: await textOf(edit.after) })
}

/** A line stays the person's, also if it goes and comes back. */
export function addedLines(of: { known: readonly string[]; before: string; after: string }): readonly string[] {
  const linesIn = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== "")
  const had = new Set(linesIn(of.before))
  return [...new Set([...of.known, ...linesIn(of.after).filter((line) => !had.has(line))])]
}

interface LoadedChanges {
  /** The oldest first. */
  readonly changes: readonly MemoryChange[]
  /** One sentence for each damaged file. */
  readonly problems: readonly string[]
}

export async function loadChanges(files: MemoryFiles): Promise<LoadedChanges> {
  const listed = (await files.list(CHANGES)).filter(({ path }) => idIn(path) > 0)
  const read = await Promise.all(
    listed.map(async ({ path }) => {
      const text = await files.read(path).catch((error: unknown) => reasonOf(error))
      const change = text === undefined ? undefined : unsealed<MemoryChange>(text)
      return change ?? `Change ${idIn(path)} in the history is damaged (${path}). The others are complete.`
    }),
  )
  return {
    changes: read.filter((item) => typeof item !== "string").sort((a, b) => Number(a.id) - Number(b.id)),
    problems: read.filter((item) => typeof item === "string"),
  }
}

/** Reads a copy. Throws if it is missing or damaged. */
export async function readCopy(files: MemoryFiles, copy: string): Promise<string> {
  const text = /^[0-9a-f]{64}$/.test(copy) ? await files.read(textPath(copy)) : undefined
  if (text === undefined || hashOf(text) !== copy)
    throw historyError(
      `The history's copy ${copy.slice(0, 12)} is missing or damaged in ${files.location}. Nothing was changed. Other changes can still be shown and reverted.`,
    )
  return text
}

interface HistoryWrite {
  readonly change: MemoryChange
  readonly head: Head
  readonly headText: string | null
  /** The texts that the change names. */
  readonly copies: readonly string[]
}

/** The files to write for a change. They fail if another process recorded a change first. */
export function historyWrites({ change, head, headText, copies }: HistoryWrite): readonly MemoryFileChange[] {
  return [
    ...[...new Set(copies)].map((text) => ({ path: textPath(hashOf(text)), text })),
    { path: changePath(Number(change.id)), text: sealed(change), expected: null, setsAside: true },
    { path: HEAD, text: sealed(head), expected: headText, setsAside: true },
  ]
}

interface RewrittenHistory {
  /** All changes. */
  readonly changes: readonly MemoryChange[]
  readonly head: Head
  readonly headText: string | null
  /** New copies by hash. */
  readonly texts: ReadonlyMap<string, string>
}

/** The files to write for a history that was changed as a whole. Copies that nothing names any more go. */
export async function rewrittenHistory(
  files: MemoryFiles,
  { changes, head, headText, texts }: RewrittenHistory,
): Promise<readonly MemoryFileChange[]> {
  const named = new Set([
    ...changes.flatMap((change) => change.files.flatMap(({ before, after }) => [before, after])),
    ...Object.values(head.files).map(({ copy }) => copy),
  ])
  const paths = new Set([...named].filter((copy) => copy !== undefined).map(textPath))
  return [
    ...[...texts].filter(([copy]) => named.has(copy)).map(([copy, text]) => ({ path: textPath(copy), text })),
    ...(await files.list(TEXTS)).filter(({ path }) => !paths.has(path)).map(({ path }) => ({ path, text: undefined })),
    ...changes.map((change) => ({ path: changePath(Number(change.id)), text: sealed(change) })),
    { path: HEAD, text: sealed(head), expected: headText },
  ]
}

export const textPath = (copy: string) => `${TEXTS}/${copy}.md`

function idIn(path: string): number {
  return Number(/(\d+)\.json$/.exec(path)?.[1] ?? 0)
}

/** JSON with a checksum, so that a torn or edited file is recognised. */
export function sealed(value: object): string {
  const text = JSON.stringify(value)
  return `${JSON.stringify({ sum: hashOf(text).slice(0, 16), value }, undefined, 1)}\n`
}

export function unsealed<T extends object>(text: string): T | undefined {
  try {
    const { sum, value } = JSON.parse(text) as { sum: string; value: T }
    return hashOf(JSON.stringify(value)).slice(0, 16) === sum ? value : undefined
  } catch {
    return undefined
  }
}
