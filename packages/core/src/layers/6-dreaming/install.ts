/** Installs what a dream proposes as one change of the memory: all of it or nothing. Edits made meanwhile in other files or lines stay. */

import type { MemoryBank } from "../../memory/bank.ts"
import { INDEX_FILE } from "../../memory/file-names.ts"
import type { Memory, MemoryChange, Provenance } from "../../memory/memory.ts"
import { MemoryConflictError } from "../../memory/plan-change.ts"
import type { DreamProposal } from "./pending.ts"

/** What came of a change that a dream proposed. */
export type Installed =
  | { readonly state: "installed"; readonly change: MemoryChange }
  /** Everything is as proposed already. */
  | { readonly state: "nothing" }
  /** Someone changed these files in the same lines. */
  | { readonly state: "conflict"; readonly files: readonly string[] }

export async function installDream(bank: MemoryBank, proposal: DreamProposal): Promise<Installed> {
  const { why, puts, removals, base } = proposal
  try {
    const change = await bank.change({ by: "dream", why, puts, removals, base })
    return change ? { state: "installed", change } : { state: "nothing" }
  } catch (error) {
    if (!(error instanceof MemoryConflictError)) throw error
    const isIndexOnly = error.files.every((file) => file === INDEX_FILE)
    // the bank keeps the index in step by itself
    if (isIndexOnly) return installDream(bank, { ...proposal, puts: puts.filter(({ file }) => file !== INDEX_FILE) })
    return { state: "conflict", files: error.files }
  }
}

/** The proposal for texts; `null` removes. */
export function proposalOf(change: {
  why: string
  texts: ReadonlyMap<string, string | null>
  base: ReadonlyMap<string, string>
  /** The memories as the check left them: their sources count, not those in the texts. */
  after: readonly Memory[]
}): DreamProposal {
  const { why, texts, base, after } = change
  const sources = new Map(after.map(({ file, source }) => [file, source]))
  return {
    why,
    puts: [...texts].flatMap(([file, text]) => (text === null ? [] : [{ file, text, ...sourced(sources.get(file)) }])),
    removals: [...texts].flatMap(([file, text]) => (text === null ? [file] : [])),
    base: new Map([...texts.keys()].map((file) => [file, base.get(file) ?? null])),
  }
}

const sourced = (source: Provenance | undefined) => (source ? { source } : {})
