/**
 * What notes and memories would have cost beside a replayed conversation: forks that read it from the cache. The layers' own rules say when
 * one is due and what it may take. What the forks would have written is not known, so it changes nothing else.
 */
import type { LayerContext, TokenCounts, Uuid } from "@strata/core"
import { NO_TOKENS } from "@strata/core/base"
import { extractionSpent, isWorthExtracting } from "@strata/core/memory"
import { areNotesDue, backgroundBudget, notesBudget } from "@strata/core/policy"

export type MemoryWorkKind = "notes" | "memory"

/** Besides what a fork reads of the conversation: its own prompt and its answer. Measured in the soak. */
const FORKS: Readonly<
  Record<MemoryWorkKind, { readonly requests: number; readonly prompt: number; readonly answer: number }>
> = {
  notes: { requests: 1, prompt: 1_500, answer: 900 },
  memory: { requests: 1, prompt: 2_500, answer: 700 },
}

const FRESH = 10_000 // tokens since the last update: what came since is kept word for word, and more of it would leave too much

export class MemoryWork {
  #notes: { size: number | undefined; throughUuid: Uuid | undefined } = { size: undefined, throughUuid: undefined }
  #said = 0

  /** What is due after a response. */
  due(context: LayerContext, isFinal: boolean): readonly MemoryWorkKind[] {
    return [
      ...(this.#areNotesDue(context) ? ["notes" as const] : []),
      ...(isFinal && this.#isMemoryDue(context) ? ["memory" as const] : []),
    ]
  }

  /** Whether the notes would serve as the summary: then no one is asked for one. */
  notesServe({ size, flags }: LayerContext): boolean {
    const last = this.#notes.size
    return flags.on["compact-from-notes"] && last !== undefined && size.tokens - last <= FRESH
  }

  #areNotesDue(context: LayerContext): boolean {
    const { tokens } = context.size
    const { size } = this.#notes
    if (size !== undefined && tokens < size) this.#notes = { ...this.#notes, size: tokens }
    const figures = notesBudget(context.flags)
    if (!context.flags.on.notes || !areNotesDue(context, { figures, last: this.#notes })) return false
    if (!backgroundBudget(context.views.ledger, { purpose: "notes", limit: figures.share }).allowed) return false
    this.#notes = { size: tokens, throughUuid: context.views.context.newest?.uuid }
    return true
  }

  #isMemoryDue(context: LayerContext): boolean {
    const { flags, views } = context
    const { messages } = views.words
    const isNew =
      messages.length > this.#said && isWorthExtracting(messages.slice(this.#said), flags.figures["memory-messages"])
    if (!isNew || !flags.on["auto-memory"]) return false
    const asked = {
      purpose: "memory" as const,
      limit: flags.figures["background-share"],
      first: extractionSpent(context),
    }
    if (!backgroundBudget(views.ledger, asked).allowed) return false
    this.#said = messages.length
    return true
  }
}

/** `read`: what one request of the fork finds in the cache, and what it sends besides. */
export function forkCounts(kind: MemoryWorkKind, read: TokenCounts): TokenCounts {
  const { requests, prompt, answer } = FORKS[kind]
  return {
    ...NO_TOKENS,
    cacheRead: requests * read.cacheRead,
    input: requests * read.input + prompt,
    output: answer,
  }
}
