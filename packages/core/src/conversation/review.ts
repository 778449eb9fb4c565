/** A person's look at a summary before it takes effect. Cancelling is not a failure of the compaction: what was paid for is still journaled. */
import { CompactionFailedError } from "../base/errors.ts"
import type { CompactionOrder, WrittenSummary } from "../layers/compaction-order.ts"

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
      throw new CompactionFailedError(
        "cancelled",
        "The summary was left empty, so nothing was compacted. Everything is kept.",
      )
  }
}

/** The summary that a compaction would take. The compaction itself is cancelled; what the summary cost is journaled. */
export async function summaryOnly(
  compact: (review: NonNullable<CompactionOrder["review"]>) => Promise<void>,
): Promise<WrittenSummary> {
  let summary: WrittenSummary | undefined
  await compact(async (written) => {
    summary = written
    return undefined
  }).catch((error: unknown) => {
    if (!summary) throw error
  })
  return summary!
}
