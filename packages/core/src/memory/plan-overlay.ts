/**
 * Plans how the memory of a worktree and the project's memory are brought together, from the texts that both had at the last time.
 * Where both changed the same lines, both texts are kept, and the newer one supersedes the older.
 */
import { fileNameFor, INDEX_FILE } from "./file-names.ts"
import { linkedFile } from "./index-file.ts"
import { isOverreach, lessTrusted } from "./instruction-guard.ts"
import type { Memory, MemoryChange, Provenance } from "./memory.ts"
import { type Edits, type FileText, mergeFile } from "./plan-change.ts"
import { factsOf, type Snapshot } from "./snapshot.ts"
import { renderMemory } from "./topic-file.ts"

export interface OverlaySide {
  readonly snapshot: Snapshot
  /** The oldest first. */
  readonly changes: readonly MemoryChange[]
}

export interface OverlayPlan {
  readonly edits: Edits
  readonly sources: ReadonlyMap<string, Provenance>
  /** Lines of the index that the person wrote. */
  readonly ownLines: readonly string[]
  /** Files that both had changed in the same lines. */
  readonly conflicts: readonly string[]
}

interface Sides {
  /** The side that takes over. */
  readonly into: OverlaySide
  readonly from: OverlaySide
  readonly base: ReadonlyMap<string, string>
}

/** What the project's memory takes over from a worktree. Every text of both sides is kept. */
export async function planMerge(sides: Sides): Promise<OverlayPlan> {
  const { edits, sources, conflicts, ownLines } = await planTaking(sides)
  const planned = new Map(edits)
  const known = new Map(sources)
  for (const file of conflicts) await keepBoth({ ...sides, file, edits: planned, sources: known })
  return { edits: planned, sources: known, conflicts, ownLines }
}

/** What one side can take over from the other without a conflict. */
export async function planTaking({ into, from, base }: Sides): Promise<OverlayPlan> {
  const edits = new Map<string, string | null>()
  const sources = new Map<string, Provenance>()
  const conflicts: string[] = []
  const index = mergedIndex({ into, from, base })
  for (const file of new Set([...base.keys(), ...from.snapshot.texts.keys()])) {
    if (file === INDEX_FILE || isUnreadable(into, file) || isUnreadable(from, file)) continue
    const texts = textsOf({ into, from, base }, file)
    const merged = await mergeFile(texts)
    const result = merged === "conflict" ? confirmedLater({ into, from }, file) : merged
    if (result === undefined) conflicts.push(file)
    else if (result !== texts.current) edits.set(file, result)
    const [ours, theirs] = [memoryIn(into, file)?.source, memoryIn(from, file)?.source]
    // a text with lines of both is no more trusted than either
    const source = ours && theirs && result !== texts.text ? lessTrusted(ours, theirs) : theirs
    if (source && edits.has(file)) sources.set(file, source)
  }
  if (index !== undefined) edits.set(INDEX_FILE, index)
  return { edits, sources, conflicts, ownLines: linesIn(from) }
}

const linesIn = ({ snapshot }: OverlaySide): readonly string[] => snapshot.loaded.head.files[INDEX_FILE]?.lines ?? []

function textsOf({ into, from, base }: Sides, file: string): { base: FileText; current: FileText; text: FileText } {
  const textIn = (texts: ReadonlyMap<string, string>) => texts.get(file) ?? null
  return { base: textIn(base), current: textIn(into.snapshot.texts), text: textIn(from.snapshot.texts) }
}

/** Too large, or not text. It stays as it is. */
const isUnreadable = ({ snapshot }: OverlaySide, file: string): boolean =>
  snapshot.listings.has(file) && !snapshot.texts.has(file)

const memoryIn = ({ snapshot }: OverlaySide, file: string): Memory | undefined =>
  snapshot.memories.find((memory) => memory.file === file)

/** Both found the same memory to be true, on different days: no conflict. */
function confirmedLater({ into, from }: Omit<Sides, "base">, file: string): string | undefined {
  const [ours, theirs] = [memoryIn(into, file), memoryIn(from, file)]
  if (!ours || !theirs) return undefined
  const said = ({ confirmed: _, ...memory }: Memory) => JSON.stringify(memory)
  if (said(ours) !== said(theirs)) return undefined
  return (ours.confirmed < theirs.confirmed ? from : into).snapshot.texts.get(file)
}

/** The index follows the memories by itself. Only lines that the person wrote there have to be taken over. */
function mergedIndex({ into, from, base }: Sides): string | undefined {
  const linesOf = (texts: ReadonlyMap<string, string>) => texts.get(INDEX_FILE)?.split("\n") ?? []
  const known = new Set([...linesOf(base), ...linesOf(into.snapshot.texts)])
  const own = new Set(linesIn(from))
  const isOwn = (line: string) => own.has(line.replace(/\r$/, ""))
  const fresh = linesOf(from.snapshot.texts).filter(
    (line) => linkedFile(line) === undefined && isOwn(line) && !known.has(line),
  )
  if (fresh.length === 0) return undefined
  const current = into.snapshot.texts.get(INDEX_FILE) ?? ""
  return `${current}${current === "" || current.endsWith("\n") ? "" : "\n"}${fresh.join("\n")}\n`
}

interface Conflict extends Sides {
  readonly file: string
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, Provenance>
}

async function keepBoth({ into, from, base, file, edits, sources }: Conflict): Promise<void> {
  const [ours, theirs] = [memoryIn(into, file), memoryIn(from, file)]
  if (!theirs) return // removed there and changed here: the change stays
  sources.set(file, theirs.source)
  if (!ours) return void edits.set(file, from.snapshot.texts.get(file)!)
  const taken = [...into.snapshot.listings.keys(), ...from.snapshot.listings.keys(), ...edits.keys()]
  const copy = fileNameFor(theirs.name, taken)
  sources.set(copy, theirs.source)
  sources.set(file, ours.source)
  const texts = { ours: into.snapshot.texts.get(file)!, theirs: from.snapshot.texts.get(file)! }
  if (!base.has(file) && ours.name !== theirs.name) return void edits.set(copy, texts.theirs) // two topics with one file name
  const isLater = lastChange(from, file) >= lastChange(into, file)
  const isTheirsNewer = isLater ? !isOverreach(theirs, ours) : isOverreach(ours, theirs)
  const [newer, older] = isTheirsNewer ? [copy, file] : [file, copy]
  const marked = (memory: Memory): Memory =>
    memory.file === newer
      ? { ...withoutSuccessor(memory), supersedes: [...new Set([...(memory.supersedes ?? []), older])] }
      : { ...memory, supersededBy: newer }
  const facts = { ours: factsOf(into.snapshot, file), theirs: factsOf(from.snapshot, file) }
  edits.set(file, await renderMemory(marked(ours), { text: texts.ours, facts: facts.ours }))
  edits.set(copy, await renderMemory(marked({ ...theirs, file: copy }), { text: texts.theirs, facts: facts.theirs }))
}

const withoutSuccessor = ({ supersededBy: _, ...memory }: Memory): Memory => memory

function lastChange({ changes, snapshot }: OverlaySide, file: string): string {
  const change = changes.findLast(({ files }) => files.some(({ path }) => path === file))
  return change?.at ?? snapshot.listings.get(file)?.modified ?? ""
}
