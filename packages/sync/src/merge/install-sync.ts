/** Carries a plan out on this machine, all or nothing: the texts, the history of the other machines, and what was in common. */

import type { Snapshot, SnapshotReader } from "@strata/core/memory-files"
import { changePath, commit, HEAD, hashOf, sealed, textPath } from "@strata/core/memory-files"
import type { MemoryFileChange, MemoryFiles } from "@strata/core/store"
import { basePath, type Here, type SyncBase } from "./here.ts"
import type { SyncPlan } from "./plan-sync.ts"
import { copiesIn, SYNCED, type SyncedChange } from "./synced-memories.ts"

interface InstallSync {
  readonly files: MemoryFiles
  readonly reader: SnapshotReader
  readonly here: Here
  readonly plan: SyncPlan
  /** The key of the remote, and its name for people. */
  readonly remote: string
  readonly title: string
  readonly now: Date
}

/** Throws `MemoryChangedError` if another process changed something. Resolves with what is noted about the remote, as it is kept. */
export async function installSync(given: InstallSync): Promise<string> {
  const { files, reader, here, plan, remote, title, now } = given
  const { imports, sources } = plan
  const { head, text: headText } = here.snapshot.loaded
  const edits = settledEdits(plan, here)
  const written = new Set(edits.values()) // the change itself keeps copies of these, and no file is written twice in one step
  const copies = new Map(imports.flatMap(copiesIn).map((copy) => [copy, plan.next.texts.get(copy)!]))
  const imported = imports.map((change, at): MemoryFileChange => {
    const id = head.last + 1 + at
    return { path: changePath(id), text: sealed({ id: String(id), ...change }), expected: null, setsAside: true }
  })
  const noted = sealed(plan.base.taken)
  const alongside = [
    ...[...copies].flatMap(([copy, text]) => (written.has(text) ? [] : [{ path: textPath(copy), text }])),
    ...imported,
    ...(noted === here.baseText ? [] : [{ path: basePath(remote), text: noted, expected: here.baseText }]),
  ]
  const last = head.last + imports.length
  const snapshot: Snapshot = { ...here.snapshot, loaded: { ...here.snapshot.loaded, head: { ...head, last } } }
  const change = await commit({
    ...{ files, reader, snapshot, now },
    plan: { by: "merge", why: `${SYNCED} ${title}`, edits, sources, alongside },
  })
  if (change === undefined) {
    const moved = imports.length === 0 ? [] : [{ path: HEAD, text: sealed({ ...head, last }), expected: headText }]
    if (alongside.length + moved.length > 0) await files.install([...alongside, ...moved])
  }
  const kept = change?.kept ?? []
  if (kept.length === 0) return noted
  // someone saved these in the same moment: they have not been brought together yet
  return noteBase({ files, remote, before: noted, base: withoutKept(plan.base.taken, here.base, kept) })
}

interface NoteBase {
  readonly files: MemoryFiles
  readonly remote: string
  /** As it is kept now. */
  readonly before: string
  readonly base: SyncBase
}

/** Resolves with the text as it is kept. */
export async function noteBase({ files, remote, before, base }: NoteBase): Promise<string> {
  const text = sealed(base)
  if (text !== before) await files.install([{ path: basePath(remote), text, expected: before }])
  return text
}

function withoutKept(base: SyncBase, earlier: SyncBase | undefined, kept: readonly string[]): SyncBase {
  const files = { ...base.files }
  for (const path of kept) {
    delete files[path]
    if (earlier && Object.hasOwn(earlier.files, path)) files[path] = earlier.files[path]!
  }
  return { ...base, files }
}

/** The last change that names a memory says how it is: where the imported ones end with another text, this one says it again. */
function settledEdits({ edits, imports }: SyncPlan, here: Here): ReadonlyMap<string, string | null> {
  const settled = new Map(edits)
  for (const [path, after] of lastTexts(imports)) {
    if (settled.has(path)) continue
    const text = here.snapshot.texts.get(path) ?? null
    if ((text === null ? undefined : hashOf(text)) !== after) settled.set(path, text)
  }
  return settled
}

const lastTexts = (imports: readonly SyncedChange[]): ReadonlyMap<string, string | undefined> =>
  new Map(imports.flatMap(({ files }) => files.map(({ path, after }): [string, string | undefined] => [path, after])))
