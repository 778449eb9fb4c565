/**
 * The memory of a worktree: the project's memory and what was learned in the worktree, kept apart until the branch is merged. It is a
 * folder of the project's memory, never of the worktree, so nothing is lost with the worktree.
 */
import { hash } from "node:crypto"
import { basename } from "node:path"
import type { Clock } from "../base/clock.ts"
import { MemoryChangedError } from "../base/errors.ts"
import type { MemoryFileChange, MemoryFiles } from "../journal/memory-files.ts"
import { openBank } from "./bank.ts"
import { commit } from "./commit.ts"
import { ARCHIVE, isTopicFile } from "./file-names.ts"
import { loadChanges, readHeadText } from "./history.ts"
import type { MemoryChange } from "./memory.ts"
import { movedInto, nestedFiles } from "./nested-files.ts"
import { type OverlaySide, planMerge, planTaking } from "./plan-overlay.ts"
import type { LinkedWorktree } from "./project-identity.ts"
import { SnapshotReader } from "./snapshot.ts"
import { BASE, MERGED, WORKTREES } from "./worktree-folders.ts"
import { markOf, type WorktreeMark, type WorktreeState, worktreeState } from "./worktree-state.ts"

const ABOUT = ".worktree.json"
const MOST_ATTEMPTS = 100 // each failure means that another process succeeded
const MOST_SLUG_CHARACTERS = 40

export interface MemoryOverlay {
  readonly name: string
  readonly folder: string
  readonly files: MemoryFiles
}

export interface OverlayWork {
  /** The project's memory. */
  readonly files: MemoryFiles
  readonly overlay: MemoryOverlay
  readonly clock: Clock
}

export interface MergedOverlay {
  readonly name: string
  readonly change: MemoryChange
  /** Files that both had changed in the same lines. Both texts are kept. */
  readonly conflicts: readonly string[]
}

interface About {
  readonly worktree: LinkedWorktree
  readonly mark: WorktreeMark
}

export function overlayOf(files: MemoryFiles, { directory }: LinkedWorktree): MemoryOverlay {
  const slug = basename(directory)
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}_-]+/gu, "-")
    .slice(0, MOST_SLUG_CHARACTERS)
  return named(files, `${slug}-${hash("sha256", directory, "hex").slice(0, 8)}`)
}

const named = (files: MemoryFiles, name: string): MemoryOverlay => {
  const folder = `${WORKTREES}/${name}`
  return { name, folder, files: nestedFiles(files, folder) }
}

/** Every worktree that has a memory of its own. */
export async function overlaysIn(files: MemoryFiles): Promise<readonly MemoryOverlay[]> {
  const names = (await files.list(WORKTREES)).map(({ path }) => path.split("/")[1]!)
  return [...new Set(names)].map((name) => named(files, name))
}

/** Begins the memory of a worktree, or brings it up to what the project's memory has learned since. */
export async function followShared(work: OverlayWork & { readonly worktree: LinkedWorktree }): Promise<void> {
  const { files, overlay, clock, worktree } = work
  if ((await readAbout(overlay)) === undefined) await writeAbout(overlay, { worktree, mark: await markOf(worktree) })
  await retried(async () => {
    const [shared, own] = [await sideOf(files, clock), await sideOf(overlay.files, clock)]
    const base = await baseOf(overlay)
    const { edits, sources, conflicts, ownLines } = await planTaking({ into: own.side, from: shared.side, base })
    const { texts } = shared.side.snapshot
    const settled = new Map([...texts].filter(([file]) => !conflicts.includes(file)))
    for (const file of conflicts) if (base.has(file)) settled.set(file, base.get(file)!)
    const alongside = baseWrites(base, settled)
    const plan = {
      by: "merge",
      why: "Taken over from the project's memory",
      edits,
      sources,
      ownLines,
      alongside,
    } as const
    const { reader, side } = own
    const change = await commit({ files: overlay.files, reader, snapshot: side.snapshot, plan, now: clock.now() })
    if (!change && alongside.length > 0) await overlay.files.install(alongside)
  })
}

/** A function that brings the worktree's memory up to date, if the project's memory changed since the last call. */
export function following(work: OverlayWork & { readonly worktree: LinkedWorktree }): () => Promise<void> {
  let seen: string | null | undefined
  return async () => {
    const head = await readHeadText(work.files)
    if (head === seen) return
    await followShared(work)
    seen = head
  }
}

