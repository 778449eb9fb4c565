/**
 * Whether the provider has little left for this account: it refused a request a short while ago, or its last answer said so. Work that can
 * wait then waits, and leaves the rest to the person.
 */
import type { RateLimit } from "../model/model.ts"

const SHORT_FOR_MS = 10 * 60_000 // limits are per minute; a refusal means that the account is near them
const SHORT_SHARE = 0.1

export class Quota {
  #refusedAt: Date | undefined
  #low: RateLimit | undefined

  /** The provider refused or delayed a request because of its limits. */
  refused(now: Date): void {
    this.#refusedAt = now
  }

  /** What the provider's newest answer said. */
  left(limits: readonly RateLimit[]): void {
    const low = limits.filter(({ limit, remaining }) => remaining < limit * SHORT_SHARE)
    this.#low = low.sort((a, b) => b.resets.getTime() - a.resets.getTime())[0]
  }

  /** When the quota is short: why, as a sentence without its end. */
  shortage(now: Date): string | undefined {
    const since = this.#refusedAt === undefined ? Number.POSITIVE_INFINITY : now.getTime() - this.#refusedAt.getTime()
    if (since >= 0 && since < SHORT_FOR_MS) {
      const minutes = Math.floor(since / 60_000)
      return `the provider's rate limit was reached ${minutes === 0 ? "less than a minute" : `${minutes} minutes`} ago`
    }
    const wait = this.#low === undefined ? 0 : this.#low.resets.getTime() - now.getTime()
    // a time far off comes from a clock that is wrong
    return wait > 0 && wait < SHORT_FOR_MS
      ? `less than a tenth of the ${this.#low!.what} that the provider allows is left`
      : undefined
  }
}
