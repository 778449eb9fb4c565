/**
 * Requests that belong to no conversation: titles, warm-ups, and requests whose conversation could not be opened. They pass unchanged, and
 * their cost is counted, which is the same as without Strata.
 */
import { costOfUsage, findModel } from "@strata/core/tokens"
import type { ApiBody, ConversationStatus, RequestPlan } from "./plan.ts"

const ID = "other-requests"

/** Cost of a response in dollars. `undefined` if the price is unknown. */
export function priceOf(message: ApiBody | undefined, body: ApiBody): number | undefined {
  const { usage } = (message ?? {}) as { readonly usage?: never }
  if (!usage) return 0
  const cost = costOfUsage(findModel(String(message?.model ?? body.model)).facts, usage)
  return cost.known ? cost.dollars : undefined
}

/** A sum that is unknown if any part of it is. */
export const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b

interface Failure extends Required<Pick<RequestPlan, "passedThrough">> {
  /** The reason as a sentence. */
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

  /** `failure`: why a request that Strata should manage passes unchanged. */
  plan(body: ApiBody, failure?: Failure): RequestPlan {
    this.#requests++
    const count = async (message: ApiBody | undefined) => {
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

  /** One row, if there were any requests. */
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
