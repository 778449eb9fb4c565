/** Finds what was written into the directory past the bank, by a person with an editor or by file tools, and plans its record. */
import { dayOf } from "../../base/clock.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { INDEX_FILE } from "../file-names.ts"
import { refusalOf, trespassOf } from "../instruction-guard.ts"
import type { Memory, MemoryProvenance, MemoryRefusal, MemoryToolEdits } from "../memory.ts"
import { inTheirWords } from "../own-words.ts"
import { claimsOtherSource, editedMemory, maskFile, parseMemory, renderMemory } from "../topic-file.ts"
import type { PlannedChange } from "./commit.ts"
import { withDates } from "./dated-words.ts"
import { sourceOfEdit, withoutLeftOvers } from "./hand-edits.ts"
import { addedLines, readCopy } from "./history.ts"
import { nearMemories } from "./near-memories.ts"
import { factsOf, hashIn, type Snapshot } from "./snapshot.ts"
import { replaced as marked, successorsOf, type Written } from "./supersession.ts"

interface Recording {
  readonly files: MemoryFiles
  readonly snapshot: Snapshot
}

/** One origin at a time: the person first. Nothing if every text is recorded already. */
export async function planHandEdits({ files, snapshot }: Recording): Promise<PlannedChange | undefined> {
  const { handEdits, loaded } = snapshot
  const groups = Map.groupBy(unrecordedPaths(snapshot), (path) => handEdits.doubt(path))
  const doubt = groups.has(undefined) ? undefined : [...groups.keys()][0]
  const paths = groups.get(doubt)
  if (!paths) return undefined
  const source = sourceOfEdit(doubt)
  const edits = new Map(paths.map((path) => [path, textOf(snapshot, path)]))
  const sources = new Map(paths.map((path) => [path, source]))
  const written: Written[] = []
  for (const memory of snapshot.memories.filter(({ file }) => edits.has(file)))
    written.push({ memory, before: await recordedMemory({ files, snapshot }, memory.file) })
  await markOlder(written, { snapshot, edits })
  const alongside = withoutLeftOvers(handEdits.announced)
  if (doubt !== undefined)
    return { by: "outside", why: `Changed by ${doubt}, or during it`, source, edits, sources, alongside }
  const index = loaded.head.files[INDEX_FILE]
  const before = index ? await readCopy(files, index.copy).catch(() => "") : ""
  const ownLines = addedLines({ known: [], before, after: edits.get(INDEX_FILE) ?? "" })
  return { by: "person", why: "Edited by hand", edits, sources, ownLines }
}

/** Files whose text differs from what was recorded last. A file that cannot be read is left alone. */
function unrecordedPaths(snapshot: Snapshot): readonly string[] {
  const { loaded, texts, listings, closed } = snapshot
  const { files } = loaded.head
  const written = [...texts.keys()].filter((path) => files[path]?.hash !== hashIn(snapshot, path))
  const isClosed = (path: string) => closed.some((folder) => path.startsWith(`${folder}/`))
  const removed = Object.keys(files).filter((path) => !listings.has(path) && !isClosed(path))
  return [...written, ...removed].sort()
}

const textOf = ({ texts }: Snapshot, path: string): string | null => texts.get(path) ?? null

/**
 * File tools have no right to secrets, to a tool's instructions or to the person's rules: the first are masked, the others are taken out
 * again. Source and dates are written as they are known here, whatever the file says.
 */
export async function planToolEdits({
  files,
  snapshot,
  edits,
  now,
}: Recording & { readonly edits: MemoryToolEdits; readonly now: Date }): Promise<PlannedChange> {
  const texts = new Map<string, string | null>()
  const sources = new Map<string, MemoryProvenance>()
  const masked: { file: string; kind: string }[] = []
  const refused: MemoryRefusal[] = []
  const replaced: string[] = []
  const accepted: Written[] = []
  const today = dayOf(now)
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
    const memory = inTheirWords({ ...claimed, created: facts.created, confirmed: today }, before)
    const why = refusalOf(memory) ?? trespassOf(before, memory)
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
  await markOlder(accepted, { snapshot, edits: texts })
  const { by, why = "Written with the file tools", source } = edits
  return { by, why, source, edits: texts, sources, masked, refused, replaced }
}

const dated = (memory: Memory, today: string): Memory => ({
  ...memory,
  ...{ body: withDates(memory.body, today), description: withDates(memory.description, today) },
})

/** What was written replaces what it contradicts. Files that changed together have no order. */
async function markOlder(
  written: readonly Written[],
  { snapshot, edits }: { readonly snapshot: Snapshot; readonly edits: Map<string, string | null> },
): Promise<void> {
  const others = snapshot.memories.filter(({ file }) => !edits.has(file))
  const near = nearMemories(others, written.length)
  const successors = new Map(written.flatMap((one) => [...successorsOf([one], [...near(one.memory)])]))
  for (const [file, successor] of successors) {
    const text = snapshot.texts.get(file)!
    const facts = factsOf(snapshot, file)
    edits.set(file, await editedMemory({ file, text, facts }, (memory) => marked(memory, successor)))
  }
}

/** The memory as the history has it. */
async function recordedMemory({ files, snapshot }: Recording, file: string) {
  const recorded = snapshot.loaded.head.files[file]
  if (!recorded) return undefined
  const text = await readCopy(files, recorded.copy)
  return parseMemory({ file, text, facts: { created: recorded.created, source: recorded.source } })
}
