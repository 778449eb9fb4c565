/**
 * Erases a memory for good: its file, its archived copies, and everything about it in the history. The other changes stay, and can still be
 * shown and reverted. This is the only place that rewrites history: a secret that someone typed must not stay on the disk.
 */
import type { MemoryFileChange, MemoryFiles } from "../journal/memory-files.ts"
import { ARCHIVE, INDEX_FILE } from "./file-names.ts"
import { hashOf, loadChanges, readCopy, rewrittenHistory } from "./history.ts"
import { linkedFile } from "./index-file.ts"
import type { MemoryChange, MemoryFileEdit } from "./memory.ts"
import { maskSecrets } from "./secrets/find-secrets.ts"
import type { Snapshot } from "./snapshot.ts"

const ERASED = "A memory was erased for good" // names no file: a name can hold what had to go

export interface Erasure {
  readonly writes: readonly MemoryFileChange[]
  /** Changes of the history that named it. */
  readonly changes: number
}

/** Nothing if neither the files nor the history know it. */
export async function planErasure(options: {
  files: MemoryFiles
  snapshot: Snapshot
  file: string
  now: Date
}): Promise<Erasure | undefined> {
  const { files, snapshot, file, now } = options
  const { changes } = await loadChanges(files)
  const named = changes.filter((change) => change.files.some(({ path }) => path === file))
  const isThere = snapshot.texts.has(file)
  if (named.length === 0 && !isThere) return undefined

  const copies = new Map<string, string>()
  const withoutLine = async (copy: string | undefined): Promise<string | undefined> => {
    if (copy === undefined) return undefined
    const text = await readCopy(files, copy).catch(() => undefined) // damaged: there is nothing in it to show
    if (text === undefined) return copy
    const kept = withoutLinksTo(file, text)
    copies.set(hashOf(kept), kept)
    return hashOf(kept)
  }
  const rewritten: MemoryChange[] = []
  for (const change of changes) {
    const edits: MemoryFileEdit[] = []
    for (const edit of change.files) {
      if (edit.path === file) continue
      if (edit.path !== INDEX_FILE) edits.push(edit)
      else {
        const [before, after] = [await withoutLine(edit.before), await withoutLine(edit.after)]
        edits.push({ path: INDEX_FILE, ...(before ? { before } : {}), ...(after ? { after } : {}) })
      }
    }
    rewritten.push(named.includes(change) ? withoutTraces(change, edits, file) : { ...change, files: edits })
  }

  const archived = [
    ...named.flatMap((change) => change.files.flatMap((edit) => (edit.path === file ? (edit.archived ?? []) : []))),
    ...(await files.list(ARCHIVE)).map(({ path }) => path).filter((path) => isCopyOf(path, file)),
  ]
  const index = snapshot.texts.get(INDEX_FILE)
  const kept = index === undefined ? undefined : withoutLinksTo(file, index)
  const copy = maskSecrets(kept ?? "")
  copies.set(hashOf(copy), copy)

  const { [file]: _, ...recorded } = snapshot.loaded.head.files
  const last = snapshot.loaded.head.last + 1
  const indexFacts = recorded[INDEX_FILE]
  const head = {
    last,
    files: {
      ...recorded,
      ...(indexFacts && kept !== undefined
        ? { [INDEX_FILE]: { ...indexFacts, hash: hashOf(kept), copy: hashOf(copy) } }
        : {}),
    },
  }
  const erased: MemoryChange = { id: String(last), at: now.toISOString(), by: "person", why: ERASED, files: [] }
  return {
    changes: named.length,
    writes: [
      ...(isThere ? [{ path: file, text: undefined, expected: snapshot.texts.get(file)! }] : []),
      ...(kept === undefined ? [] : [{ path: INDEX_FILE, text: kept, expected: index! }]),
      ...[...new Set(archived)].map((path) => ({ path, text: undefined })),
      ...(await rewrittenHistory(files, {
        changes: [...rewritten, erased],
        head,
        headText: snapshot.loaded.text,
        texts: copies,
      })),
    ],
  }
}

/** A change that was only about the erased memory says nothing about it any more. */
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

/** `archive/a.md`, `archive/a-2.md`: an earlier removal of the same memory. */
function isCopyOf(archived: string, file: string): boolean {
  const stem = file.replace(/\.md$/i, "")
  const rest = archived.slice(ARCHIVE.length + 1)
  return rest.startsWith(stem) && /^(?:-\d+)?\.md$/i.test(rest.slice(stem.length))
}
