/** Turns a proposal, or a change to take back, into texts to write: drafts rendered, secrets masked, refusals found, supersession marked, changes merged. */

import { dayOf } from "../../base/clock.ts"
import { MemoryFileError, StrataError } from "../../base/errors.ts"
import { findSecrets, maskSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { checkedTopicFile, freeFileName, INDEX_FILE, MAX_MEMORY_BYTES } from "../file-names.ts"
import { lessTrusted, refusalOf, trespassOf } from "../instruction-guard.ts"
import type {
  Memory,
  MemoryChange,
  MemoryDraft,
  MemoryProposal,
  MemoryProvenance,
  MemoryRefusal,
  MemoryText,
} from "../memory.ts"
import { editedMemory, type FileFacts, maskFile, parseMemory, renderMemory, usualBasis } from "../topic-file.ts"
import type { PlannedChange } from "./commit.ts"
import { withDates } from "./dated-words.ts"
import { loadChanges, readCopy, sourceOfCopy } from "./history.ts"
import { type Edits, mergedWith } from "./merge.ts"
import { nearMemories } from "./near-memories.ts"
import { factsOf, type Snapshot } from "./snapshot.ts"
import { doubtersOf, isNamed, replaced, successorsOf, withoutContradicted } from "./supersession.ts"

/** Memories that must not be stored. */
export class MemoryRefusedError extends StrataError {
  static override readonly code: string = "memory-refused"
  override readonly name = "MemoryRefusedError"
  readonly refusals: readonly MemoryRefusal[]

  constructor(refusals: readonly MemoryRefusal[]) {
    const reasons = refusals.map(({ file, why }) => `${file}: ${why}`).join("; ")
    super(`Nothing was stored. ${reasons}. Store what the tool reported as a plain fact, or leave it out.`)
    this.refusals = refusals
  }
}

interface Plan {
  readonly edits: Edits
  readonly sources: ReadonlyMap<string, MemoryProvenance>
  readonly masked: readonly { readonly file: string; readonly kind: string }[]
}

interface Planning {
  readonly snapshot: Snapshot
  readonly proposal: MemoryProposal
  readonly today: string
  /** The memories of the snapshot, by file. */
  readonly known: ReadonlyMap<string, Memory>
  /** File names that are in use, in lower case. */
  readonly taken: Set<string>
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, MemoryProvenance>
  readonly masked: { file: string; kind: string }[]
}

export async function planProposal(options: {
  snapshot: Snapshot
  proposal: MemoryProposal
  now: Date
}): Promise<Plan> {
  const { snapshot, proposal, now } = options
  const planning: Planning = {
    snapshot,
    proposal,
    today: dayOf(now),
    known: new Map(snapshot.memories.map((memory) => [memory.file, memory])),
    taken: new Set([...snapshot.listings.keys()].map((path) => path.toLowerCase())),
    edits: new Map(),
    sources: new Map(),
    masked: [],
  }
  const refusals: MemoryRefusal[] = []
  const written: Memory[] = []
  for (const put of proposal.puts ?? []) {
    const memory = "text" in put ? await planText(planning, put) : await planDraft(planning, put)
    if (!memory) continue
    checkSize(memory.file, planning.edits.get(memory.file))
    const before = planning.known.get(memory.file)
    const why = refusalOf(memory) ?? (proposal.by === "person" ? undefined : trespassOf(before, memory))
    if (why && !isAsBefore(memory, before)) refusals.push({ file: memory.file, why })
    written.push(memory)
  }
  if (refusals.length > 0) throw new MemoryRefusedError(refusals)
  await markSuperseded(planning, written)
  for (const file of proposal.removals ?? [])
    if (snapshot.texts.has(checkedTopicFile(file)) && !planning.edits.has(file)) planning.edits.set(file, null)
  const edits = await mergedWith({ edits: planning.edits, base: proposal.base, texts: snapshot.texts })
  return { edits, sources: planning.sources, masked: planning.masked }
}

/** A larger one would be written, and not read. */
function checkSize(file: string, text: string | null | undefined): void {
  if (typeof text === "string" && Buffer.byteLength(text) > MAX_MEMORY_BYTES)
    throw new MemoryFileError(file, `it would have more than ${MAX_MEMORY_BYTES} bytes`)
}

/** A person may have written by hand what is refused here. A change of its marks only, such as a supersession, goes through. */
function isAsBefore(memory: Memory, before: Memory | undefined): boolean {
  const judged = ({ name, description, type, body, source }: Memory) => [name, description, type, body, source.saidBy]
  return before !== undefined && String(judged(before)) === String(judged(memory))
}

function clean(planning: Planning, file: string, text: string): string {
  for (const { kind } of findSecrets(text)) planning.masked.push({ file, kind })
  return maskSecrets(text)
}

/** A whole file. The index may be written like this too. */
async function planText(planning: Planning, { file, text, source: given }: MemoryText): Promise<Memory | undefined> {
  if (file !== INDEX_FILE) checkedTopicFile(file)
  const { proposal } = planning
  const known = factsFor(planning, file)
  const { body } = await parseMemory({ file, text, facts: known })
  const source = given ?? proposal.source ?? usualSource(planning, file, body)
  const facts = { ...known, source }
  const { text: masked, kinds } = await maskFile({ file, text, facts })
  planning.masked.push(...kinds.map((kind) => ({ file, kind })))
  planning.edits.set(file, masked)
  planning.taken.add(file.toLowerCase())
  if (file === INDEX_FILE) return undefined
  const memory = await parseMemory({ file, text: masked, facts })
  planning.sources.set(file, source)
  if (proposal.by !== "person") planning.edits.set(file, await renderMemory(memory, { text: masked, facts }))
  return memory
}

async function planDraft(planning: Planning, draft: MemoryDraft): Promise<Memory> {
  const { snapshot, proposal, today } = planning
  const name = maskSecrets(oneLine(draft.name)) || "Note"
  const file = checkedTopicFile(draft.file ?? freeFileName(name, planning.taken))
  const text = snapshot.texts.get(file)
  if (text === undefined && snapshot.listings.has(file))
    throw new MemoryFileError(file, "there is a file of that name that is not a memory")
  const facts = factsFor(planning, file)
  const previous = text === undefined ? undefined : await parseMemory({ file, text, facts })
  const given = draft.source ?? proposal.source ?? usualSource(planning, file, draft.body)
  const source = proposal.source ? lessTrusted(given, proposal.source) : given
  // a text that was there before was written on another day
  const dated = (text: string) => (previous?.body === draft.body ? text : withDates(text, today))
  const description = draft.description ?? previous?.description ?? ""
  const failed = draft.failed ?? (draft.body === previous?.body ? previous.failed : undefined)
  const supersedes = draft.supersedes ?? previous?.supersedes
  const memory: Memory = {
    file,
    name: clean(planning, file, dated(oneLine(draft.name))) || name,
    description: clean(planning, file, dated(oneLine(description))),
    type: draft.type ?? previous?.type ?? "project",
    created: draft.created ?? previous?.created ?? today,
    confirmed: draft.confirmed ?? today,
    source,
    basis: draft.basis ?? previous?.basis ?? usualBasis(source),
    ...(failed ? { failed } : {}),
    ...(supersedes && supersedes.length > 0 ? { supersedes } : {}),
    ...(previous?.supersededBy === undefined ? {} : { supersededBy: previous.supersededBy }),
    ...(previous?.doubtedBy === undefined || previous.body !== draft.body ? {} : { doubtedBy: previous.doubtedBy }),
    body: clean(
      planning,
      file,
      dated(draft.body)
        .replaceAll("\r\n", "\n")
        .replace(/^(?:[ \t]*\n)+/, "")
        .trimEnd(),
    ),
  }
  planning.taken.add(file.toLowerCase())
  planning.edits.set(file, await renderMemory(memory, text === undefined ? undefined : { text, facts }))
  planning.sources.set(file, source)
  return memory
}

/** Without a word from the caller. A text that someone else rewrote is no longer the person's. */
function usualSource({ known, proposal }: Planning, file: string, body: string): MemoryProvenance {
  if (proposal.by === "person") return { saidBy: "user" }
  const before = known.get(file)
  if (before?.body === body) return before.source
  return lessTrusted({ saidBy: "agent" }, before?.source ?? { saidBy: "agent" })
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

function factsFor({ snapshot, proposal, today }: Planning, file: string): FileFacts {
  if (snapshot.texts.has(file)) return factsOf(snapshot, file)
  return { created: today, source: proposal.source ?? { saidBy: proposal.by === "person" ? "user" : "agent" } }
}

/** Marks the older memories: those that are replaced, out of the index, and those in doubt. A dream has found its own. */
async function markSuperseded(planning: Planning, memories: readonly Memory[]): Promise<void> {
  const { snapshot, proposal } = planning
  const before = new Map(snapshot.memories.map((memory) => [memory.file, memory]))
  const written = memories.map((memory) => ({
    memory,
    before: proposal.by === "dream" ? memory : before.get(memory.file),
  }))
  const removed = new Set(proposal.removals)
  const others = snapshot.memories.filter(({ file }) => !removed.has(file))
  const now = new Map(memories.map((memory) => [memory.file, memory]))
  const near = nearMemories(others, written.length)
  const found = (of: typeof successorsOf) => new Map(written.flatMap((one) => [...of([one], [...near(one.memory)])]))
  for (const [older, successor] of found(successorsOf)) {
    const isExplicit = isNamed(before.get(older)!, now.get(successor)!.supersedes)
    if (now.has(older) && !isExplicit) continue // both are written now, so neither is the older one
    await editMemory(planning, older, (memory) => replaced(memory, successor))
  }
  for (const [older, later] of found(doubtersOf))
    if (!now.has(older)) {
      const newer = now.get(later)!
      await editMemory(
        planning,
        older,
        (memory) => withoutContradicted(memory, newer) ?? { ...memory, doubtedBy: later },
      )
    }
  for (const { file, supersedes, supersededBy } of memories)
    if (supersededBy !== undefined && supersedes?.includes(supersededBy))
      // the two name each other: the one written now is the newer one
      await editMemory(planning, file, ({ supersededBy: _, ...memory }) => memory)
}

async function editMemory(planning: Planning, file: string, edit: (memory: Memory) => Memory): Promise<void> {
  const text = planning.edits.get(file) ?? planning.snapshot.texts.get(file)
  if (text === undefined || text === null) return
  const facts = factsFor(planning, file)
  planning.edits.set(file, await editedMemory({ file, text, facts }, edit))
}

/** Takes a change back: the texts from before it, merged with what changed since. */
export async function planRevert(options: {
  files: MemoryFiles
  snapshot: Snapshot
  change: MemoryChange
}): Promise<Pick<PlannedChange, "edits" | "sources" | "unarchived">> {
  const { files, snapshot, change } = options
  const textOf = async (copy: string | undefined) => (copy === undefined ? null : readCopy(files, copy))
  const wanted = new Map<string, string | null>()
  const base = new Map<string, string | null>()
  const unarchived = new Map<string, string>()
  const sources = new Map<string, MemoryProvenance>()
  const { changes } = await loadChanges(files)
  for (const { path, before, after, archived } of change.files) {
    const [old, fresh] = [await textOf(before), await textOf(after)]
    wanted.set(path, old)
    base.set(path, fresh)
    if (before !== undefined) sources.set(path, sourceOfCopy(changes, path, before))
    if (archived !== undefined && old !== null && (await files.read(archived)) === old) unarchived.set(archived, old)
  }
  const edits = await mergedWith({ edits: wanted, base, texts: snapshot.texts })
  // later edits stay in the text, so it is no more trusted than they are
  for (const [path, source] of sources)
    if (edits.get(path) !== wanted.get(path))
      sources.set(path, lessTrusted(source, snapshot.loaded.head.files[path]?.source ?? source))
  return { edits, sources, unarchived }
}
