/**
 * Replays recorded requests through the simulator's prompt cache at the recorded times, for comparison with the recorded usage.
 *
 * Breakpoints are not recorded. The replay assumes that Claude Code places them on the system prompt and the last two messages, and pi on
 * the system prompt and the last message. Codex uses a provider that caches automatically.
 */
import { findModel } from "@strata/core"
import { type PrefixItem, PromptCache } from "@strata/sim"
import type { RecordedBlock, RecordedRequest } from "./recorded-requests.ts"
import { isSystem, type ShapedItem, type ShapedRequest, shapeRequests, systemEnds } from "./token-shares.ts"

export interface Prediction {
  readonly shaped: ShapedRequest
  readonly read: number
  readonly write: number
  /** Tokens that would have been read if no entry had expired. */
  readonly readWithoutExpiry: number
  /** End of the previous answer, in tokens from the start. */
  readonly endOfLastAnswer: number
}

const MARKED_MESSAGES: Readonly<Record<string, number>> = { "claude-code": 2, pi: 1, codex: 1 }

export function replay(requests: readonly RecordedRequest[], format: string): Prediction[] {
  const shaped = shapeRequests(requests, sentBlocks)
  const [first] = shaped
  if (!first) return []
  const cache = new PromptCache()
  const timeless = new PromptCache()
  warmSystem(cache, first)
  warmSystem(timeless, first)
  return shaped.map((each) => {
    const { request } = each
    const asked = {
      items: prefixOf(each, MARKED_MESSAGES[format] ?? 1),
      scope: request.model,
      minimum: findModel(request.model).facts.minCacheable,
    }
    const outcome = cache.lookUp({ ...asked, now: request.startedAt })
    cache.commit(outcome)
    const withoutExpiry = timeless.lookUp({ ...asked, now: 0 })
    timeless.commit(withoutExpiry)
    return {
      shaped: each,
      read: outcome.read,
      write: outcome.write5m + outcome.write1h,
      readWithoutExpiry: withoutExpiry.read,
      endOfLastAnswer: tokensThrough(
        each.items,
        each.items.findLastIndex(({ block }) => block?.role === "assistant"),
      ),
    }
  })
}

/** Fills the cache with the prefix that the first request read: another conversation had cached it. */
function warmSystem(cache: PromptCache, shaped: ShapedRequest): void {
  const { request, items } = shaped
  const warm = items.slice(0, systemEnds(shaped).filter((end) => end <= request.usage.read).length)
  const prefix = warm.map(({ id, tokens }) => ({ hash: id, tokens, breakpoint: request.ttl }))
  cache.commit(cache.lookUp({ items: prefix, scope: request.model, minimum: 0, now: request.startedAt }))
}

/** Leaves out thinking from before the user's last message for models that do not preserve it. */
function sentBlocks({ blocks, model }: RecordedRequest): readonly RecordedBlock[] {
  if (findModel(model).facts.accepts.earlierThinking) return blocks
  const turn = blocks.findLastIndex(({ opensTurn }) => opensTurn)
  return blocks.filter(({ isThinking }, index) => !isThinking || index > turn)
}

function prefixOf({ request, items, tail }: ShapedRequest, markedMessages: number): PrefixItem[] {
  const breakpoints = new Set(lastMarkable(items, markedMessages))
  const opening = items.findIndex((item) => !isSystem(item))
  const { accepts } = findModel(request.model).facts
  const hasBudget = accepts.thinkingBudget && !accepts.adaptiveThinking
  const settings = `${hasBudget && request.circumstances.thinking}/${items.some(({ block }) => block?.holdsImage)}`
  const prefix = items.map((item, index) => ({
    hash: index === opening ? `${item.id}/${settings}` : item.id, // settings change the prefix from the messages on
    tokens: item.tokens,
    ...((isSystem(item) || breakpoints.has(index)) && { breakpoint: request.ttl }),
  }))
  return [...prefix, { hash: "tail", tokens: tail }]
}

/** The last block of each of the last messages that can have a breakpoint. Adjacent messages of one role count as one. */
function lastMarkable(items: readonly ShapedItem[], messages: number): number[] {
  const breakpoints: number[] = []
  let role: string | undefined
  for (let index = items.length - 1; index > 0 && breakpoints.length < messages; index--) {
    const { block } = items[index] as ShapedItem
    if (!block || block.role === role || block.isThinking) continue
    role = block.role
    breakpoints.push(index)
  }
  return breakpoints
}

function tokensThrough(items: readonly ShapedItem[], last: number): number {
  return items.slice(0, last + 1).reduce((sum, { tokens }) => sum + tokens, 0)
}
