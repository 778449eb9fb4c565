/** The rate limit headers, from a meter that counts per minute. They only inform: a fault has to refuse requests. */
import type { Clock } from "./clock.ts"

const MINUTE_MS = 60_000
const REQUESTS_PER_MINUTE = 4_000
const INPUT_TOKENS_PER_MINUTE = 2_000_000
const OUTPUT_TOKENS_PER_MINUTE = 400_000

export class RateMeter {
  private minute = 0
  private requests = 0
  private input = 0
  private output = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
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
    const tokens = INPUT_TOKENS_PER_MINUTE + OUTPUT_TOKENS_PER_MINUTE
    return {
      ...limitHeaders("requests", REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE - this.requests, reset),
      ...limitHeaders("tokens", tokens, toThousand(tokens - this.input - this.output), reset),
      ...limitHeaders("input-tokens", INPUT_TOKENS_PER_MINUTE, toThousand(INPUT_TOKENS_PER_MINUTE - this.input), reset),
      ...limitHeaders(
        "output-tokens",
        OUTPUT_TOKENS_PER_MINUTE,
        toThousand(OUTPUT_TOKENS_PER_MINUTE - this.output),
        reset,
      ),
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
