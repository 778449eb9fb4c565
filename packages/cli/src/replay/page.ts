/** Shared by the sections of a replay's report: the look, and how costs and shares read. */
import type { Calibration, CostUnit, Part, Replay, ReplayReport } from "@strata/replay"
import { dollars, percent, short } from "../display/numbers.ts"
import type { Look } from "../display/section.ts"
import type { Recording } from "./recordings.ts"

export interface ReplayPage extends Look {
  readonly recording: Recording
  readonly replay: Replay
  readonly report: ReplayReport
  /** Absent where nothing was billed, or another model is assumed. */
  readonly calibration?: Calibration
}

/** `$1.23`, or `12.3K` weighed tokens. */
export const costIn = (amount: number, unit: CostUnit): string => (unit === "dollars" ? dollars(amount) : short(amount))

/** The same where no title says the unit. */
export const costWithUnit = (amount: number, unit: CostUnit): string =>
  `${costIn(amount, unit)}${unit === "tokens" ? " tokens" : ""}`

/** `40 ms`, `1.2 s`, `45 s`, `7 min` */
export function timeWords(ms: number): string {
  const seconds = ms / 1_000
  if (ms > 0 && seconds < 1) return `${Math.round(ms)} ms`
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

/** `31%`, or `-` where there was nothing to count. */
export const shareOf = ({ share }: Part): string => (share === undefined ? "-" : wholePercent(share))

/** Rounded, but only all is 100%. */
export function wholePercent(share: number): string {
  const rounded = percent(share, 1)
  return rounded === "100%" && share < 1 ? ">99%" : rounded
}

export const PARTIAL = "Lines that were not understood are left out. strata inspect lists them."

const NO_ANSWERS = "There is nothing to replay: the conversation has no answers of a model."

export const turnsOf = ({ reports }: Replay): number =>
  (reports[0]?.requests ?? []).filter(({ purpose }) => purpose === "conversation").length

/** What is missing in a recording, and what its replay assumes. */
export const remarksOn = ({ recording, replay }: Pick<ReplayPage, "recording" | "replay">): string[] => [
  ...(recording.isPartial ? [PARTIAL] : []),
  ...(turnsOf(replay) === 0 ? [NO_ANSWERS] : assumptions(replay)),
]

/** What the replay does not know about this recording. */
export function assumptions({ pauses, sizes }: Replay): string[] {
  return [
    ...(pauses === "unknown"
      ? ["The recording has no times, so the replay assumes no pauses and no expired cache."]
      : []),
    ...(sizes === "estimated" ? [ESTIMATED_SIZES] : []),
  ]
}

export const ESTIMATED_SIZES = "Sizes are estimates, without system prompt and tools."

/** Why the cache was lost, as it reads on screens and pages. */
export const LOSS_WORDS: Readonly<Record<ReplayReport["losses"][number]["why"], string>> = {
  pause: "it expired in a pause",
  compaction: "compacted",
  clearing: "old results were cleared",
  model: "another model answered",
  other: "as recorded: the client or the server dropped it",
}

/** The same for a narrow column. */
export const PURPOSE_WORDS: typeof PURPOSE_NAMES = {
  conversation: "",
  summary: "summary",
  recall: "fetch again",
  "keep-warm": "keep warm",
  notes: "notes",
  memory: "memories",
}

export const PURPOSE_NAMES: Readonly<Record<ReplayReport["requests"][number]["purpose"], string>> = {
  conversation: "conversation",
  summary: "summaries",
  recall: "getting back what was used again",
  "keep-warm": "keeping the cache warm",
  notes: "notes",
  memory: "memories",
}
