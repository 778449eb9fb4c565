/**
 * Compares a prediction with the record, and says for each request that was not predicted why not, as far as the record
 * shows it. A cause is named only where there is evidence for it; all else is unexplained.
 */
import { inputOf } from "./recorded-requests.ts"
import type { Prediction } from "./replay.ts"
import { LARGEST_TAIL, systemEnds } from "./token-shares.ts"

/** `given`: the first request, and those whose read first shows where system and tools are marked. */
export type Verdict = "given" | "exact" | "within 1%" | Cause

export const CAUSES = {
  warmedByOthers: "system and tools kept warm by other conversations",
  sideRequest: "a request outside the record had cached the last answer",
  sentBefore: "the same request had been sent before: a retry outside the record",
  markEarlier: "the last mark, here or in the request before, was before the last block",
  toolsChanged: "tools changed, as the record says",
  interrupted: "interrupted: what was kept of the turn is not recorded",
  shrank: "the context shrank: what was taken out is not recorded",
  editedBehind: "a shorter part of the messages was read: what followed it had changed, unrecorded",
  otherSystem: "another part of system and tools was read than the first request shows",
  outlived: "read after its time to live, counted from what was sent last: when requests began is not recorded",
  messagesLost: "unexplained: messages missed within their time to live, system and tools read",
  lost: "unexplained: all missed within its time to live (evicted, or system or tools changed unrecorded)",
  foreignRules: "another provider's cache, which follows other rules",
  unexplained: "unexplained: other",
} as const
export type Cause = keyof typeof CAUSES

const CLOSE = 0.01 // of the request's input

export interface Compared {
  readonly prediction: Prediction
  readonly verdict: Verdict
  /** The request did not simply read on from where the one before it had cached. */
  readonly breaks: boolean
}

/** The providers that count no writes are compared by their reads, which they count in steps. */
export interface Yardstick {
  readonly countsWrites: boolean
  readonly step: number
}
export const MESSAGES_API: Yardstick = { countsWrites: true, step: 1 }
export const OPENAI: Yardstick = { countsWrites: false, step: 128 }

export function compare(predictions: readonly Prediction[], yardstick: Yardstick): Compared[] {
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

/** Predicted, as well as can be asked. */
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
  return countsWrites ? causeOf(prediction, before) : "foreignRules"
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