/** Merges what was learned in a worktree into the project's memory, as one change. Nothing if there is nothing new. */
export async function mergeOverlay(
  work: OverlayWork & { readonly state?: WorktreeState },
): Promise<MergedOverlay | undefined> {
  const { files, overlay, clock, state = "in use" } = work
  return retried(async () => {
    const [shared, own] = [await sideOf(files, clock), await sideOf(overlay.files, clock)]
    const base = await baseOf(overlay)
    const { edits, sources, conflicts, ownLines } = await planMerge({ into: shared.side, from: own.side, base })
    const { texts } = own.side.snapshot
    const after = state === "gone" ? await removalOf(work, texts) : baseWrites(base, texts)
    const alongside = state === "gone" ? after : movedInto(overlay.folder, after)
    const why = `Merged from the worktree ${overlay.name}`
    const plan = { by: "merge", why, edits, sources, ownLines, alongside } as const
    const { reader, side } = shared
    const change = await commit({ files, reader, snapshot: side.snapshot, plan, now: clock.now() })
    if (!change && alongside.length > 0) await files.install(alongside)
    const about = state === "gone" ? undefined : await readAbout(overlay)
    if (about) await writeAbout(overlay, { ...about, mark: await markOf(about.worktree) })
    return change && { name: overlay.name, change, conflicts }
  })
}

/** Merges the memories of worktrees that are gone or whose branch was merged. */
export async function mergeFinished(options: {
  readonly files: MemoryFiles
  readonly clock: Clock
}): Promise<readonly MergedOverlay[]> {
  const merged: MergedOverlay[] = []
  for (const overlay of await overlaysIn(options.files)) {
    const about = await readAbout(overlay)
    // without a record of it, something was written there after the worktree had gone
    const state = about ? await worktreeState(about.worktree, about.mark) : "gone"
    if (state === "in use") continue
    const one = await mergeOverlay({ ...options, overlay, state })
    if (one) merged.push(one)
  }
  return merged
}

/** Merges the memories of all worktrees, also of those in use. */
export async function mergeAll(options: {
  readonly files: MemoryFiles
  readonly clock: Clock
}): Promise<readonly MergedOverlay[]> {
  const merged = [...(await mergeFinished(options))]
  for (const overlay of await overlaysIn(options.files)) {
    const one = await mergeOverlay({ ...options, overlay })
    if (one) merged.push(one)
  }
  return merged
}

/** Reads one side, with edits made by hand recorded. */
async function sideOf(files: MemoryFiles, clock: Clock): Promise<{ reader: SnapshotReader; side: OverlaySide }> {
  await openBank({ files, clock }).all()
  const reader = new SnapshotReader(files)
  const snapshot = await reader.read()
  return { reader, side: { snapshot, changes: (await loadChanges(files)).changes } }
}

async function baseOf({ files }: MemoryOverlay): Promise<ReadonlyMap<string, string>> {
  const base = nestedFiles(files, BASE)
  const texts = (await base.list()).map(async ({ path }) => [path, await base.read(path)] as const)
  return new Map((await Promise.all(texts)).flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])))
}

/** In the worktree's folder. */
function baseWrites(base: ReadonlyMap<string, string>, texts: ReadonlyMap<string, string>): MemoryFileChange[] {
  const paths = new Set([...base.keys(), ...texts.keys()])
  return [...paths]
    .filter((path) => base.get(path) !== texts.get(path))
    .map((path) => ({ path: `${BASE}/${path}`, text: texts.get(path) }))
}

/** Its memories are in the project's memory now. Its history and its archive are kept. */
async function removalOf(
  { files, overlay }: OverlayWork,
  texts: ReadonlyMap<string, string>,
): Promise<MemoryFileChange[]> {
  const taken = new Set((await files.list(MERGED)).map(({ path }) => path.split("/")[1]))
  let kept = overlay.name
  for (let count = 2; taken.has(kept); count++) kept = `${overlay.name}-${count}`
  const writes: MemoryFileChange[] = []
  for (const { path } of await files.list(overlay.folder)) {
    const inside = path.slice(overlay.folder.length + 1)
    const text = texts.get(inside)
    if (isTopicFile(inside) && text === undefined) continue // it cannot be read as a memory, so it was not merged
    writes.push({ path, text: undefined, ...(text === undefined ? {} : { expected: text }) })
    const isKept = inside.startsWith(".history/") || inside.startsWith(`${ARCHIVE}/`)
    const copy = isKept ? await files.read(path) : undefined
    if (copy !== undefined) writes.push({ path: `${MERGED}/${kept}/${inside}`, text: copy })
  }
  return writes
}

async function readAbout({ files }: MemoryOverlay): Promise<About | undefined> {
  const text = await files.read(ABOUT)
  try {
    const { worktree, mark } = JSON.parse(text ?? "") as Partial<About>
    const paths = [worktree?.directory, worktree?.gitDirectory, worktree?.commonDirectory]
    return worktree && mark?.logs && paths.every((path) => typeof path === "string") ? { worktree, mark } : undefined
  } catch {
    return undefined
  }
}

const writeAbout = ({ files }: MemoryOverlay, about: About) =>
  files.install([{ path: ABOUT, text: `${JSON.stringify(about, undefined, 1)}\n` }])

/** Repeats work that another process overtook. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MOST_ATTEMPTS) throw error
    }
  }
}
