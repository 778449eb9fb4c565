/**
 * How many tokens the model is sent (TOK-1, TOK-2): what the API said for the newest response, plus an estimate of what has
 * come since. The meter is fed entry by entry; `contextSize` is the same over a list.
 */

import { renderAttachment } from "../messages/attachments.ts"
import { type AssistantMessage, contentOf, isSentToModel, type Message, type Usage } from "../messages/messages.ts"
import type { Estimator, Measure } from "./estimate.ts"

export interface ContextSize {
  readonly tokens: number
  /** The part the API counted; 0 without any usage. */
  readonly counted: number
  readonly estimated: number
}

/** Everything the response's request and the response itself took. */
export function usageTotal(usage: Usage): number {
  const last = usage.iterations?.findLast((iteration) => iteration.type === "message")
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = last ?? usage
  return input_tokens + output_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0)
}

export function contextSize(messages: readonly Message[], estimator: Estimator): ContextSize {
  const meter = new ContextMeter(estimator)
  for (const message of messages) meter.add(message)
  return meter.size()
}

/** What a new anchor taught: how the messages since the last one were estimated and what they really took. */
export interface Lesson {
  readonly measure: Measure
  readonly actual: number
}

interface Piece {
  readonly measure: Measure
  readonly responseId: string | undefined
}

export class ContextMeter {
  readonly #estimator: Estimator
  /** API id of the newest response with usage: its siblings' own content is in the count already. */
  #anchorId: string | undefined
  #counted = 0
  #estimated = 0
  /** What follows the anchor, without its siblings. Pieces of a response without usage keep its id. */
  #since: Piece[] = []
  /** Tokens that decisions took out of what the anchor counted. */
  #removed = 0
  /** Tokens that the server had taken out of its copy before the anchor was counted, and whether the next request has them again. */
  #takenByServer = 0
  #comesBack = false

  constructor(estimator: Estimator) {
    this.#estimator = estimator
  }

  /** Returns a lesson where the message's usage tells how large the messages before it really were. */
  add(message: Message): Lesson | undefined {
    if (!isSentToModel(message)) return undefined
    if (message.type === "assistant") return this.#addAssistant(message)
    const blocks =
      message.type === "user"
        ? contentOf(message)
        : message.type === "attachment"
          ? renderAttachment(message.attachment)
          : []
    this.#count(this.#estimator.measure(blocks))
    return undefined
  }

  /** A decision took content out of the view: by an estimate, until the next usage tells. */
  remove(tokens: number): void {
    this.#removed += tokens
  }

  /** The server had taken so much out of the request that the anchor counted. It is expected to do so again. */
  takenByServer(tokens: number): void {
    this.#takenByServer = tokens
  }

  /** It will not: the next request is counted whole. */
  comesBack(): void {
    this.#comesBack = true
  }

  /** At a boundary: what the API counted before it is void. */
  reset(): void {
    this.#anchorId = undefined
    this.#counted = 0
    this.#estimated = 0
    this.#since = []
    this.#removed = 0
    this.#takenByServer = 0
    this.#comesBack = false
  }

  size(): ContextSize {
    const ROUNDING = 1e-6 // what was taken out and put back again may leave a trace of itself
    const estimated = this.#estimated + (this.#comesBack ? this.#takenByServer : 0) - this.#removed
    const tokens = Math.max(0, this.#counted + Math.ceil(estimated - ROUNDING))
    return { tokens, counted: this.#counted, estimated: tokens - this.#counted }
  }

  #addAssistant(message: AssistantMessage): Lesson | undefined {
    const { id, usage } = message.message
    const total = usage === undefined ? 0 : usageTotal(usage)
    if (id !== undefined && id === this.#anchorId) {
      // a later piece of the same response: pieces repeat the usage, and the last one has the whole output
      this.#counted = Math.max(this.#counted, total)
      return undefined
    }
    if (usage === undefined || total === 0) {
      this.#count(this.#estimator.measure(contentOf(message)), id)
      return undefined
    }
    // the response may have begun in pieces without usage: the results between those are not in the count
    const first = id === undefined ? -1 : this.#since.findIndex(({ responseId }) => responseId === id)
    const before = first < 0 ? this.#since : this.#since.slice(0, first)
    const between = first < 0 ? [] : this.#since.slice(first).filter(({ responseId }) => responseId !== id)
    const lesson = this.#lessonOf(usage, before)
    this.#anchorId = id
    this.#counted = total
    this.#estimated = 0
    this.#since = []
    this.#removed = 0
    this.#takenByServer = 0
    this.#comesBack = false
    for (const { measure, responseId } of between) this.#count(measure, responseId)
    return lesson
  }

  #lessonOf(usage: Usage, before: readonly Piece[]): Lesson | undefined {
    if (this.#counted === 0 || this.#removed !== 0 || before.length === 0) return undefined
    const actual = usageTotal(usage) - usage.output_tokens - this.#counted
    return { measure: this.#estimator.sum(before.map(({ measure }) => measure)), actual }
  }

  #count(measure: Measure, responseId?: string): void {
    this.#since.push({ measure, responseId })
    this.#estimated += this.#estimator.tokens(measure)
  }
}
