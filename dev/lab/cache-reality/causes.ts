/**
 * Compares predictions with the recording and names the cause of each miss. A cause needs evidence in the recording; everything
 * else is unexplained.
 */
import { inputOf } from "./recorded-requests.ts"
import type { Prediction } from "./replay.ts"
import { LARGEST_TAIL, systemEnds } from "./token-shares.ts"

/** `given` applies to the first request, and to requests whose read is the first to show a breakpoint on system prompt or tools. */
export type Verdict = "given" | "exact" | "within 1%" | Cause

export const CAUSES = {
  warmedByOthers: "other conversations kept the system prompt and the tools in the cache",
  sideRequest: "a request that is not recorded had cached the last answer",
  sentBefore: "the same request was sent before: a retry that is not recorded",
  markEarlier: "the last breakpoint, here or in the request before, was before the last block",
  toolsChanged: "the tools changed, as recorded",
  interrupted: "interrupted: the recording does not say what was kept of the turn",
  shrank: "the context shrank: the recording does not say what was removed",
  editedBehind: "fewer messages were read: those after them had changed, which is not recorded",
  otherSystem: "another part of system prompt and tools was read than in the first request",
  outlived: "read after its lifetime, counted from the last message sent: the start of requests is not recorded",
  messagesLost: "unexplained: messages missed within their lifetime, system prompt and tools read",
  lost: "unexplained: everything missed within its lifetime (evicted, or an unrecorded change to system prompt or tools)",
  externalRules: "the cache of another provider, with other rules",
  unexplained: "unexplained: other",
} as const
export type Cause = keyof typeof CAUSES

const CLOSE = 0.01 // share of the request's input

export interface ComparedResponse {
  readonly prediction: Prediction
  readonly verdict: Verdict
  /** Whether the request did more than continue from what the request before it had cached. */
  readonly breaks: boolean
}

/**
 * The measure that predictions are compared by. Providers that do not report writes are compared by their reads, which they count in steps.
 */
export interface Yardstick {
  readonly countsWrites: boolean
  readonly step: number
}
export const MESSAGES_API: Yardstick = { countsWrites: true, step: 1 }
export const OPENAI: Yardstick = { countsWrites: false, step: 128 }

export function compare(predictions: readonly Prediction[], yardstick: Yardstick): ComparedResponse[] {
  const shown = new Set<number>()
  return predictions.map((prediction, index) => {
    const { shaped } = prediction
    const [first, previous] = [predictions[0] as Prediction, predictions[index - 1]]
    const { read } = shaped.request.usage
    const isNew = !shown.has(read)
    shown.add(read)
    const judged = previous ? judge(prediction, { yardstick, first, previous }) : "given"
    const showsMark = isNew && isGood(judged) && systemEnds(shaped).includes(read)
    const verdict = showsMark ? "given" : judged
    return { prediction, verdict, breaks: previous !== undefined && read !== cachedBy(previous) }
  })
}

function cachedBy({ shaped }: Prediction): number {
  const { read, write } = shaped.request.usage
  return read + write
}

/** Whether the prediction counts as correct. */
export const isGood = (verdict: Verdict) => verdict === "exact" || verdict === "within 1%"

interface Before {
  readonly first: Prediction
  readonly previous: Prediction
  readonly yardstick: Yardstick
}

function judge(prediction: Prediction, before: Before): Verdict {
  const { usage } = prediction.shaped.request
  const { countsWrites, step } = before.yardstick
  const read = Math.abs(prediction.read - (prediction.read % step) - usage.read)
  const write = countsWrites ? Math.abs(prediction.write - usage.write) : 0
  if (read === 0 && write === 0) return "exact"
  const close = CLOSE * inputOf(usage)
  if (read <= close && write <= close) return "within 1%"
  return countsWrites ? causeOf(prediction, before) : "externalRules"
}

function causeOf(prediction: Prediction, { first, previous }: Before): Cause {
  const { shaped, read: predicted } = prediction
  const { usage, circumstances } = shaped.request
  const { usage: usageBefore } = previous.shaped.request
  if (usage.read === predicted && usage.uncached > LARGEST_TAIL) return "markEarlier"
  if (usage.read === cachedBy(previous) && usageBefore.uncached > LARGEST_TAIL) return "markEarlier"
  return usage.read > predicted ? whyMore() : whyLess()

  function whyMore(): Cause {
    const close = CLOSE * inputOf(usage)
    if (usage.read === prediction.readWithoutExpiry) return "outlived"
    if (usage.write === 0 && usage.uncached <= LARGEST_TAIL) return "sentBefore"
    if (Math.abs(usage.read - prediction.endOfLastAnswer) <= close) return "sideRequest"
    if (isSystem(usage.read)) return predicted === 0 ? "warmedByOthers" : "otherSystem"
    return "unexplained"
  }

  function whyLess(): Cause {
    if (circumstances.toolsChanged) return "toolsChanged"
    if (circumstances.interrupted) return "interrupted"
    if (shaped.shrank) return "shrank"
    if (usage.read === 0) return "lost"
    if (circumstances.opensContext) return "otherSystem"
    return isSystem(usage.read) ? "messagesLost" : "editedBehind"
  }

  function isSystem(read: number): boolean {
    return read < inputOf(first.shaped.request.usage)
  }
}
