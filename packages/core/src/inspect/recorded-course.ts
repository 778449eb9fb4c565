/** A recorded conversation, turn by turn: how large the context was, what had been paid, where it was compacted and the cache was lost. */
import { addCounts, inputTokens, NO_TOKENS, type TokenCounts } from "../base/token-counts.ts"
import { type Entry, isMessage } from "../journal/entries.ts"
import type { Block } from "../messages/blocks.ts"
import { isBoundary, isSyntheticError } from "../messages/messages.ts"
import { findModel } from "../tokens/models.ts"
import { tokenCounts } from "../tokens/price.ts"
import type { CacheBreak } from "../views/cache/cache-history.ts"
import { Views } from "../views/views.ts"
import type { Transcript } from "./read-transcripts.ts"

/** What was paid up to a turn. */
export interface PaidSoFar {
  /** Without models of unknown price. */
  readonly dollars: number
  readonly counts: TokenCounts
}

/** One response of the model. */
export interface RecordedTurn {
  /** From 1. */
  readonly turn: number
  /** Tokens that the request had, as the API counted them, else estimated. */
  readonly context: number
  /** With this response and everything before it. */
  readonly paid: PaidSoFar
}

/** What the request of a turn had in view. */
export interface RecordedView extends Omit<RecordedTurn, "paid"> {
  /** Where its response begins in the entries of the transcript. */
  readonly at: number
  /** Every block that was sent, with about how many tokens it has. */
  messages(): readonly {
    readonly role: "user" | "assistant" | "system"
    readonly items: readonly { readonly block: Block; readonly tokens: number }[]
  }[]
}

/** How a recorded conversation went. */
export interface RecordedCourse {
  readonly turns: readonly RecordedTurn[]
  /** The turns that began after a compaction. */
  readonly boundaries: readonly number[]
  readonly breaks: readonly CacheBreak[]
  /** Whether the transcript says what was billed, and whether the prices of all its models are known. */
  readonly isBilled: boolean
  readonly isPriced: boolean
}

/** Calls `onTurn` at each response, while what it saw is still in view. */
export function recordedCourse(
  { entries, aside, model = "unknown" }: Transcript,
  { onTurn }: { readonly onTurn?: (view: RecordedView) => void } = {},
): RecordedCourse {
  const views = new Views({ family: findModel(model).facts.family })
  const answers = answersIn(entries)
  const others = aside.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  const inView = messagesIn(views)
  const paid: PaidSoFar[] = []
  const turns: Omit<RecordedTurn, "paid">[] = []
  const boundaries: number[] = []
  let applied = 0
  let last: string | undefined
  for (const [at, entry] of entries.entries()) {
    for (; applied < others.length && others[applied]!.timestamp <= entry.timestamp; applied++)
      views.apply(others[applied]!, "off-path")
    const id = answerId(entry)
    if (id !== undefined && id !== last) {
      last = id
      const turn = { turn: turns.length + 1, context: answers.get(id) ?? views.context.size().tokens }
      turns.push(turn)
      onTurn?.({ ...turn, at, messages: inView })
    }
    if (isMessage(entry) && isBoundary(entry)) boundaries.push(turns.length + 1)
    views.apply(entry)
    if (id !== undefined) paid[turns.length - 1] = paidSoFar(views)
  }
  for (const entry of others.slice(applied)) views.apply(entry, "off-path")
  if (turns.length > 0) paid[turns.length - 1] = paidSoFar(views)
  const lines = [...views.ledger.lines.values()]
  return {
    turns: turns.map((turn, i) => ({ ...turn, paid: paid[i]! })),
    boundaries,
    breaks: views.cacheHistory.breaks,
    isBilled: lines.length > 0,
    isPriced: lines.every(({ dollars }) => dollars !== undefined),
  }
}

/** The input of each response, as the API counted it. The last entry of a response has the whole usage. */
function answersIn(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
  const found = new Map<string, number | undefined>()
  for (const entry of entries) {
    const id = answerId(entry)
    if (id === undefined || entry.type !== "assistant") continue
    const input = entry.message.usage ? inputTokens(tokenCounts(entry.message.usage)) : 0
    found.set(id, input > 0 ? input : found.get(id))
  }
  return found
}

function answerId(entry: Entry): string | undefined {
  if (!isMessage(entry) || entry.type !== "assistant" || entry.isSidechain || isSyntheticError(entry)) return undefined
  return entry.message.id ?? entry.uuid
}

function paidSoFar({ ledger }: Views): PaidSoFar {
  const lines = [...ledger.lines.values()]
  return {
    dollars: lines.reduce((sum, { dollars = 0 }) => sum + dollars, 0),
    counts: lines.map(({ counts }) => counts).reduce(addCounts, NO_TOKENS),
  }
}

/** Blocks stay the same objects from turn to turn, so each is measured once. */
function messagesIn(views: Views): RecordedView["messages"] {
  const sizes = new WeakMap<object, number>()
  const sizeOf = (block: Block): number => {
    const known = sizes.get(block) ?? views.estimator.block(block)
    sizes.set(block, known)
    return known
  }
  return () =>
    views.context.messages().messages.map(({ role, content }) => ({
      role,
      items: content.map((block) => ({ block, tokens: sizeOf(block) })),
    }))
}
