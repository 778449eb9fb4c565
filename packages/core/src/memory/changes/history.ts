/**
 * The history of a memory directory: one file per change, copies of the texts by hash, and a head with the latest recorded state.
 * Nothing in it is ever rewritten except the head, which can be rebuilt from the changes.
 */
import { hash } from "node:crypto"
import { errorReason, MemoryFileError, StrataError } from "../../base/errors.ts"
import type { MemoryFileChange, MemoryFiles } from "../../journal/memory-files.ts"
import { INDEX_FILE } from "../file-names.ts"
import type { MemoryChange, MemoryFileEdit, MemorySource } from "../memory.ts"

export const CHANGES = ".history/changes"
export const TEXTS = ".history/texts"
export const HEAD = ".history/head.json"
const ID_DIGITS = 6
export const changePath = (id: number) => `${CHANGES}/${String(id).padStart(ID_DIGITS, "0")}.json`
export const FIRST_CHANGE = changePath(1)

/** The last recorded state of one file. */
export interface RecordedFile {
  /** Hash of the text on disk. */
  readonly hash: string
  /** Hash of the copy in the history. Differs from `hash` if secrets were removed from the copy. */
  readonly copy: string
  readonly created: string
  readonly source: MemorySource
  /** Lines of the index that the user wrote. */
  readonly lines?: readonly string[]
}

export interface HistoryHead {
  readonly last: number
  readonly files: Readonly<Record<string, RecordedFile>>
  /** Whether Strata computed the sources. Older versions took them from the files. */
  readonly computed?: true
}

export interface LoadedHead {
  readonly head: HistoryHead
  /** Text of the head file, to verify that it is unchanged when the next head is written. */
  readonly text: string | null
  readonly problems: readonly string[]
}

export const historyError = (why: string) => new StrataError(why, { code: "memory-history" })

export const hashOf = (text: string): string => hash("sha256", text, "hex")

/** The text of the head file. It differs after every recorded change. */
export const readHeadText = async (files: MemoryFiles): Promise<string | null> =>
  (await files.read(HEAD).catch((error: unknown) => {
    if (error instanceof MemoryFileError) return undefined // something else has its name: the next change quarantines it
    throw error
  })) ?? null

export interface HeadInput {
  /** Current text of the head file. */
  readonly text: string | null
  /** The last loaded head. It is returned as it is if nothing was recorded since. */
  readonly known?: LoadedHead | undefined
  /** False if there is neither a memory nor a first change: then there is no history to look for. */
  readonly mayHaveChanges: boolean
}

export async function loadHead(files: MemoryFiles, { text, known, mayHaveChanges }: HeadInput): Promise<LoadedHead> {
  if (known && text !== null && known.text === text) return known
  if (text === null && (!mayHaveChanges || (await files.list(CHANGES)).length === 0))
    return { head: { last: 0, files: {} }, text, problems: [] }
  const head = text === null ? undefined : readWithChecksum<HistoryHead>(text)
  if (head?.computed) return { head, text, problems: [] }
  const rebuilt = await rebuildHead(files)
  if (head) return { head: withSources(head, rebuilt), text, problems: [] }
  return { head: rebuilt, text, problems: ["The head of the history was damaged and is rebuilt from the changes."] }
}

/** Takes the sources from the changes, if the head's own were not computed. */
function withSources(head: HistoryHead, { files }: HistoryHead): HistoryHead {
  const recorded = Object.entries(head.files).map(([path, file]): [string, RecordedFile] => {
    const { source = UNKNOWN_SOURCE, lines } = files[path] ?? {}
    return [path, { ...file, source, ...(lines ? { lines } : {}) }]
  })
  return { ...head, files: Object.fromEntries(recorded) }
}

const UNKNOWN_SOURCE: MemorySource = { saidBy: "agent" }

/**
 * The source of a file after a change. Changes of older versions have no sources: those of the user are the user's, except reverts,
 * which are no new statement.
 */
export const sourceAfter = (
  change: MemoryChange,
  edit: MemoryFileEdit,
  known: MemorySource = UNKNOWN_SOURCE,
): MemorySource =>
  edit.source ?? (change.by !== "person" ? UNKNOWN_SOURCE : change.reverts === undefined ? { saidBy: "user" } : known)

/** The source that a copy in the history had. */
export function sourceOfCopy(changes: readonly MemoryChange[], path: string, copy: string): MemorySource {
  const isIt = (edit: MemoryFileEdit) => edit.path === path && edit.after === copy
  const change = changes.findLast(({ files }) => files.some(isIt))
  return change ? sourceAfter(change, change.files.find(isIt)!) : UNKNOWN_SOURCE
}

