/** Compaction on request, and its plan. */
import { CompactionFailedError, NoCompactionError } from "../base/errors.ts"
import type { CompactionPlan, CompactionRefusal, ResolvedCompactionRequest, WrittenSummary } from "../layers/layer.ts"
import { handleOf } from "../messages/media.ts"
import type { Message } from "../messages/messages.ts"
import type { Engine } from "./engine.ts"

/** Review of a summary by the user before it takes effect. Cancelling is not a failure of the compaction: its cost is still recorded. */
class SummaryReview {
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

/** The summary that a compaction would use. The compaction itself is cancelled, and the cost of the summary is recorded. */
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

/** Options of a compaction. Default: the complete conversation, started manually. */
export type CompactionRequest = Partial<ResolvedCompactionRequest>

export function compact(engine: Engine, request: CompactionRequest, signal?: AbortSignal): Promise<void> {
  return engine.inOrder(async () => {
    await engine.readFlags()
    const reviewing = new SummaryReview(request.review)
    const drafts = await engine.layers.compact(resolveRequest(engine, { ...request, ...reviewing.asOption }), signal)
    if (!drafts) throw new NoCompactionError()
    reviewing.throwIfCancelled()
    // the prompt after the boundary is rendered now, so that changed instruction files are not sent twice
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
    const planned = await engine.layers.planCompaction(resolveRequest(engine, request))
    if (!planned) throw new NoCompactionError()
    return planned
  })
}

/** Plans a compaction with a summary from the model. Nothing is compacted. */
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

const resolveRequest = ({ views }: Engine, request: CompactionRequest): ResolvedCompactionRequest =>
  withWholeRange({ trigger: "manual", ...request }, views.context.storedMessages())

// Resolves the message of a range, which may be named by its handle as displayed, to its complete uuid.

export function withWholeRange(
  order: ResolvedCompactionRequest,
  messages: readonly Message[],
): ResolvedCompactionRequest {
  const { range } = order
  const named = range && messages.find(({ uuid }) => handleOf(uuid) === range.uuid.split(".")[0])
  return named ? { ...order, range: { ...range, uuid: named.uuid } } : order
}
