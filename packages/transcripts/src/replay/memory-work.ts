/**
 * What forks of a replayed conversation cost, which they read from the cache. The layer's own rules say when memories are due and what
 * they may take. What such a fork would have written is not known, so it changes nothing else.
 */

import type { TokenCounts } from "@strata/core"
import { NO_TOKENS } from "@strata/core/base"
import { extractionDollars, isWorthExtracting } from "@strata/core/memory"
import type { LayerContext } from "@strata/core/policy"
import { memorySpending, shareAfter } from "@strata/core/policy"

/** Tokens of a fork that are not the conversation: its own prompt and its answer. */
export interface Fork {
  readonly prompt: number
  readonly answer: number
}

/** Measured in the soak. */
export const NOTES_FORK: Fork = { prompt: 1_500, answer: 900 }
export const MEMORY_FORK: Fork = { prompt: 2_500, answer: 700 }

export class MemoryWork {
  #said = 0

  /** After a final answer. */
  isDue(context: LayerContext): boolean {
    const { flags, views } = context
    const { messages } = views.words
    const isNew = messages.length > this.#said && isWorthExtracting(messages.slice(this.#said))
    if (!isNew || !flags.on["auto-memory"]) return false
    const { spent: whole, memory: own } = memorySpending(views.ledger)
    const limit = flags.figures["background-share"]
    if (!shareAfter({ whole, own, limit, piece: extractionDollars(context) }).allowed) return false
    this.#said = messages.length
    return true
  }
}

/** `read`: what the fork's request finds in the cache, and what else it sends. */
export function forkCounts({ prompt, answer }: Fork, { cacheRead, input }: TokenCounts): TokenCounts {
  return { ...NO_TOKENS, cacheRead, input: input + prompt, output: answer }
}
