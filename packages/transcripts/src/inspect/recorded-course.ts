/** A recorded conversation, turn by turn: how large the context was, what had been paid, where it was compacted and the cache was lost. */

import type { Block, TokenCounts } from "@strata/core"
import { isMessage } from "@strata/core"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import { isBoundary, isSynthetic } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { findModel, tokenCounts } from "@strata/core/tokens"
import type { CacheBreak, Place } from "@strata/core/views"
import { type CostViews, costViews } from "@strata/core/views"
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
export interface TranscriptTimeline {
  readonly turns: readonly RecordedTurn[]
  /** The turns that began after a compaction. */
  readonly boundaries: readonly number[]
  readonly breaks: readonly CacheBreak[]
  /** Whether the transcript says what was billed, and whether the prices of all its models are known. */
  readonly isBilled: boolean
  readonly isPriced: boolean
}

/** Calls `onTurn` at each response, while what it saw is still in view. */
export function transcriptTimeline(
  { entries, aside, model = "unknown" }: Transcript,
  { onTurn }: { readonly onTurn?: (view: RecordedView) => void } = {},
): TranscriptTimeline {
  const answers = answersIn(entries)
  const fold = new CourseFold({ model, onTurn, counted: (id) => answers.get(id) })
  const others = aside.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  let applied = 0
  for (const entry of entries) {
    for (; applied < others.length && others[applied]!.timestamp <= entry.timestamp; applied++)
      fold.take(others[applied]!, "off-path")
    fold.take(entry)
  }
  for (const entry of others.slice(applied)) fold.take(entry, "off-path")
  return fold.course()
}

export interface CourseFoldOptions {
  readonly model: string
  readonly onTurn?: ((view: RecordedView) => void) | undefined
  /** The whole input of a response, where it is known before its last entry. */
  readonly counted?: (id: string) => number | undefined
}

/** Takes a conversation entry by entry, so that following one costs what is new in it. */
export class CourseFold {
  readonly views: CostViews
  readonly #options: CourseFoldOptions
  readonly #inView: RecordedView["messages"]
  readonly #turns: { readonly turn: number; context: number; paid: PaidSoFar }[] = []
  readonly #boundaries: number[] = []
  #taken = 0
  #last: string | undefined

  constructor(options: CourseFoldOptions) {
    this.#options = options
    this.views = costViews({ family: findModel(options.model).facts.family })
    this.#inView = messagesIn(this.views)
  }

  take(entry: Entry, place: Place = "on-path"): void {
    if (place !== "on-path") {
      this.views.apply(entry, place)
      this.#pay()
      return
    }
    const at = this.#taken++
    const id = answerId(entry)
    if (id !== undefined && id !== this.#last) this.#begin(id, at)
    if (isMessage(entry) && isBoundary(entry)) this.#boundaries.push(this.#turns.length + 1)
    this.views.apply(entry)
    if (id === undefined) return
    const counted = countedInput(entry)
    if (counted > 0) this.#turns.at(-1)!.context = counted
    this.#pay()
  }

  course(): TranscriptTimeline {
    this.#pay() // what was spent since the last answer
    const lines = [...this.views.ledger.lines.values()]
    return {
      turns: this.#turns,
      boundaries: this.#boundaries,
      breaks: this.views.cacheHistory.breaks,
      isBilled: lines.length > 0,
      isPriced: lines.every(({ dollars }) => dollars !== undefined),
    }
  }

  #begin(id: string, at: number): void {
    this.#last = id
    const context = this.#options.counted?.(id) ?? this.views.context.size().tokens
    const turn = { turn: this.#turns.length + 1, context }
    this.#turns.push({ ...turn, paid: paidSoFar(this.views) })
    this.#options.onTurn?.({ ...turn, at, messages: this.#inView })
  }

  #pay(): void {
    const last = this.#turns.at(-1)
    if (last) last.paid = paidSoFar(this.views)
  }
}

/** The input of each response, as the API counted it. The last entry of a response has the whole usage. */
function answersIn(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
  const found = new Map<string, number | undefined>()
  for (const entry of entries) {
    const id = answerId(entry)
    if (id === undefined) continue
    const input = countedInput(entry)
    found.set(id, input > 0 ? input : found.get(id))
  }
  return found
}

const countedInput = (entry: Entry): number =>
  entry.type === "assistant" && entry.message.usage ? inputTokens(tokenCounts(entry.message.usage)) : 0

function answerId(entry: Entry): string | undefined {
  if (!isMessage(entry) || entry.type !== "assistant" || entry.isSidechain || isSynthetic(entry)) return undefined
  return entry.message.id ?? entry.uuid
}

function paidSoFar({ ledger }: CostViews): PaidSoFar {
  const lines = [...ledger.lines.values()]
  return {
    dollars: lines.reduce((sum, { dollars = 0 }) => sum + dollars, 0),
    counts: lines.map(({ counts }) => counts).reduce(addCounts, NO_TOKENS),
  }
}

/** Blocks stay the same objects from turn to turn, so each is measured once. */
function messagesIn(views: CostViews): RecordedView["messages"] {
  const sizes = new WeakMap<object, number>()
  const sizeOf = (block: Block): number => {
    const known = sizes.get(block) ?? views.estimator.block(block)
    sizes.set(block, known)
    return known
  }
  const known = new WeakMap<object, ReturnType<RecordedView["messages"]>[number]>()
  return () =>
    views.context.messages().messages.map(({ role, content }) => {
      const message = known.get(content) ?? {
        role,
        items: content.map((block) => ({ block, tokens: sizeOf(block) })),
      }
      known.set(content, message)
      return message
    })
}
