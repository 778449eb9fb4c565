/** A person's look at a summary before it takes effect. Cancelling is not a failure of the compaction: what was paid for is still journaled. */
import { CompactionFailedError } from "../base/errors.ts"
import type { CompactionOrder } from "../layers/compaction-order.ts"

export class Review {
  readonly #review: CompactionOrder["review"]
  #isCancelled = false
  #failure: unknown

  constructor(review: CompactionOrder["review"]) {
    this.#review = review
  }

  get asOption(): Pick<CompactionOrder, "review"> {
    const review = this.#review
    if (!review) return {}
    return {
      review: async (written) => {
        const text = await review(written).catch((error: unknown) => {
          this.#failure = error
          return undefined
        })
        this.#isCancelled = !text?.trim()
        return text
      },
    }
  }

  throwIfCancelled(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isCancelled)
      throw new CompactionFailedError("cancelled", "Cancelled. Nothing was compacted, and everything is kept.")
  }
}
