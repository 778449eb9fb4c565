/**
 * Replaces the conversation by a summary and keeps a tail, as other programs do. The summary is the extractive one that all policies use,
 * with the same budget.
 */

import type { Layer, Message } from "@strata/core"
import { contentOf, isRequest, isToolResult, safeCuts, sentBlocks } from "@strata/core/messages"
import { type ReadMessage, summarize } from "@strata/core/offline"
import type { LayerContext } from "@strata/core/policy"
import { type Cut, installation, type LayerResult } from "@strata/core/policy"

export interface SummarizingOptions {
  readonly name: string
  readonly when: (context: LayerContext) => boolean
  /** Decides shortly before the cache expires in a pause. Default: never. */
  readonly whenIdle?: (context: LayerContext) => boolean
  /** Tokens of the newest messages that stay. */
  readonly keep?: (context: LayerContext) => number
  /** Characters of a result that the summarizer receives. Default: all. */
  readonly resultLimit?: number
  /** Tokens of user messages that follow the summary verbatim. Default: none. */
  readonly userMessageTokens?: number
}

export function summarizing({
  name,
  when,
  whenIdle,
  keep = () => 0,
  resultLimit,
  userMessageTokens = 0,
}: SummarizingOptions): Layer {
  return {
    name,
    beforeRequest: async (context) => (when(context) ? summarised(context) : undefined),
    beforeExpiry: async (context) => (whenIdle?.(context) ? summarised(context) : undefined),
  }

  function summarised(context: LayerContext): LayerResult | undefined {
    const cut = cutFor(context, keep(context))
    if (!cut.summarised.some(({ type }) => type === "assistant")) return undefined
    const { estimator } = context.views
    const tokens = context.flags.figures["offline-summary-limit"]
    const budget = { tokens, tokensOf: (part: string) => estimator.text(part) }
    const summary = summarize(
      cut.summarised.map((message) => asRead(message, resultLimit)),
      "",
      budget,
    )
    const text = [summary, ...newestUserMessages(context, userMessageTokens)].join("\n\n")
    const before = context.size.tokens
    const facts = { trigger: "auto", route: "model", tokensBefore: before, tokensAfter: 0, threshold: before } as const
    return { drafts: installation({ context, cut, text, attachments: [], facts }) }
  }
}

/** Everything after the newest response stays in any case. */
function cutFor({ views: { context, estimator } }: LayerContext, budget: number): Cut {
  const messages = context.storedMessages().filter(({ type }) => type !== "system" && type !== "progress")
  const safe = safeCuts(messages)
  let at = messages.findLastIndex(isAnswerOrResult) + 1
  let tokens = 0
  for (let next = at - 1; next > 0; next--) {
    tokens += estimator.blocks(sentBlocks(messages[next]!))
    if (tokens > budget) break
    if (safe[next]) at = next
  }
  return { kind: "all", summarised: messages.slice(0, at), preserved: messages.slice(at) }
}

const isAnswerOrResult = (message: Message) =>
  message.type === "assistant" || (message.type === "user" && contentOf(message).some(isToolResult))

function asRead(message: Message, resultLimit: number | undefined): ReadMessage {
  const content = sentBlocks(message) as readonly object[] as ReadMessage["content"]
  if (message.type === "assistant") return { role: "assistant", content }
  if (message.type === "user" && message.isCompactSummary) return { role: "summary", content }
  const isTheirs = message.type === "user" && (contentOf(message).some(isToolResult) || isRequest(message))
  return { role: isTheirs ? "user" : "system", content: content.map((block) => shortened(block, resultLimit)) }
}

function shortened(block: ReadMessage["content"][number], limit: number | undefined): typeof block {
  if (limit === undefined || block.type !== "tool_result" || typeof block.content !== "string") return block
  return { ...block, content: block.content.slice(0, limit) }
}

/** The user's newest messages that fit, oldest first. */
function newestUserMessages({ views }: LayerContext, budget: number): readonly string[] {
  const kept: string[] = []
  let tokens = 0
  for (const { text } of views.words.messages.toReversed()) {
    tokens += views.estimator.text(text)
    if (tokens > budget) break
    kept.unshift(text)
  }
  return kept
}
