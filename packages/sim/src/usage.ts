/** Builds usage objects from the cache outcome and the output. */
import type { CacheOutcome } from "./cache/prompt-cache.ts"
import type { IterationUsage, ServerToolUsage, TokenUsage, Usage } from "./wire.ts"

export function tokenUsage({ read, write5m, write1h, uncached }: CacheOutcome, outputTokens: number): TokenUsage {
  return {
    input_tokens: uncached,
    cache_creation_input_tokens: write5m + write1h,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
    output_tokens: outputTokens,
  }
}

export const NO_TOKENS: TokenUsage = tokenUsage(
  { read: 0, write5m: 0, write1h: 0, uncached: 0, hitIndex: -1, entries: [] },
  0,
)

export const messageIteration = (usage: TokenUsage): IterationUsage => ({ type: "message", model: null, ...usage })
export const compactionIteration = (usage: TokenUsage): IterationUsage => ({ type: "compaction", ...usage })

export interface UsageParts {
  readonly tokens: TokenUsage
  readonly thinkingTokens: number
  readonly speed: "standard" | "fast"
  readonly serverTools: ServerToolUsage | null
  readonly iterations: readonly IterationUsage[] | undefined
  readonly cacheDeletedTokens: number | undefined
}

export function toUsage({
  tokens,
  thinkingTokens,
  speed,
  serverTools,
  iterations,
  cacheDeletedTokens,
}: UsageParts): Usage {
  return {
    ...tokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: serverTools,
    service_tier: "standard",
    inference_geo: "global",
    speed,
    ...(iterations && { iterations }),
    ...(cacheDeletedTokens !== undefined && { cache_deleted_input_tokens: cacheDeletedTokens }),
  }
}
