/** Finds what was written into the directory past the bank, by a person with an editor or by file tools, and plans its record. */
import type { MemoryFiles } from "../journal/memory-files.ts"
import type { PlannedChange } from "./commit.ts"
import { INDEX_FILE } from "./file-names.ts"
import { hashOf, readCopy } from "./history.ts"
import { lessTrusted, refusalOf } from "./instruction-guard.ts"
import { maskFile } from "./masked-file.ts"
import type { MemoryRefusal, MemoryToolEdits, Provenance } from "./memory.ts"
import { factsOf, type Snapshot } from "./snapshot.ts"
import { parseMemory, renderMemory } from "./topic-file.ts"

interface Recording {
  readonly files: MemoryFiles
  readonly snapshot: Snapshot
  readonly edits: MemoryToolEdits
}

/** Nothing if every text is recorded already. */
export async function planRecord(recording: Recording): Promise<PlannedChange | undefined> {
  const { snapshot, edits } = recording
  const paths = unrecordedPaths(snapshot).filter((path) => edits.files === undefined || edits.files.includes(path))
  if (paths.length === 0) return undefined
  const { by, source } = edits
  const why = edits.why ?? (by === "person" ? "Edited by hand" : "Written with the file tools")
  const common = { by, why, ...(source ? { source } : {}) }
  if (by === "person") return { ...common, edits: new Map(paths.map((path) => [path, textOf(snapshot, path)])) }
  return { ...common, ...(await checkedEdits(recording, paths)) }
}

/** Files whose text differs from what was recorded last. A file that cannot be read is left alone. */
function unrecordedPaths({ loaded, texts, listings }: Snapshot): readonly string[] {
  const { files } = loaded.head
  const written = [...texts].filter(([path, text]) => files[path]?.hash !== hashOf(text)).map(([path]) => path)
  const removed = Object.keys(files).filter((path) => !listings.has(path))
  return [...written, ...removed].sort()
}

const textOf = ({ texts }: Snapshot, path: string): string | null => texts.get(path) ?? null

/** File tools have no right to secrets or to a tool's instructions: the first are masked, the second are taken out again. */
async function checkedEdits(
  { files, snapshot, edits }: Recording,
  paths: readonly string[],
): Promise<Pick<PlannedChange, "edits" | "sources" | "masked" | "refused">> {
  const texts = new Map<string, string | null>()
  const sources = new Map<string, Provenance>()
  const masked: { file: string; kind: string }[] = []
  const refused: MemoryRefusal[] = []
  for (const file of paths) {
    const written = textOf(snapshot, file)
    if (written === null) {
      texts.set(file, null)
      continue
    }
    const facts = factsOf(snapshot, file)
    const { text, kinds } = await maskFile({ file, text: written, facts })
    masked.push(...kinds.map((kind) => ({ file, kind })))
    texts.set(file, text)
    if (file === INDEX_FILE) continue
    const recorded = snapshot.loaded.head.files[file]
    const usual = edits.source ?? recorded?.source ?? { saidBy: "agent" }
    const known = { created: facts.created, source: usual }
    const memory = await parseMemory({ file, text, facts: known })
    const source = edits.source?.saidBy === "tool" ? lessTrusted(memory.source, edits.source) : memory.source
    const why = refusalOf({ ...memory, source })
    if (why) {
      refused.push({ file, why })
      texts.set(file, recorded ? await readCopy(files, recorded.copy) : null)
      continue
    }
    sources.set(file, source)
    if (source !== memory.source) texts.set(file, await renderMemory({ ...memory, source }, { text, facts: known }))
  }
  return { edits: texts, sources, masked, refused }
}
