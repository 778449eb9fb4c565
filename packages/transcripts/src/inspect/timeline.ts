/** The timeline of a recorded conversation, turn by turn: context size, cost so far, compactions and cache misses. */

import type { Block, TokenCounts } from "@strata/core"
import { isMessage } from "@strata/core"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/base"
import { isBoundary, isSynthetic } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { findModel, tokenCounts } from "@strata/core/tokens"
import type { CacheBreak, PathPosition } from "@strata/core/views"
import { type CostViews, costViews } from "@strata/core/views"
import type { Transcript } from "./read-transcripts.ts"

/** Cost up to a turn. */
export interface CostSoFar {
  /** Excludes models of unknown price. */
  readonly dollars: number
  readonly counts: TokenCounts
}

/** One response of the model. */
export interface RecordedTurn {
  /** Counts from 1. */
  readonly turn: number
  /** Input tokens of the request, as the API counted them, else estimated. */
  readonly context: number
  /** Cost including this response. */
  readonly paid: CostSoFar
}

/** The context of a turn's request. */
export interface RecordedView extends Omit<RecordedTurn, "paid"> {
  /** Index of the first entry of its response in the transcript. */
  readonly at: number
  /** Every block of the request, with its estimated tokens. */
  messages(): readonly {
    readonly role: "user" | "assistant" | "system"
    readonly items: readonly { readonly block: Block; readonly tokens: number }[]
  }[]
}

/** The timeline of a recorded conversation. */
export interface TranscriptTimeline {
  readonly turns: readonly RecordedTurn[]
  /** Turns that began after a compaction. */
  readonly boundaries: readonly number[]
  readonly breaks: readonly CacheBreak[]
  /** Whether the transcript records the usage, and whether the prices of all its models are known. */
  readonly isBilled: boolean
  readonly isPriced: boolean
}

/** Calls `onTurn` at each response, while the context of its request is in view. */
export function transcriptTimeline(
  { entries, aside, model = "unknown" }: Transcript,
  { onTurn }: { readonly onTurn?: (view: RecordedView) => void } = {},
): TranscriptTimeline {
  const answers = countInputs(entries)
  const fold = new TimelineReducer({ model, onTurn, counted: (id) => answers.get(id) })
  const others = aside.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  let applied = 0
  for (const entry of entries) {
    for (; applied < others.length && others[applied]!.timestamp <= entry.timestamp; applied++)
      fold.take(others[applied]!, "off-path")
    fold.take(entry)
  }
  for (const entry of others.slice(applied)) fold.take(entry, "off-path")
  return fold.timeline()
}

export interface TimelineReducerOptions {
  readonly model: string
  readonly onTurn?: ((view: RecordedView) => void) | undefined
  /** Returns the input tokens of a response, if they are known before its last entry. */
  readonly counted?: (id: string) => number | undefined
}

/** Builds a timeline entry by entry, so that updating costs only the new entries. */
export class TimelineReducer {
  readonly views: CostViews
  readonly #options: TimelineReducerOptions
  readonly #inView: RecordedView["messages"]
  readonly #turns: { readonly turn: number; context: number; paid: CostSoFar }[] = []
  readonly #boundaries: number[] = []
  #taken = 0
  #last: string | undefined

  constructor(options: TimelineReducerOptions) {
    this.#options = options
    this.views = costViews({ family: findModel(options.model).facts.family })
    this.#inView = messagesIn(this.views)
  }

  take(entry: Entry, place: PathPosition = "on-path"): void {
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

  timeline(): TranscriptTimeline {
    this.#pay() // costs since the last response
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
    this.#turns.push({ ...turn, paid: costSoFar(this.views) })
    this.#options.onTurn?.({ ...turn, at, messages: this.#inView })
  }

  #pay(): void {
    const last = this.#turns.at(-1)
    if (last) last.paid = costSoFar(this.views)
  }
}

/** Input tokens of each response, as the API counted them. Only the last entry of a response has the complete usage. */
function countInputs(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
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

function costSoFar({ ledger }: CostViews): CostSoFar {
  const lines = [...ledger.lines.values()]
  return {
    dollars: lines.reduce((sum, { dollars = 0 }) => sum + dollars, 0),
    counts: lines.map(({ counts }) => counts).reduce(addCounts, NO_TOKENS),
  }
}

/** Blocks are the same objects from turn to turn, so each is measured once. */
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
