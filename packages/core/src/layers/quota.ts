/**
 * Whether the provider has little left for this account. It refused a request for that reason a short while ago, so work that can wait
 * waits, and leaves the rest to the person.
 */
const SHORT_FOR_MS = 10 * 60_000 // limits are per minute; a refusal means that the account is near them

export class Quota {
  #refusedAt: Date | undefined

  /** The provider refused or delayed a request because of its limits. */
  refused(now: Date): void {
    this.#refusedAt = now
  }

  /** When the quota is short: why, as a sentence without its end. */
  shortage(now: Date): string | undefined {
    const since = this.#refusedAt === undefined ? Number.POSITIVE_INFINITY : now.getTime() - this.#refusedAt.getTime()
    if (since < 0 || since >= SHORT_FOR_MS) return undefined
    const minutes = Math.floor(since / 60_000)
    return `the provider's rate limit was reached ${minutes === 0 ? "less than a minute" : `${minutes} minutes`} ago`
  }
}
