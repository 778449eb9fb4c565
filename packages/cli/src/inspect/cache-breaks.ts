/** Where the server's cache helped less than it had before, and the probable reason. */
import type { TokenCounts } from "@strata/core"
import { inputTokens } from "@strata/core/parts"

/** One request to the model, as far as the record tells. */
export interface RecordedRequest {
  readonly turn: number
  /** When its answer began; nothing where the format has no times. */
  readonly at?: string
  readonly model: string
  readonly counts: TokenCounts
  /** A boundary stands between it and the request before. */
  readonly afterBoundary: boolean
}

export interface CacheBreak {
  readonly turn: number
  readonly readBefore: number
  readonly read: number
  /** Input that had to be paid in full or written anew. */
  readonly paidAnew: number
  /** Since the last request; nothing where the format has no times. */
  readonly gapMinutes?: number
  readonly cause: BreakCause
}

export type BreakCause = keyof typeof CAUSES

/** In the words of the report. */
export const CAUSES = {
  compaction: "compacted",
  "other-model": "another model answered",
  "hour-over": "expired: idle for over an hour",
  "five-minutes-over": "expired: idle for over 5 min",
  "all-gone": "prompt or tools changed, or evicted",
  "prompt-left": "history changed early, or evicted",
  "history-changed": "the history changed",
} as const

const LEAST_SHARE = 0.05 // smaller falls are breakpoints that moved
const LEAST_TOKENS = 2_000
const FIVE_MINUTES = 5
const HOUR = 60
const SLACK = 1.05 // a prompt is about as large each time it is read

export function cacheBreaks(requests: readonly RecordedRequest[]): readonly CacheBreak[] {
  const promptRead = leastRead(requests)
  return requests.flatMap((request, i) => {
    const before = requests[i - 1]
    if (!before || !isBreak(before, request)) return []
    const gapMinutes = gapBetween(before, request)
    return [
      {
        turn: request.turn,
        readBefore: before.counts.cacheRead,
        read: request.counts.cacheRead,
        paidAnew: inputTokens(request.counts) - request.counts.cacheRead,
        ...(gapMinutes === undefined ? {} : { gapMinutes }),
        cause: causeOf({
          before,
          request,
          gapMinutes: gapMinutes ?? 0,
          wroteForAnHour: wroteForAnHour(requests, i),
          promptRead,
        }),
      },
    ]
  })
}

function isBreak(before: RecordedRequest, request: RecordedRequest): boolean {
  const fall = before.counts.cacheRead - request.counts.cacheRead
  return fall > LEAST_TOKENS && fall > LEAST_SHARE * before.counts.cacheRead
}

function gapBetween(before: RecordedRequest, request: RecordedRequest): number | undefined {
  if (before.at === undefined || request.at === undefined) return undefined
  return Math.max(0, (Date.parse(request.at) - Date.parse(before.at)) / 60_000)
}

/** The least that was ever found is what stays the same from request to request: system prompt and tools. */
const leastRead = (requests: readonly RecordedRequest[]) =>
  Math.min(...requests.map(({ counts }) => counts.cacheRead).filter((read) => read > 0))

const wroteForAnHour = (requests: readonly RecordedRequest[], until: number) =>
  requests.slice(0, until).some(({ counts }) => counts.cacheWrite1h > 0)

interface Evidence {
  readonly before: RecordedRequest
  readonly request: RecordedRequest
  readonly gapMinutes: number
  readonly wroteForAnHour: boolean
  readonly promptRead: number
}

/** The first that fits. */
function causeOf({ before, request, gapMinutes, wroteForAnHour: forAnHour, promptRead }: Evidence): BreakCause {
  const { cacheRead } = request.counts
  if (request.afterBoundary) return "compaction"
  if (request.model !== before.model) return "other-model"
  if (gapMinutes > HOUR) return "hour-over"
  if (gapMinutes > FIVE_MINUTES && !forAnHour) return "five-minutes-over"
  if (cacheRead === 0) return "all-gone"
  return cacheRead <= SLACK * promptRead ? "prompt-left" : "history-changed"
}
