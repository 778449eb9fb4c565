/** Clears all results but the newest few before every request, as many agents do. */

import type { Layer } from "@strata/core"
import { contentOf, isThinking, isToolResult, isToolUse } from "@strata/core/messages"
import type { LayerContext } from "@strata/core/policy"
import type { DecisionDraft } from "@strata/core/store"

export interface ShownResult {
  readonly id: string
  readonly tool: string
  readonly tokens: number
  /** Number of rounds since the result: 0 is the newest round. */
  readonly turn: number
  readonly at: number
}

export interface ClearingOptions {
  readonly name: string
  /** `idle`: because of a long pause. Default `size`. */
  readonly why?: "idle" | "size"
  /** Selects the results to clear now. The results in view are passed oldest first. */
  readonly choose: (results: readonly ShownResult[], context: LayerContext) => readonly ShownResult[]
}

export function clearing({ name, choose, why = "size" }: ClearingOptions): Layer {
  return {
    name,
    async beforeRequest(context) {
      const { results, lastThinking } = shownResults(context)
      const old = choose(results, context)
      if (old.length === 0) return undefined
      const drafts: DecisionDraft[] = [
        { type: "strata", subtype: "tool-results-cleared", toolUseIds: old.map(({ id }) => id), why },
      ]
      if (context.facts.accepts.boundThinking && lastThinking > old[0]!.at)
        drafts.push({ type: "strata", subtype: "thinking-dropped", why: "tool results before it were cleared" })
      return { drafts }
    },
  }
}

/** All but the newest `keep` results. */
export const butNewest = (results: readonly ShownResult[], keep: number): readonly ShownResult[] =>
  results.slice(0, Math.max(0, results.length - keep))

/** Results that are not cleared yet, oldest first, and the position of the last thinking. A turn begins with a user message. */
function shownResults({ views: { context, estimator } }: LayerContext) {
  const tools = new Map<string, string>()
  const results: Omit<ShownResult, "turn">[] = []
  const turns: number[] = []
  let lastThinking = -1
  let at = 0
  let turn = 0
  for (const message of context.storedMessages()) {
    if (message.type !== "user" && message.type !== "assistant") continue
    const blocks = contentOf(message)
    if (message.type === "user" && !blocks.some(isToolResult)) turn++
    for (const block of blocks) {
      at++
      if (isToolUse(block)) tools.set(block.id, block.name)
      else if (isThinking(block)) lastThinking = at
      else if (isToolResult(block) && !context.isCleared(block.tool_use_id)) {
        const tool = tools.get(block.tool_use_id) ?? ""
        results.push({ id: block.tool_use_id, tool, tokens: estimator.block(block), at })
        turns.push(turn)
      }
    }
  }
  return { results: results.map((result, i): ShownResult => ({ ...result, turn: turn - turns[i]! })), lastThinking }
}
