/**
 * Erases a memory permanently: its file, its archived copies, references in other memories, and everything about it in the history. The
 * other changes stay, and can still be shown and reverted. This is the only place that rewrites history: a secret that someone typed
 * must not stay on disk.
 */
import type { MemoryFileChange, MemoryFiles } from "../../journal/memory-files.ts"
import { ARCHIVE, INDEX_FILE } from "../file-names.ts"
import { linkedFile } from "../index-file.ts"
import type { MemoryChange, MemoryFileEdit } from "../memory.ts"
import { editMemoryText } from "../topic-file.ts"
import { hashOf, loadChanges, planHistoryRewrite, type RecordedFile, readCopy } from "./history.ts"
import { fileFacts, type Snapshot } from "./snapshot.ts"
import { TEXT_CACHE_FILE } from "./text-cache.ts"

export const ERASED = "A memory was erased for good" // contains no file name, because the name itself may have been the secret

interface Erasure {
  readonly writes: readonly MemoryFileChange[]
  /** Number of changes in the history that named the memory. */
  readonly changes: number
}

interface ErasureOptions {
  readonly files: MemoryFiles
  readonly snapshot: Snapshot
  readonly file: string
  readonly now: Date
}

/** Undefined if neither the files nor the history contain the memory. */
export async function planErasure(options: ErasureOptions): Promise<Erasure | undefined> {
  const { files, snapshot, file, now } = options
  const { changes } = await loadChanges(files)
  const named = changes.filter((change) => change.files.some(({ path }) => path === file))
  const isThere = snapshot.texts.has(file)
  if (named.length === 0 && !isThere) return undefined

  const copies = new Map<string, string>()
  const cleanCopy = async (path: string, copy: string | undefined): Promise<string | undefined> => {
    if (copy === undefined) return undefined
    const text = await readCopy(files, copy).catch(() => undefined) // damaged copies contain nothing to show
    if (text === undefined) return copy
    const cleaned = await withoutReferences(options, path, text)
    copies.set(hashOf(cleaned), cleaned)
    return hashOf(cleaned)
  }
  const rewritten: MemoryChange[] = []
  for (const change of changes) {
    const edits: MemoryFileEdit[] = []
    for (const edit of change.files) {
      if (edit.path === file) continue
      const [before, after] = [await cleanCopy(edit.path, edit.before), await cleanCopy(edit.path, edit.after)]
      edits.push({ ...edit, ...(before ? { before } : {}), ...(after ? { after } : {}) })
    }
    rewritten.push(named.includes(change) ? withoutTraces(change, edits, file) : { ...change, files: edits })
  }

  const recorded: Record<string, RecordedFile> = { ...snapshot.loaded.head.files }
  delete recorded[file]
  const writes: MemoryFileChange[] = []
  for (const [path, text] of snapshot.texts) {
    if (path === file) continue
    const cleaned = await withoutReferences(options, path, text)
    const facts = recorded[path]
    if (cleaned !== text) writes.push({ path, text: cleaned, expected: text })
    // an unrecorded manual edit stays unrecorded
    if (facts?.hash === hashOf(text)) recorded[path] = { ...facts, hash: hashOf(cleaned) }
  }
  for (const [path, facts] of Object.entries(recorded))
    recorded[path] = {
      ...facts,
      copy: (await cleanCopy(path, facts.copy))!,
      ...(facts.lines ? { lines: facts.lines.filter((line) => linkedFile(line) !== file) } : {}),
    }
  const last = snapshot.loaded.head.last + 1
  const erased: MemoryChange = { id: String(last), at: now.toISOString(), by: "person", why: ERASED, files: [] }
  return {
    changes: named.length,
    writes: [
      ...(isThere ? [{ path: file, text: undefined, expected: snapshot.texts.get(file)! }] : []),
      ...writes,
      ...(await archiveWrites(options, named)),
      { path: TEXT_CACHE_FILE, text: undefined },
      ...(await planHistoryRewrite(files, {
        changes: [...rewritten, erased],
        head: { last, files: recorded, computed: true },
        headText: snapshot.loaded.text,
        texts: copies,
      })),
    ],
  }
}

/** Removes the memory's copies from the archive, and its name from the copies of other memories. */
async function archiveWrites(options: ErasureOptions, named: readonly MemoryChange[]): Promise<MemoryFileChange[]> {
  const { files, file } = options
  const own = named.flatMap((change) =>
    change.files.flatMap((edit) => (edit.path === file ? (edit.archived ?? []) : [])),
  )
  const writes = (await files.list(ARCHIVE)).map(async ({ path }): Promise<MemoryFileChange[]> => {
    if (own.includes(path) || isCopyOf(path, file)) return [{ path, text: undefined }]
    const text = await files.read(path).catch(() => undefined)
    const cleaned = text === undefined ? undefined : await withoutReferences(options, path, text)
    return cleaned === text ? [] : [{ path, text: cleaned, expected: text! }]
  })
  return (await Promise.all(writes)).flat()
}

/** The text of another file without index lines or supersession fields that name the erased memory. */
async function withoutReferences({ snapshot, file }: ErasureOptions, path: string, text: string): Promise<string> {
  if (path === INDEX_FILE) return withoutLinksTo(file, text)
  const erased = snapshot.memories.find((memory) => memory.file === file)
  const stem = file.replace(/\.md$/i, "")
  if (!text.includes(stem) && (erased === undefined || !text.includes(erased.name))) return text
  const names = new Set([file, stem, ...(erased ? [erased.name] : [])])
  const facts = fileFacts(snapshot, path)
  const next = snapshot.memories.find((one) => one.file === erased?.supersededBy)?.file
  return editMemoryText({ file: path, text, facts }, ({ supersedes = [], supersededBy, doubtedBy, ...memory }) => {
    const remaining = supersedes.filter((reference) => !names.has(reference))
    const successor = supersededBy !== undefined && names.has(supersededBy) ? next : supersededBy
    return {
      ...memory,
      ...(remaining.length > 0 ? { supersedes: remaining } : {}),
      ...(successor === undefined || successor === path ? {} : { supersededBy: successor }),
      ...(doubtedBy === undefined || names.has(doubtedBy) ? {} : { doubtedBy }),
    }
  })
}

/** Removes all details from a change that concerned only the erased memory. */
function withoutTraces(change: MemoryChange, files: readonly MemoryFileEdit[], file: string): MemoryChange {
  const isOnlyThat = files.every(({ path }) => path === INDEX_FILE)
  const { masked = [], refused = [], ...rest } = change
  const [otherMasked, otherRefused] = [
    masked.filter((one) => one.file !== file),
    refused.filter((one) => one.file !== file),
  ]
  return {
    ...rest,
    ...(isOnlyThat ? { why: ERASED } : {}),
    files,
    ...(otherMasked.length > 0 ? { masked: otherMasked } : {}),
    ...(otherRefused.length > 0 ? { refused: otherRefused } : {}),
  }
}

const withoutLinksTo = (file: string, index: string): string =>
  index
    .split("\n")
    .filter((line) => linkedFile(line) !== file)
    .join("\n")

/** Whether an archived file is a copy of the memory: `archive/a.md`, or `archive/a-2.md` for an earlier removal. */
function isCopyOf(archived: string, file: string): boolean {
  const stem = file.replace(/\.md$/i, "")
  const rest = archived.slice(ARCHIVE.length + 1)
  return rest.startsWith(stem) && /^(?:-\d+)?\.md$/i.test(rest.slice(stem.length))
}
