/**
 * Counts refused calls: which tool, why, how often in a row. After several in a row the model is asked to take another way, because more of
 * the same would be refused too. An allowed call starts the count again. Each agent and each fork has its own.
 */

const USUAL_MAX = 3

export interface RefusalCount {
  readonly tool: string
  /** The rule, the mode, a hook or the person, as the refusal says it. */
  readonly why: string
  readonly count: number
}

export class Refusals {
  readonly #max: () => number
  readonly #counts = new Map<string, RefusalCount>()
  #inARow = 0

  /** `most`: after how many in a row the model is asked to take another way. */
  constructor(max: () => number = () => USUAL_MAX) {
    this.#max = max
  }

  /** Returns what to add to the refusal, for the model. */
  refused(tool: string, why: string): string | undefined {
    const key = JSON.stringify([tool, why])
    this.#counts.set(key, { tool, why, count: (this.#counts.get(key)?.count ?? 0) + 1 })
    this.#inARow++
    if (this.#inARow < this.#max()) return undefined
    return `This is refusal ${this.#inARow} in a row. Do not try variations of it. Reach the goal another way, or tell the user what you need and why.`
  }

  allowed(): void {
    this.#inARow = 0
  }

  /** Every refusal of this agent so far. */
  counts(): readonly RefusalCount[] {
    return [...this.#counts.values()]
  }
}
