/**
 * Counts refused calls by tool and reason. After several consecutive refusals the model is asked to try another way, because variations
 * would be refused too. An allowed call resets the count. Each agent and each fork has its own counter.
 */

const DEFAULT_MAX = 3

export interface RefusalCount {
  readonly tool: string
  /** The reason as stated in the refusal: a rule, the mode, a hook or the user. */
  readonly why: string
  readonly count: number
}

export class Refusals {
  readonly #max: () => number
  readonly #counts = new Map<string, RefusalCount>()
  #consecutive = 0

  /** `max`: number of consecutive refusals after which the model is asked to try another way. */
  constructor(max: () => number = () => DEFAULT_MAX) {
    this.#max = max
  }

  /** Counts a refusal. Returns advice for the model to append, if any. */
  refused(tool: string, why: string): string | undefined {
    const key = JSON.stringify([tool, why])
    this.#counts.set(key, { tool, why, count: (this.#counts.get(key)?.count ?? 0) + 1 })
    this.#consecutive++
    if (this.#consecutive < this.#max()) return undefined
    return `This is refusal ${this.#consecutive} in a row. Do not try variations of it. Reach the goal another way, or tell the user what you need and why.`
  }

  allowed(): void {
    this.#consecutive = 0
  }

  /** All refusals of this agent so far. */
  counts(): readonly RefusalCount[] {
    return [...this.#counts.values()]
  }
}
