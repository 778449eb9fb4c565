/**
 * Cost of forks in a replayed conversation, which read it from the cache. The layer's own rules decide when memories are due and what they
 * may cost. The text that a fork would write is unknown, so it affects nothing else.
 */

import type { TokenCounts } from "@strata/core"
import { NO_TOKENS } from "@strata/core/base"
import { extractionDollars, isWorthExtracting } from "@strata/core/memory"
import type { LayerContext } from "@strata/core/policy"
import { checkBudgetShare, memorySpending } from "@strata/core/policy"

/** Tokens that a fork adds to the conversation: its prompt and its response. */
export interface ForkTokens {
  readonly prompt: number
  readonly answer: number
}

/** Measured in the soak test. */
export const NOTES_FORK: ForkTokens = { prompt: 1_500, answer: 900 }
export const MEMORY_FORK: ForkTokens = { prompt: 2_500, answer: 700 }

export class MemoryWork {
  #seenMessages = 0

  /** Whether memories are due after a final response. */
  isDue(context: LayerContext): boolean {
    const { flags, views } = context
    const { messages } = views.words
    const isNew = messages.length > this.#seenMessages && isWorthExtracting(messages.slice(this.#seenMessages))
    if (!isNew || !flags.on["auto-memory"]) return false
    const { spent: total, memory: own } = memorySpending(views.ledger)
    const limit = flags.figures["background-share"]
    if (!checkBudgetShare({ total, own, limit, nextCost: extractionDollars(context) }).allowed) return false
    this.#seenMessages = messages.length
    return true
  }
}

/** The second argument has the counts of the shared prefix, to which the fork's own tokens are added. */
export function forkCounts({ prompt, answer }: ForkTokens, { cacheRead, input }: TokenCounts): TokenCounts {
  return { ...NO_TOKENS, cacheRead, input: input + prompt, output: answer }
}
