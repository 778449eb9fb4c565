/**
 * Takes the memories of one place over into another, all or nothing. An empty place gets them with their history. Otherwise each memory
 * gets a free name, and what was known of its source is recorded with it. What the place has had before is not taken over again. The old
 * place is only read.
 */
import type { Clock } from "../base/clock.ts"
import type { MemoryFileChange, MemoryFiles } from "../journal/memory-files.ts"
import { SPENT } from "../journal/sums-content.ts"
import { commit } from "./changes/commit.ts"
import { HEAD, hashOf, loadChanges, readHeadText } from "./changes/history.ts"
import { factsOf, SnapshotReader } from "./changes/snapshot.ts"
import { INDEX_FILE, isTopicFile } from "./file-names.ts"
import type { MemoryProvenance } from "./memory.ts"

const HISTORY = HEAD.slice(0, HEAD.indexOf("/"))
/** Files of ours that belong to the memories: conversations that wait for an extraction, and the sum of the day. */
const BESIDE = [".waiting.json", SPENT]

export interface TakeOver {
  readonly from: MemoryFiles
  readonly to: MemoryFiles
  /** Written in the same step. With `expected`, two processes do it once. */
  readonly alongside: MemoryFileChange
  readonly clock: Clock
}

/** Whether there is anything to take over. */
export async function hasMemories(files: MemoryFiles): Promise<boolean> {
  return (await files.list()).some(({ path }) => isKept(path)) || (await readHeadText(files)) !== null
}

/** Rejects with `MemoryChangedError` if another process was faster. */
export async function takeOverMemories(given: TakeOver): Promise<void> {
  if (await hasMemories(given.to)) await merge(given)
  else await copy(given)
}

/** Memories, the index, the archive and the daily logs. */
const isKept = (path: string): boolean => path.includes("/") || path === INDEX_FILE || isTopicFile(path)

async function copy({ from, to, alongside }: TakeOver): Promise<void> {
  const all = await from.readAll({ folders: [undefined, HISTORY], paths: await missingIn(to) })
  const isOurs = (path: string) => path.startsWith(`${HISTORY}/`) || BESIDE.includes(path) || isKept(path)
  // what cannot be read as text stays where it is: it is no memory
  const changes = all.flatMap(({ path, text }) =>
    text !== undefined && isOurs(path) ? [{ path, text, expected: null }] : [],
  )
  await to.install([...changes, alongside])
}

/** The new place may have been used before it had a memory: what it has noted since stays. */
async function missingIn(to: MemoryFiles): Promise<readonly string[]> {
  const there = (await to.readAll({ folders: [], paths: BESIDE })).map(({ path }) => path)
  return BESIDE.filter((path) => !there.includes(path))
}

async function merge({ from, to, alongside, clock }: TakeOver): Promise<void> {
  const old = await new SnapshotReader(from, { readOnly: true }).read()
  const reader = new SnapshotReader(to, { readOnly: true })
  const snapshot = await reader.read()
  const taken = new Map([...snapshot.texts].map(([path, text]) => [path.toLowerCase(), text]))
  const known = await textsOfHistory(to)
  const edits = new Map<string, string>()
  const sources = new Map<string, MemoryProvenance>()
  for (const [path, text] of old.texts) {
    if (path === INDEX_FILE || known.has(hashOf(text))) continue // what was forgotten here does not come back
    const free = freePlace(path, { text, taken })
    if (free === undefined) continue
    taken.set(free.toLowerCase(), text)
    edits.set(free, text)
    sources.set(free, factsOf(old, path).source)
  }
  if (edits.size === 0) {
    await to.install([alongside])
    return
  }
  const plan = { by: "merge", why: "Taken over from another place of this project", edits, sources } as const
  await commit({ files: to, reader, snapshot, plan: { ...plan, alongside: [alongside] }, now: clock.now() })
}

/** Hashes of every text that a place has had. */
async function textsOfHistory(files: MemoryFiles): Promise<ReadonlySet<string>> {
  const { changes } = await loadChanges(files)
  return new Set(changes.flatMap((change) => change.files.flatMap(({ before = "", after = "" }) => [before, after])))
}

/** A free name. Nothing if this text is there already. `taken`: texts by path in lower case. */
export function freePlace(
  path: string,
  { text, taken }: { readonly text: string; readonly taken: ReadonlyMap<string, string> },
): string | undefined {
  for (let count = 1; ; count++) {
    const place = count === 1 ? path : path.replace(/\.md$/i, `-${count}.md`)
    const there = taken.get(place.toLowerCase())
    if (there === undefined) return place
    if (there === text) return undefined
  }
}
