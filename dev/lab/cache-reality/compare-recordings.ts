/** Compares recordings with the cache model: replays the requests of each conversation and counts the verdicts. */
import type { RecordedConversation } from "../recordings.ts"
import { type Cause, type ComparedResponse, compare, isGood, MESSAGES_API, OPENAI, type Verdict } from "./causes.ts"
import { recordedRequests } from "./recorded-requests.ts"
import { replay } from "./replay.ts"

export interface Comparison {
  readonly recording: string
  readonly model: string
  /** `messages-api` compares reads and writes by the rules of the Messages API, `openai` only reads. */
  readonly provider: "messages-api" | "openai"
  readonly requests: readonly ComparedResponse[]
}

export interface VerdictTally {
  readonly requests: number
  /** Number of predicted requests, without those of verdict `given`. */
  readonly predicted: number
  readonly exact: number
  /** Number of predictions within 1%, including exact ones. */
  readonly within1Percent: number
  /** Requests that did more than continue from the cache of the request before: these test a cache model. */
  readonly breaks: number
  readonly breaksWithin1Percent: number
  readonly causes: Readonly<Partial<Record<Cause, number>>>
}

/** Undefined if the recording has no cached tokens. */
export function compareRecording({ name, format, model, messages }: RecordedConversation): Comparison | undefined {
  const requests = recordedRequests(messages, model)
  if (!requests.some(({ usage }) => usage.read > 0)) return undefined
  const provider = format === "codex" ? "openai" : "messages-api"
  const yardstick = provider === "openai" ? OPENAI : MESSAGES_API
  return { recording: name, model, provider, requests: compare(replay(requests, format), yardstick) }
}

export function tally(comparisons: readonly Comparison[]): VerdictTally {
  const requests = comparisons.flatMap(({ requests }) => requests)
  const verdicts = requests.map(({ verdict }) => verdict)
  const breaks = requests.filter(({ breaks, verdict }) => breaks && verdict !== "given")
  const counts = Map.groupBy(verdicts, (verdict) => verdict)
  const count = (verdict: Verdict) => counts.get(verdict)?.length ?? 0
  const {
    exact: _exact,
    given: _given,
    "within 1%": _close,
    ...causes
  } = Object.fromEntries([...counts].map(([verdict, { length }]) => [verdict, length])) as Partial<
    Record<Verdict, number>
  >
  return {
    requests: verdicts.length,
    predicted: verdicts.length - count("given"),
    exact: count("exact"),
    within1Percent: count("exact") + count("within 1%"),
    breaks: breaks.length,
    breaksWithin1Percent: breaks.filter(({ verdict }) => isGood(verdict)).length,
    causes,
  }
}