/** Rebuilds the head from the changes. */
async function rebuildHead(files: MemoryFiles): Promise<HistoryHead> {
  const { changes } = await loadChanges(files)
  const ids = (await files.list(CHANGES)).map(({ path }) => changeId(path))
  const recorded = new Map<string, RecordedFile>()
  for (const change of changes) {
    for (const edit of change.files) {
      const { path, after } = edit
      const known = recorded.get(path)
      const source = sourceAfter(change, edit, known?.source)
      const lines = path === INDEX_FILE ? await userLinesAfter(files, change, { edit, known: known?.lines }) : undefined
      if (after === undefined) recorded.delete(path)
      else {
        const created = known?.created ?? change.at
        recorded.set(path, { hash: after, copy: after, created, source, ...(lines ? { lines } : {}) })
      }
    }
  }
  return { last: Math.max(0, ...ids), files: Object.fromEntries(recorded) }
}

/** The lines of the index that the user has written up to this change. */
async function userLinesAfter(
  files: MemoryFiles,
  { by, reverts }: MemoryChange,
  { edit, known = [] }: { readonly edit: MemoryFileEdit; readonly known: readonly string[] | undefined },
): Promise<readonly string[]> {
  if (by !== "person" || reverts !== undefined || edit.after === undefined) return known
  const textOf = async (copy: string | undefined) => (copy ? await readCopy(files, copy).catch(() => "") : "")
  return addedLines({ known, before: await textOf(edit.before), after: await textOf(edit.after) })
}

/** Lines that the user added, besides the known ones. A line stays the user's even if it is removed and added again. */
export function addedLines(of: { known: readonly string[]; before: string; after: string }): readonly string[] {
  const linesIn = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== "")
  const had = new Set(linesIn(of.before))
  return [...new Set([...of.known, ...linesIn(of.after).filter((line) => !had.has(line))])]
}

interface LoadedChanges {
  /** Oldest first. */
  readonly changes: readonly MemoryChange[]
  /** One sentence for each damaged file. */
  readonly problems: readonly string[]
}

export async function loadChanges(files: MemoryFiles): Promise<LoadedChanges> {
  const listed = (await files.list(CHANGES)).filter(({ path }) => changeId(path) > 0)
  const read = await Promise.all(
    listed.map(async ({ path }) => {
      const text = await files.read(path).catch((error: unknown) => errorReason(error))
      const change = text === undefined ? undefined : readWithChecksum<MemoryChange>(text)
      return change ?? `Change ${changeId(path)} in the history is damaged (${path}). The others are complete.`
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
  readonly head: HistoryHead
  readonly headText: string | null
  /** The texts that the change refers to. */
  readonly copies: readonly string[]
}

/** The files to write for a change. Writing fails if another process recorded a change first. */
export function historyWrites({ change, head, headText, copies }: HistoryWrite): readonly MemoryFileChange[] {
  return [
    ...[...new Set(copies)].map((text) => ({ path: textPath(hashOf(text)), text })),
    { path: changePath(Number(change.id)), text: withChecksum(change), expected: null, quarantinesUnreadable: true },
    { path: HEAD, text: withChecksum(head), expected: headText, quarantinesUnreadable: true },
  ]
}

interface HistoryRewrite {
  /** The complete list of changes. */
  readonly changes: readonly MemoryChange[]
  readonly head: HistoryHead
  readonly headText: string | null
  /** New copies by hash. */
  readonly texts: ReadonlyMap<string, string>
}

/** The files to write for a rewritten history. Removes copies that are no longer referenced. */
export async function planHistoryRewrite(
  files: MemoryFiles,
  { changes, head, headText, texts }: HistoryRewrite,
): Promise<readonly MemoryFileChange[]> {
  const named = new Set([
    ...changes.flatMap((change) => change.files.flatMap(({ before, after }) => [before, after])),
    ...Object.values(head.files).map(({ copy }) => copy),
  ])
  const paths = new Set([...named].filter((copy) => copy !== undefined).map(textPath))
  return [
    ...[...texts].filter(([copy]) => named.has(copy)).map(([copy, text]) => ({ path: textPath(copy), text })),
    ...(await files.list(TEXTS)).filter(({ path }) => !paths.has(path)).map(({ path }) => ({ path, text: undefined })),
    ...changes.map((change) => ({ path: changePath(Number(change.id)), text: withChecksum(change) })),
    { path: HEAD, text: withChecksum(head), expected: headText },
  ]
}

export const textPath = (copy: string) => `${TEXTS}/${copy}.md`

function changeId(path: string): number {
  return Number(/(\d+)\.json$/.exec(path)?.[1] ?? 0)
}

/** JSON with a checksum, to detect torn or edited files. */
export function withChecksum(value: object): string {
  const text = JSON.stringify(value)
  return `${JSON.stringify({ sum: hashOf(text).slice(0, 16), value }, undefined, 1)}\n`
}

export function readWithChecksum<T extends object>(text: string): T | undefined {
  try {
    const { sum, value } = JSON.parse(text) as { sum: string; value: T }
    return hashOf(JSON.stringify(value)).slice(0, 16) === sum ? value : undefined
  } catch {
    return undefined
  }
}
