/** Finds files that a user or file tools changed without the bank, and plans how to record them. */
import { utcDay } from "../../base/clock.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { INDEX_FILE } from "../file-names.ts"
import { refusalReason, ruleChangeViolation } from "../instruction-guard.ts"
import type { Memory, MemoryRefusal, MemorySource, MemoryToolEdits } from "../memory.ts"
import { claimsOtherSource, editMemoryText, maskFile, parseMemory, renderMemory } from "../topic-file.ts"
import { withUserTitle } from "../user-quotes.ts"
import { withDates } from "./absolute-dates.ts"
import type { PlannedChange } from "./commit.ts"
import { addedLines, readCopy } from "./history.ts"
import { manualEditSource, removalsOfStale } from "./manual-edits.ts"
import { nearMemories } from "./near-memories.ts"
import { fileFacts, fileHash, type Snapshot } from "./snapshot.ts"
import { findSuccessors, withSuccessor as marked, type WrittenMemory } from "./supersession.ts"

interface RecordInput {
  readonly files: MemoryFiles
  readonly snapshot: Snapshot
}

/** Plans one origin at a time, the user first. Undefined if every text is recorded already. */
export async function planManualEdits({ files, snapshot }: RecordInput): Promise<PlannedChange | undefined> {
  const { manualEdits, loaded } = snapshot
  const groups = Map.groupBy(unrecordedPaths(snapshot), (path) => manualEdits.otherOrigin(path))
  const doubt = groups.has(undefined) ? undefined : [...groups.keys()][0]
  const paths = groups.get(doubt)
  if (!paths) return undefined
  const source = manualEditSource(doubt)
  const edits = new Map(paths.map((path) => [path, textOf(snapshot, path)]))
  const sources = new Map(paths.map((path) => [path, source]))
  const written: WrittenMemory[] = []
  for (const memory of snapshot.memories.filter(({ file }) => edits.has(file)))
    written.push({ memory, before: await recordedMemory({ files, snapshot }, memory.file) })
  await markOutdated(written, { snapshot, edits })
  const alongside = removalsOfStale(manualEdits.announced)
  if (doubt !== undefined)
    return { by: "outside", why: `Changed by ${doubt}, or during it`, source, edits, sources, alongside }
  const index = loaded.head.files[INDEX_FILE]
  const before = index ? await readCopy(files, index.copy).catch(() => "") : ""
  const ownLines = addedLines({ known: [], before, after: edits.get(INDEX_FILE) ?? "" })
  return { by: "person", why: "Edited by hand", edits, sources, ownLines }
}

/** Files whose text differs from the last recorded one. Files that cannot be read are skipped. */
function unrecordedPaths(snapshot: Snapshot): readonly string[] {
  const { loaded, texts, listings, closed } = snapshot
  const { files } = loaded.head
  const written = [...texts.keys()].filter((path) => files[path]?.hash !== fileHash(snapshot, path))
  const isClosed = (path: string) => closed.some((folder) => path.startsWith(`${folder}/`))
  const removed = Object.keys(files).filter((path) => !listings.has(path) && !isClosed(path))
  return [...written, ...removed].sort()
}

const textOf = ({ texts }: Snapshot, path: string): string | null => texts.get(path) ?? null

/**
 * File tools must not write secrets, instructions from tools, or changes of the user's rules: secrets are masked, the rest is removed
 * again. Source and dates are set from what Strata knows, regardless of the file's own claims.
 */
export async function planToolEdits({
  files,
  snapshot,
  edits,
  now,
}: RecordInput & { readonly edits: MemoryToolEdits; readonly now: Date }): Promise<PlannedChange> {
  const texts = new Map<string, string | null>()
  const sources = new Map<string, MemorySource>()
  const masked: { file: string; kind: string }[] = []
  const refused: MemoryRefusal[] = []
  const replaced: string[] = []
  const accepted: WrittenMemory[] = []
  const today = utcDay(now)
  // another process may have recorded them already, without knowing their source
  for (const file of edits.files ?? unrecordedPaths(snapshot)) {
    const written = textOf(snapshot, file)
    if (written === null || file === INDEX_FILE) continue
    const recorded = snapshot.loaded.head.files[file]
    const before = await recordedMemory({ files, snapshot }, file)
    const facts = { created: recorded?.created ?? today, source: edits.source }
    const { text, kinds } = await maskFile({ file, text: written, facts })
    masked.push(...kinds.map((kind) => ({ file, kind })))
    const parsed = await parseMemory({ file, text, facts })
    const claimed = before?.body === parsed.body ? parsed : dated(parsed, today)
    const memory = withUserTitle({ ...claimed, created: facts.created, confirmed: today }, before)
    const why = refusalReason(memory) ?? ruleChangeViolation(before, memory)
    if (why) {
      refused.push({ file, why })
      texts.set(file, recorded ? await readCopy(files, recorded.copy) : null)
      if (before) sources.set(file, before.source)
      continue
    }
    accepted.push({ memory, before })
    if (await claimsOtherSource(text, edits.source)) replaced.push(file)
    sources.set(file, edits.source)
    texts.set(file, await renderMemory(memory, { text, facts: { ...facts, source: { saidBy: "tool" } } })) // so that the source is written
  }
  await markOutdated(accepted, { snapshot, edits: texts })
  const { by, why = "Written with the file tools", source } = edits
  return { by, why, source, edits: texts, sources, masked, refused, replaced }
}

const dated = (memory: Memory, today: string): Memory => ({
  ...memory,
  ...{ body: withDates(memory.body, today), description: withDates(memory.description, today) },
})

/** Flags memories that the written ones contradict. Files that changed together have no order. */
async function markOutdated(
  written: readonly WrittenMemory[],
  { snapshot, edits }: { readonly snapshot: Snapshot; readonly edits: Map<string, string | null> },
): Promise<void> {
  const others = snapshot.memories.filter(({ file }) => !edits.has(file))
  const near = nearMemories(others, written.length)
  const successors = new Map(written.flatMap((one) => [...findSuccessors([one], [...near(one.memory)])]))
  for (const [file, successor] of successors) {
    const text = snapshot.texts.get(file)!
    const facts = fileFacts(snapshot, file)
    edits.set(file, await editMemoryText({ file, text, facts }, (memory) => marked(memory, successor)))
  }
}

/** The memory as recorded in the history. */
async function recordedMemory({ files, snapshot }: RecordInput, file: string) {
  const recorded = snapshot.loaded.head.files[file]
  if (!recorded) return undefined
  const text = await readCopy(files, recorded.copy)
  return parseMemory({ file, text, facts: { created: recorded.created, source: recorded.source } })
}
