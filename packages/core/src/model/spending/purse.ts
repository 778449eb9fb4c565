/**
 * What everyone who works on one conversation may spend together: the agent, the agents that work for it, background work, and MCP servers
 * that ask its model. A request in flight reserves its estimate, so requests that run side by side cannot pass the limit together.
 */
import { ModelAbortedError, ModelError } from "../errors.ts"

/** The limit in dollars leaves no room for a request. It was not sent. */
export class CostLimitError extends ModelError {
  static override readonly code: string = "cost-limit"
  override readonly name = "CostLimitError"
  readonly limit: number
  readonly spent: number
  /** What the request would have cost, estimated. */
  readonly next: number

  constructor({ limit, spent, next }: CostLimitFacts, provider: string) {
    const said = `$${spent.toFixed(4)} of the limit of $${limit} are spent, and the next request costs about $${next.toFixed(4)}`
    super(`${said}. It was not sent. Everything in the conversation is kept. Raise the cost limit to continue.`, {
      provider,
      said,
    })
    this.limit = limit
    this.spent = spent
    this.next = next
  }
}

export type CostLimitFacts = Pick<CostLimitError, "limit" | "spent" | "next">

export interface Wanted {
  /** Dollars, estimated. */
  readonly estimate: number
  /** Dollars that it costs for certain. */
  readonly least: number
  /** Of the conversation or of an agent, not of what they do beside it. */
  readonly isWork: boolean
  readonly provider: string
  readonly signal?: AbortSignal | undefined
}

export class Purse {
  #limit = Number.POSITIVE_INFINITY
  #hasRefused = false
  /** What the ledger has: also what was spent before this process, and what agents of earlier processes are found to have spent. */
  #ledger: () => number = () => 0
  #before = 0
  #taken = 0
  #reserved = 0
  #inFlight = 0
  readonly #waiting = new Set<() => void>()

  /** `ledger`: dollars in the ledger of the conversation that everyone works for. */
  follow(ledger: () => number): void {
    this.#ledger = ledger
    this.#before = ledger()
  }

  /** Dollars for the whole conversation. A new limit lets the work begin again. */
  get limit(): number {
    return this.#limit
  }

  set limit(dollars: number) {
    this.#limit = dollars
    this.#hasRefused = false
  }

  /** The work ends: the limit left no room for its next request. */
  get isReached(): boolean {
    return this.#hasRefused || this.spent >= this.#limit
  }

  /** A response reaches the ledger a moment after it was counted here. */
  get spent(): number {
    return Math.max(this.#ledger(), this.#before + this.#taken)
  }

  /**
   * Reserves dollars for a request. Throws a `CostLimitError` where it would pass the limit for certain. Where it might together with
   * requests in flight, it waits for those: most cost less than was reserved. So the limit is passed by the error of one estimate at most.
   */
  async reserve({ estimate, least, isWork, provider, signal }: Wanted): Promise<void> {
    for (;;) {
      if (signal?.aborted) throw new ModelAbortedError(provider)
      const { spent, limit } = this
      if (this.isReached || spent + least > limit) {
        this.#hasRefused ||= isWork
        throw new CostLimitError({ limit, spent, next: estimate }, provider)
      }
      if (this.#inFlight === 0 || spent + this.#reserved + estimate <= limit) break
      await this.#change(signal)
    }
    this.#reserved += estimate
    this.#inFlight++
  }

  /** A request is over. `reserved` is what it had reserved, `spent` what it cost. */
  settle({ reserved, spent }: { readonly reserved: number; readonly spent: number }): void {
    this.#inFlight--
    this.#reserved = this.#inFlight === 0 ? 0 : this.#reserved - reserved // sums of fractions leave a rest
    this.#taken += spent
    for (const wake of [...this.#waiting]) wake()
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener("abort", wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener("abort", wake, { once: true })
    })
  }
}
