/** Writes one planned change: the files, the index in step with them, the archive, and the history, all or nothing. */

import { utcDay } from "../../base/clock.ts"
import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryFileChange, MemoryFiles } from "../../journal/memory-files.ts"
import { ARCHIVE, INDEX_FILE } from "../file-names.ts"
import { updateIndex } from "../index-file.ts"
import type { Memory, MemoryAuthor, MemoryChange, MemoryFileEdit, MemoryRefusal, MemorySource } from "../memory.ts"
import { maskFile } from "../topic-file.ts"
import { hashOf, historyWrites, type RecordedFile, readCopy } from "./history.ts"
import type { Edits } from "./merge.ts"
import { fileFacts, type Snapshot, type SnapshotReader } from "./snapshot.ts"

export interface PlannedChange {
  readonly by: MemoryAuthor
  readonly why: string
  readonly source?: MemorySource
  readonly reverts?: string
  /** Texts to write by path; `null` removes the file. A text that is already on disk is only recorded. */
  readonly edits: Edits
  readonly sources?: ReadonlyMap<string, MemorySource>
  readonly masked?: readonly { readonly file: string; readonly kind: string }[]
  readonly refused?: readonly MemoryRefusal[]
  readonly replaced?: readonly string[]
  /** Lines of the index that the user wrote. */
  readonly ownLines?: readonly string[]
  /** Archived copies that are no longer needed, with their texts. */
  readonly unarchived?: ReadonlyMap<string, string>
  /** Other files to write in the same step. They are not part of the change. */
  readonly alongside?: readonly MemoryFileChange[]
}

interface Commit {
  readonly files: MemoryFiles
  readonly reader: SnapshotReader
  readonly snapshot: Snapshot
  readonly plan: PlannedChange
  readonly now: Date
}

/** Undefined if there is nothing to record. Throws `MemoryChangedError` if another process made a change first. */
export async function commit({ files, reader, snapshot, plan, now }: Commit): Promise<MemoryChange | undefined> {
  const edits = await withIndex({ reader, snapshot, edits: plan.edits })
  if (edits.size === 0) return undefined
  const { head, text: headText } = snapshot.loaded
  const recorded: Record<string, RecordedFile> = { ...head.files }
  const changed: MemoryFileEdit[] = []
  const writes: MemoryFileChange[] = []
  const copies: string[] = []
  const refused = new Set(plan.refused?.map(({ file }) => file))
  for (const [path, text] of [...edits].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const before = head.files[path]?.copy
    const onDisk = snapshot.texts.get(path) ?? null
    if (text !== null || onDisk !== null)
      writes.push({ path, text: text ?? undefined, expected: onDisk, quarantinesUnreadable: path === INDEX_FILE })
    if (text === null) {
      delete recorded[path]
      const lost = path === INDEX_FILE ? undefined : await removedText({ files, before, onDisk })
      const archived = lost === undefined ? undefined : await archivePlace(files, { path, text: lost, writes })
      if (archived) writes.push({ path: archived, text: lost })
      if (before || archived) changed.push({ path, ...(before ? { before } : {}), ...(archived ? { archived } : {}) })
      continue
    }
    const facts = fileFacts(snapshot, path)
    const { text: copy } = await maskFile({ file: path, text, facts })
    copies.push(copy)
    const source = plan.sources?.get(path) ?? head.files[path]?.source ?? plan.source ?? facts.source
    const created = head.files[path]?.created ?? (facts.created || utcDay(now))
    const lines = path === INDEX_FILE ? [...(head.files[path]?.lines ?? []), ...(plan.ownLines ?? [])] : []
    const own = lines.length > 0 ? { lines: [...new Set(lines)] } : {}
    recorded[path] = { hash: hashOf(text), copy: hashOf(copy), created, source, ...own }
    if (refused.has(path) && before === hashOf(copy)) continue // the refused file is restored to its previous text
    changed.push({ path, ...(before ? { before } : {}), after: hashOf(copy), source })
  }
  for (const [path, text] of plan.unarchived ?? []) writes.push({ path, text: undefined, expected: text })
  const last = head.last + 1
  const change: MemoryChange = {
    id: String(last),
    at: now.toISOString(),
    by: plan.by,
    why: maskSecrets(plan.why),
    ...(plan.source ? { source: plan.source } : {}),
    files: changed,
    ...(plan.reverts === undefined ? {} : { reverts: plan.reverts }),
    ...(plan.masked && plan.masked.length > 0 ? { masked: plan.masked } : {}),
    ...(plan.refused && plan.refused.length > 0 ? { refused: plan.refused } : {}),
    ...(plan.replaced && plan.replaced.length > 0 ? { replaced: plan.replaced } : {}),
  }
  const history = historyWrites({ change, head: { last, files: recorded, computed: true }, headText, copies })
  // the store preserves replaced texts for some seconds, unless they contain a secret
  const permanent = writes.some(({ expected }) => expected && maskSecrets(expected) !== expected)
  const report = await files.install([...writes, ...(plan.alongside ?? []), ...history], { permanent })
  const preserved = report?.skipped ?? []
  return preserved.length > 0 ? { ...change, kept: preserved } : change
}

/** The text to archive. A damaged copy in the history must not prevent all later changes. */
async function removedText(removed: {
  files: MemoryFiles
  before: string | undefined
  onDisk: string | null
}): Promise<string | undefined> {
  const { files, before, onDisk } = removed
  const copy = before === undefined ? undefined : await readCopy(files, before).catch(() => undefined)
  return copy ?? (before === undefined || onDisk === null ? undefined : maskSecrets(onDisk))
}

/** The edits, including those of the index that follow from them. */
async function withIndex(options: { reader: SnapshotReader; snapshot: Snapshot; edits: Edits }): Promise<Edits> {
  const { reader, snapshot, edits } = options
  const texts = new Map(snapshot.texts)
  for (const [path, text] of edits) {
    if (text === null) texts.delete(path)
    else texts.set(path, text)
  }
  const current = texts.get(INDEX_FILE)
  const memories = (await reader.parse({ ...snapshot, texts })).map(({ memory }) => memory)
  const before = new Map(snapshot.memories.map((memory) => [memory.file, memory]))
  const renewed = memories.filter((memory) => isRenewed(before.get(memory.file), memory)).map(({ file }) => file)
  const removed = Object.keys(snapshot.loaded.head.files).filter((path) => !texts.has(path))
  const updated = updateIndex({ text: current, memories, renewed: new Set(renewed), removed: new Set(removed) })
  if (updated === (current ?? "")) return edits
  return new Map([...edits, [INDEX_FILE, updated]])
}

const isRenewed = (before: Memory | undefined, after: Memory): boolean =>
  before !== undefined &&
  (["name", "description", "failed", "doubtedBy"] as const).some((key) => before[key] !== after[key])

/** An unused path in the archive, or the path of the copy that already has this text. */
async function archivePlace(
  files: MemoryFiles,
  { path, text, writes }: { path: string; text: string; writes: readonly MemoryFileChange[] },
): Promise<string> {
  for (let count = 1; ; count++) {
    const candidate = `${ARCHIVE}/${count === 1 ? path : path.replace(/\.md$/i, `-${count}.md`)}`
    const planned = writes.find((write) => write.path === candidate)
    const existing = planned ? planned.text : await files.read(candidate).catch(() => null)
    if (existing === undefined || existing === text) return candidate
  }
}
