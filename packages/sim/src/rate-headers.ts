/** The rate limit headers, from a meter that counts per minute. They only inform; requests are refused only by a fault. */
import type { Clock } from "./clock.ts"

const MINUTE_MS = 60_000

/** Limits per minute. */
export interface RateLimits {
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
}

const USUAL: RateLimits = { requests: 4_000, inputTokens: 2_000_000, outputTokens: 400_000 }

export class RateMeter {
  private minute = 0
  private requests = 0
  private input = 0
  private output = 0
  private readonly clock: Clock
  private readonly limits: RateLimits

  constructor(clock: Clock, limits: Partial<RateLimits> = {}) {
    this.clock = clock
    this.limits = { ...USUAL, ...limits }
  }

  count({ input = 0, output = 0 }: { input?: number; output?: number }): void {
    this.turnMinute()
    this.requests++
    this.input += input
    this.output += output
  }

  headers(): Readonly<Record<string, string>> {
    this.turnMinute()
    const reset = new Date((this.minute + 1) * MINUTE_MS).toISOString()
    const { requests, inputTokens, outputTokens } = this.limits
    const tokens = inputTokens + outputTokens
    return {
      ...limitHeaders("requests", requests, requests - this.requests, reset),
      ...limitHeaders("tokens", tokens, toThousand(tokens - this.input - this.output), reset),
      ...limitHeaders("input-tokens", inputTokens, toThousand(inputTokens - this.input), reset),
      ...limitHeaders("output-tokens", outputTokens, toThousand(outputTokens - this.output), reset),
    }
  }

  private turnMinute(): void {
    const minute = Math.floor(this.clock.now() / MINUTE_MS)
    if (minute === this.minute) return
    this.minute = minute
    this.requests = 0
    this.input = 0
    this.output = 0
  }
}

const toThousand = (tokens: number) => Math.round(tokens / 1000) * 1000

const limitHeaders = (what: string, limit: number, remaining: number, reset: string) => ({
  [`anthropic-ratelimit-${what}-limit`]: `${limit}`,
  [`anthropic-ratelimit-${what}-remaining`]: `${Math.max(0, remaining)}`,
  [`anthropic-ratelimit-${what}-reset`]: reset,
})
