/**
 * Turns a proposal, or a change to revert, into texts to write: renders drafts, masks secrets, finds refusals, flags superseded
 * memories, merges changes.
 */

import { utcDay } from "../../base/clock.ts"
import { MemoryFileError, StrataError } from "../../base/errors.ts"
import { findSecrets, maskSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { freeFileName, INDEX_FILE, MAX_MEMORY_BYTES, validateTopicFile } from "../file-names.ts"
import { lessTrusted, refusalReason, ruleChangeViolation } from "../instruction-guard.ts"
import type {
  Memory,
  MemoryChange,
  MemoryDraft,
  MemoryProposal,
  MemoryRefusal,
  MemorySource,
  MemoryText,
} from "../memory.ts"
import {
  defaultBasis,
  editMemoryText,
  type MemoryFileFacts,
  maskFile,
  parseMemory,
  renderMemory,
} from "../topic-file.ts"
import { withDates } from "./absolute-dates.ts"
import type { PlannedChange } from "./commit.ts"
import { loadChanges, readCopy, sourceOfCopy } from "./history.ts"
import { type Edits, mergeEdits } from "./merge.ts"
import { nearMemories } from "./near-memories.ts"
import { fileFacts, type Snapshot } from "./snapshot.ts"
import {
  findConflictingSuccessors,
  findSuccessors,
  isReferenced,
  withoutContradictions,
  withSuccessor,
} from "./supersession.ts"

/** Thrown for memories that must not be stored. */
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

interface ProposalPlan {
  readonly edits: Edits
  readonly sources: ReadonlyMap<string, MemorySource>
  readonly masked: readonly { readonly file: string; readonly kind: string }[]
}

interface PlanningState {
  readonly snapshot: Snapshot
  readonly proposal: MemoryProposal
  readonly today: string
  /** The memories of the snapshot, by file. */
  readonly known: ReadonlyMap<string, Memory>
  /** File names in use, in lower case. */
  readonly taken: Set<string>
  readonly edits: Map<string, string | null>
  readonly sources: Map<string, MemorySource>
  readonly masked: { file: string; kind: string }[]
}

export async function planProposal(options: {
  snapshot: Snapshot
  proposal: MemoryProposal
  now: Date
}): Promise<ProposalPlan> {
  const { snapshot, proposal, now } = options
  const planning: PlanningState = {
    snapshot,
    proposal,
    today: utcDay(now),
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
    const why = refusalReason(memory) ?? (proposal.by === "person" ? undefined : ruleChangeViolation(before, memory))
    if (why && !isContentUnchanged(memory, before)) refusals.push({ file: memory.file, why })
    written.push(memory)
  }
  if (refusals.length > 0) throw new MemoryRefusedError(refusals)
  await markSuperseded(planning, written)
  for (const file of proposal.removals ?? [])
    if (snapshot.texts.has(validateTopicFile(file)) && !planning.edits.has(file)) planning.edits.set(file, null)
  const edits = await mergeEdits({ edits: planning.edits, base: proposal.base, texts: snapshot.texts })
  return { edits, sources: planning.sources, masked: planning.masked }
}

/** A larger file could be written, but not read. */
function checkSize(file: string, text: string | null | undefined): void {
  if (typeof text === "string" && Buffer.byteLength(text) > MAX_MEMORY_BYTES)
    throw new MemoryFileError(file, `it would have more than ${MAX_MEMORY_BYTES} bytes`)
}

/**
 * Whether a change concerns only fields such as `supersededBy`. It is then accepted even if the content would be refused, because the
 * user may have written it manually.
 */
function isContentUnchanged(memory: Memory, before: Memory | undefined): boolean {
  const judged = ({ name, description, type, body, source }: Memory) => [name, description, type, body, source.saidBy]
  return before !== undefined && String(judged(before)) === String(judged(memory))
}

function maskAndCount(planning: PlanningState, file: string, text: string): string {
  for (const { kind } of findSecrets(text)) planning.masked.push({ file, kind })
  return maskSecrets(text)
}

/** Plans to write a complete file. It may be the index. */
async function planText(
  planning: PlanningState,
  { file, text, source: explicitSource }: MemoryText,
): Promise<Memory | undefined> {
  if (file !== INDEX_FILE) validateTopicFile(file)
  const { proposal } = planning
  const known = factsFor(planning, file)
  const { body } = await parseMemory({ file, text, facts: known })
  const source = explicitSource ?? proposal.source ?? defaultSource(planning, file, body)
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

async function planDraft(planning: PlanningState, draft: MemoryDraft): Promise<Memory> {
  const { snapshot, proposal, today } = planning
  const name = maskSecrets(oneLine(draft.name)) || "Note"
  const file = validateTopicFile(draft.file ?? freeFileName(name, planning.taken))
  const text = snapshot.texts.get(file)
  if (text === undefined && snapshot.listings.has(file))
    throw new MemoryFileError(file, "there is a file of that name that is not a memory")
  const facts = factsFor(planning, file)
  const previous = text === undefined ? undefined : await parseMemory({ file, text, facts })
  const baseSource = draft.source ?? proposal.source ?? defaultSource(planning, file, draft.body)
  const source = proposal.source ? lessTrusted(baseSource, proposal.source) : baseSource
  // an existing text was written on another day, so its relative dates are not replaced
  const dated = (text: string) => (previous?.body === draft.body ? text : withDates(text, today))
  const description = draft.description ?? previous?.description ?? ""
  const failed = draft.failed ?? (draft.body === previous?.body ? previous.failed : undefined)
  const supersedes = draft.supersedes ?? previous?.supersedes
  const memory: Memory = {
    file,
    name: maskAndCount(planning, file, dated(oneLine(draft.name))) || name,
    description: maskAndCount(planning, file, dated(oneLine(description))),
    type: draft.type ?? previous?.type ?? "project",
    created: draft.created ?? previous?.created ?? today,
    confirmed: draft.confirmed ?? today,
    source,
    basis: draft.basis ?? previous?.basis ?? defaultBasis(source),
    ...(failed ? { failed } : {}),
    ...(supersedes && supersedes.length > 0 ? { supersedes } : {}),
    ...(previous?.supersededBy === undefined ? {} : { supersededBy: previous.supersededBy }),
    ...(previous?.doubtedBy === undefined || previous.body !== draft.body ? {} : { doubtedBy: previous.doubtedBy }),
    body: maskAndCount(
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

/** The source if the caller names none. A text that someone else rewrote is no longer the user's. */
function defaultSource({ known, proposal }: PlanningState, file: string, body: string): MemorySource {
  if (proposal.by === "person") return { saidBy: "user" }
  const before = known.get(file)
  if (before?.body === body) return before.source
  return lessTrusted({ saidBy: "agent" }, before?.source ?? { saidBy: "agent" })
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

function factsFor({ snapshot, proposal, today }: PlanningState, file: string): MemoryFileFacts {
  if (snapshot.texts.has(file)) return fileFacts(snapshot, file)
  return { created: today, source: proposal.source ?? { saidBy: proposal.by === "person" ? "user" : "agent" } }
}

/** Flags older memories: superseded ones, which leave the index, and those with a possible conflict. A dream determines both itself. */
async function markSuperseded(planning: PlanningState, memories: readonly Memory[]): Promise<void> {
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
  const found = (of: typeof findSuccessors) => new Map(written.flatMap((one) => [...of([one], [...near(one.memory)])]))
  for (const [older, successor] of found(findSuccessors)) {
    const isExplicit = isReferenced(before.get(older)!, now.get(successor)!.supersedes)
    if (now.has(older) && !isExplicit) continue // both are written now, so neither is the older one
    await editMemory(planning, older, (memory) => withSuccessor(memory, successor))
  }
  for (const [older, later] of found(findConflictingSuccessors))
    if (!now.has(older)) {
      const newer = now.get(later)!
      await editMemory(
        planning,
        older,
        (memory) => withoutContradictions(memory, newer) ?? { ...memory, doubtedBy: later },
      )
    }
  for (const { file, supersedes, supersededBy } of memories)
    if (supersededBy !== undefined && supersedes?.includes(supersededBy))
      // the two name each other: the one written now is the newer one
      await editMemory(planning, file, ({ supersededBy: _, ...memory }) => memory)
}

async function editMemory(planning: PlanningState, file: string, edit: (memory: Memory) => Memory): Promise<void> {
  const text = planning.edits.get(file) ?? planning.snapshot.texts.get(file)
  if (text === undefined || text === null) return
  const facts = factsFor(planning, file)
  planning.edits.set(file, await editMemoryText({ file, text, facts }, edit))
}

/** Reverts a change: the previous texts, merged with later changes. */
export async function planRevert(options: {
  files: MemoryFiles
  snapshot: Snapshot
  change: MemoryChange
}): Promise<Pick<PlannedChange, "edits" | "sources" | "unarchived">> {
  const { files, snapshot, change } = options
  const textOf = async (copy: string | undefined) => (copy === undefined ? null : readCopy(files, copy))
  const previousTexts = new Map<string, string | null>()
  const base = new Map<string, string | null>()
  const unarchived = new Map<string, string>()
  const sources = new Map<string, MemorySource>()
  const { changes } = await loadChanges(files)
  for (const { path, before, after, archived } of change.files) {
    const [old, changed] = [await textOf(before), await textOf(after)]
    previousTexts.set(path, old)
    base.set(path, changed)
    if (before !== undefined) sources.set(path, sourceOfCopy(changes, path, before))
    if (archived !== undefined && old !== null && (await files.read(archived)) === old) unarchived.set(archived, old)
  }
  const edits = await mergeEdits({ edits: previousTexts, base, texts: snapshot.texts })
  // later edits stay in the text, so it is no more trusted than they are
  for (const [path, source] of sources)
    if (edits.get(path) !== previousTexts.get(path))
      sources.set(path, lessTrusted(source, snapshot.loaded.head.files[path]?.source ?? source))
  return { edits, sources, unarchived }
}
