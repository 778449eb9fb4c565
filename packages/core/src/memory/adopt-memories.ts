/**
 * Adopts the memories of another namespace, all or nothing. An empty namespace receives them with their history. Otherwise each memory
 * gets an unused name, and its known source is recorded with it. Texts that the namespace had before are not adopted again. The old
 * namespace is only read.
 */
import type { Clock } from "../base/clock.ts"
import { SPENT } from "../journal/daily-totals.ts"
import type { MemoryFileChange, MemoryFiles } from "../journal/memory-files.ts"
import { commit } from "./changes/commit.ts"
import { HEAD, hashOf, loadChanges, readHeadText } from "./changes/history.ts"
import { fileFacts, SnapshotReader } from "./changes/snapshot.ts"
import { INDEX_FILE, isTopicFile } from "./file-names.ts"
import type { MemorySource } from "./memory.ts"

const HISTORY = HEAD.slice(0, HEAD.indexOf("/"))
/** State files of Strata that belong to the memories: conversations queued for extraction, and the daily total. */
const STATE_FILES = [".waiting.json", SPENT]

export interface MemoryAdoption {
  readonly from: MemoryFiles
  readonly to: MemoryFiles
  /** Written in the same step. With `expected`, of two processes only one adopts the memories. */
  readonly alongside: MemoryFileChange
  readonly clock: Clock
}

/** Whether there is anything to adopt. */
export async function hasMemories(files: MemoryFiles): Promise<boolean> {
  return (await files.list()).some(({ path }) => isAdopted(path)) || (await readHeadText(files)) !== null
}

/** Rejects with `MemoryChangedError` if another process was faster. */
export async function adoptMemories(adoption: MemoryAdoption): Promise<void> {
  if (await hasMemories(adoption.to)) await merge(adoption)
  else await copy(adoption)
}

/** Whether a file is a memory, the index, an archived copy or a daily log. */
const isAdopted = (path: string): boolean => path.includes("/") || path === INDEX_FILE || isTopicFile(path)

async function copy({ from, to, alongside }: MemoryAdoption): Promise<void> {
  const all = await from.readAll({ folders: [undefined, HISTORY], paths: await missingStateFiles(to) })
  const isOurs = (path: string) => path.startsWith(`${HISTORY}/`) || STATE_FILES.includes(path) || isAdopted(path)
  // a file that is not valid text is not a memory and is not copied
  const changes = all.flatMap(({ path, text }) =>
    text !== undefined && isOurs(path) ? [{ path, text, expected: null }] : [],
  )
  await to.install([...changes, alongside])
}

/** State files that the new namespace does not have. It may have been used before it had a memory, so its own are preserved. */
async function missingStateFiles(to: MemoryFiles): Promise<readonly string[]> {
  const present = (await to.readAll({ folders: [], paths: STATE_FILES })).map(({ path }) => path)
  return STATE_FILES.filter((path) => !present.includes(path))
}

async function merge({ from, to, alongside, clock }: MemoryAdoption): Promise<void> {
  const old = await new SnapshotReader(from, { readOnly: true }).read()
  const reader = new SnapshotReader(to, { readOnly: true })
  const snapshot = await reader.read()
  const taken = new Map([...snapshot.texts].map(([path, text]) => [path.toLowerCase(), text]))
  const known = await historyHashes(to)
  const edits = new Map<string, string>()
  const sources = new Map<string, MemorySource>()
  for (const [path, text] of old.texts) {
    if (path === INDEX_FILE || known.has(hashOf(text))) continue // memories that were deleted here do not come back
    const free = freePath(path, { text, taken })
    if (free === undefined) continue
    taken.set(free.toLowerCase(), text)
    edits.set(free, text)
    sources.set(free, fileFacts(old, path).source)
  }
  if (edits.size === 0) {
    await to.install([alongside])
    return
  }
  const plan = { by: "merge", why: "Taken over from another place of this project", edits, sources } as const
  await commit({ files: to, reader, snapshot, plan: { ...plan, alongside: [alongside] }, now: clock.now() })
}

/** Hashes of every text that a namespace has had. */
async function historyHashes(files: MemoryFiles): Promise<ReadonlySet<string>> {
  const { changes } = await loadChanges(files)
  return new Set(changes.flatMap((change) => change.files.flatMap(({ before = "", after = "" }) => [before, after])))
}

/** An unused path. Undefined if the text is already there. `taken`: texts by path in lower case. */
export function freePath(
  path: string,
  { text, taken }: { readonly text: string; readonly taken: ReadonlyMap<string, string> },
): string | undefined {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? path : path.replace(/\.md$/i, `-${count}.md`)
    const existing = taken.get(candidate.toLowerCase())
    if (existing === undefined) return candidate
    if (existing === text) return undefined
  }
}
