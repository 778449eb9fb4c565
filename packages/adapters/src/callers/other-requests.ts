/**
 * Requests that belong to no conversation: titles, warm-ups, and those whose conversation could not be opened. They pass as they are, and
 * what they cost is counted: it is the same as without us.
 */
import { costOfUsage, findModel } from "@strata/core/tokens"
import type { Body, ConversationStatus, Plan } from "./plan.ts"

const ID = "other-requests"

/** What an answer cost in dollars. `undefined` where the price is unknown. */
export function priceOf(message: Body | undefined, body: Body): number | undefined {
  const { usage } = (message ?? {}) as { readonly usage?: never }
  if (!usage) return 0
  const cost = costOfUsage(findModel(String(message?.model ?? body.model)).facts, usage)
  return cost.known ? cost.dollars : undefined
}

/** A sum that stays unknown once a part of it is. */
export const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b

interface Failure extends Required<Pick<Plan, "passedThrough">> {
  /** The whole sentence. */
  readonly reason: string
}

export class OtherRequests {
  #requests = 0
  #cost: number | undefined = 0
  #passed: NonNullable<ConversationStatus["passedThrough"]> = { requests: 0, cost: 0 }
  readonly #isObserved: boolean

  constructor({ isObserved }: { readonly isObserved: boolean }) {
    this.#isObserved = isObserved
  }

  /** `failure`: why a request that is ours is not managed. */
  plan(body: Body, failure?: Failure): Plan {
    this.#requests++
    const count = async (message: Body | undefined) => {
      const cost = priceOf(message, body)
      this.#cost = plus(this.#cost, cost)
      if (!failure) return
      const { reason } = failure
      this.#passed = { requests: this.#passed.requests + 1, cost: plus(this.#passed.cost, cost), reason }
    }
    return {
      body: undefined,
      ...(failure ? { passedThrough: failure.passedThrough } : {}),
      again: async () => undefined,
      answered: count,
      brokeOff: count,
      refused: async () => undefined,
    }
  }

  /** A row, if there were any. */
  get status(): readonly ConversationStatus[] {
    if (this.#requests === 0) return []
    const row = {
      id: ID,
      title: "Requests outside conversations",
      client: "",
      requests: this.#requests,
      ...{ sent: 0, direct: 0, decisions: [], cacheRead: 0 },
      cost: this.#cost,
      directCost: this.#cost,
      isObserved: this.#isObserved,
    }
    return [this.#passed.requests === 0 ? row : { ...row, passedThrough: this.#passed }]
  }
}
