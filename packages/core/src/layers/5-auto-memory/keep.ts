/**
 * Installs what an extraction proposes, as one change of the bank: each memory gets its source from what was said, rules that only a tool
 * asked for are left out, and where the person wants to be asked, each write is shown first.
 */
import { messageOf } from "../../base/errors.ts"
import type { MemoryMode } from "../../base/vocabulary.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { lessTrusted, refusalOf } from "../../memory/instruction-guard.ts"
import type { Memory, MemoryChange, MemoryDraft } from "../../memory/memory.ts"
import { parseMemory, usualBasis } from "../../memory/topic-file.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import type { Extraction } from "./extraction.ts"
import { type Evidence, sourceOf } from "./provenance.ts"

/** A write that a person decides about. */
export interface ProposedMemory {
  readonly file: string
  readonly name: string
  /** The file as it is, if it exists. */
  readonly before: string | undefined
  readonly after: string
}

/** Shows a write and asks. */
export type ConfirmMemory = (proposed: ProposedMemory) => Promise<boolean>

export interface Keeping {
  readonly bank: MemoryBank
  readonly mode: MemoryMode
  /** Missing where no one can be asked. */
  readonly confirm?: ConfirmMemory
  readonly evidence: Evidence
  readonly memories: readonly Memory[]
  /** YYYY-MM-DD. */
  readonly today: string
  /** A person who has not answered is not awaited once it is aborted. */
  readonly signal: AbortSignal
}

export interface Kept {
  readonly change: MemoryChange | undefined
  /** Those that were written. */
  readonly memories: readonly MemoryDraft[]
  /** Sentences about what was left out. */
  readonly leftOut: readonly string[]
}

export async function keepProposals({ texts, base }: Extraction, keeping: Keeping): Promise<Kept> {
  const leftOut: string[] = []
  const kept: MemoryDraft[] = []
  for (const [file, text] of texts) {
    if (base.get(file) === text) continue
    const checked = await checkedDraft({ file, text }, keeping)
    if (typeof checked === "string") leftOut.push(checked)
    else if (checked && (await isWanted({ file, text, draft: checked, base }, keeping, leftOut))) kept.push(checked)
  }
  if (kept.length === 0) return { change: undefined, memories: [], leftOut }
  const why = `Learned in conversation ${keeping.evidence.conversation}`
  const change = await keeping.bank.change({ by: "extraction", why, puts: kept, base: onlyOf(base, kept) })
  const written = new Set(change?.files.map(({ path }) => path))
  return { change, memories: kept.filter((memory) => written.has(memory.file!)), leftOut }
}

/** The memory with its source, or why it is left out. Nothing where it says what the file says already. */
async function checkedDraft(
  { file, text }: { readonly file: string; readonly text: string },
  { evidence, memories, today }: Keeping,
): Promise<MemoryDraft | string | undefined> {
  const before = memories.find((memory) => memory.file === file)
  const facts = { created: before?.created ?? today, source: before?.source ?? ({ saidBy: "agent" } as const) }
  const memory = await parseMemory({ file, text, facts })
  if (memory.body.trim() === "") return `${file} has no text`
  if (before && isSame(before, memory)) return undefined
  const computed = sourceOf(memory, evidence, before)
  // a change does not make a memory more trusted than it was
  const source = before ? lessTrusted(computed, before.source) : computed
  const why = refusalOf({ ...memory, source })
  if (why !== undefined) return `${file}: ${why}`
  const { name, description, type, body, failed, supersedes } = memory
  const { basis } = await parseMemory({ file, text, facts: { ...facts, source } }) // the usual one, if the file has none
  return {
    ...{ file, name, description, type, body, source, confirmed: today },
    basis: source.saidBy === "user" ? basis : usualBasis(source),
    ...(failed ? { failed } : {}),
    ...(supersedes ? { supersedes } : {}),
  }
}

interface Candidate {
  readonly file: string
  readonly text: string
  readonly draft: MemoryDraft
  readonly base: Extraction["base"]
}

async function isWanted({ file, text, draft, base }: Candidate, keeping: Keeping, leftOut: string[]): Promise<boolean> {
  if (keeping.mode !== "ask") return true
  if (!keeping.confirm) {
    leftOut.push(`${file} was not written: the setting memory is "ask", and there is no one to ask`)
    return false
  }
  const before = base.get(file) ?? undefined
  const asked = keeping.confirm({ file, name: draft.name, before, after: text }).catch((error: unknown) => {
    leftOut.push(`${file} was not written: ${messageOf(error)}`)
    return false
  })
  const answer = await unlessInterrupted(keeping.signal, asked)
  keeping.signal.throwIfAborted() // no answer: it is proposed again another time
  return answer.state === "settled" && answer.value
}

const isSame = (a: Memory, b: Memory): boolean =>
  a.name === b.name &&
  a.description === b.description &&
  a.type === b.type &&
  a.body === b.body &&
  a.failed === b.failed &&
  String(a.supersedes ?? []) === String(b.supersedes ?? [])

const onlyOf = (base: Extraction["base"], kept: readonly MemoryDraft[]) =>
  new Map([...base].filter(([file]) => kept.some((draft) => draft.file === file)))
