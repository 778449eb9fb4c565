/** Compacting because someone asked for it, and saying beforehand what that would do. */
import { CompactionFailedError, NoCompactionError } from "../base/errors.ts"
import type { CompactionPlan, CompactionRefusal, ResolvedCompactionRequest, WrittenSummary } from "../layers/layer.ts"
import { handleOf } from "../messages/media.ts"
import type { Message } from "../messages/messages.ts"
import type { Engine } from "./engine.ts"

/** A person's look at a summary before it takes effect. Cancelling is not a failure of the compaction: what was paid for is still journaled. */
class Review {
  readonly #review: ResolvedCompactionRequest["review"]
  #isCancelled = false
  #failure: unknown

  constructor(review: ResolvedCompactionRequest["review"]) {
    this.#review = review
  }

  get asOption(): Pick<ResolvedCompactionRequest, "review"> {
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
async function summaryOnly(
  compact: (review: NonNullable<ResolvedCompactionRequest["review"]>) => Promise<void>,
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

/** What a compaction is asked for. Default: everything, because a person wants it. */
export type CompactionRequest = Partial<ResolvedCompactionRequest>

export function compact(engine: Engine, request: CompactionRequest, signal?: AbortSignal): Promise<void> {
  return engine.inOrder(async () => {
    await engine.readFlags()
    const reviewing = new Review(request.review)
    const drafts = await engine.layers.compact(orderFor(engine, { ...request, ...reviewing.asOption }), signal)
    if (!drafts) throw new NoCompactionError()
    reviewing.throwIfCancelled()
    // the prompt after the boundary is settled now, so changed instruction files are not sent twice
    await engine.prompt.settle()
    const failure = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compaction-failed")
    if (failure) throw new CompactionFailedError(failure.reason, failure.message)
  })
}

export function planCompaction(
  engine: Engine,
  request: CompactionRequest,
): Promise<CompactionPlan | CompactionRefusal> {
  return engine.inOrder(async () => {
    await engine.readFlags()
    const planned = await engine.layers.planCompaction(orderFor(engine, request))
    if (!planned) throw new NoCompactionError()
    return planned
  })
}

/** The model writes the summary. Nothing is compacted with it. */
export async function planWithSummary(
  engine: Engine,
  request: CompactionRequest,
  signal?: AbortSignal,
): Promise<CompactionPlan | CompactionRefusal> {
  const planned = await planCompaction(engine, request)
  if (request.written || planned.kind === "refused" || planned.summary.is === "written") return planned
  const written = await summaryOnly((review) => compact(engine, { ...request, review }, signal))
  return planCompaction(engine, { ...request, written: { ...written, last: planned.summarised.last } })
}

const orderFor = ({ views }: Engine, request: CompactionRequest): ResolvedCompactionRequest =>
  withWholeRange({ trigger: "manual", ...request }, views.context.storedMessages())

// A range may name its message by a handle, as the model and the person see it. The order that layers get has the whole uuid.

export function withWholeRange(
  order: ResolvedCompactionRequest,
  messages: readonly Message[],
): ResolvedCompactionRequest {
  const { range } = order
  const named = range && messages.find(({ uuid }) => handleOf(uuid) === range.uuid.split(".")[0])
  return named ? { ...order, range: { ...range, uuid: named.uuid } } : order
}
