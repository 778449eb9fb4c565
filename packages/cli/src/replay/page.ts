/** Shared by the sections of a replay's report: style and width, and the formats of costs and shares. */
import type { Calibration, Replay, ReplayReport } from "@strata/transcripts/replay"
import type { SectionOptions } from "../display/section.ts"
import type { LoadedRecording } from "./recordings.ts"

export interface ReplayPage extends SectionOptions {
  readonly recording: LoadedRecording
  readonly replay: Replay
  readonly report: ReplayReport
  /** Absent if nothing was billed or another model is assumed. */
  readonly calibration?: Calibration
}

export const PARTIAL = "Lines that were not understood are left out. strata inspect lists them."

const NO_ANSWERS = "There is nothing to replay: the conversation has no answers of a model."

export const formatTurns = ({ reports }: Replay): number =>
  (reports[0]?.requests ?? []).filter(({ purpose }) => purpose === "conversation").length

/** Missing parts of a recording, and assumptions of its replay. */
export const replayRemarks = ({ recording, replay }: Pick<ReplayPage, "recording" | "replay">): string[] => [
  ...(recording.isPartial ? [PARTIAL] : []),
  ...(formatTurns(replay) === 0 ? [NO_ANSWERS] : assumptions(replay)),
]

/** Facts about this recording that the replay has to assume. */
export function assumptions({ pauses, sizes }: Replay): string[] {
  return [
    ...(pauses === "unknown"
      ? ["The recording has no times, so the replay assumes no pauses and no expired cache."]
      : []),
    ...(sizes === "estimated" ? [ESTIMATED_SIZES] : []),
  ]
}

export const ESTIMATED_SIZES = "Sizes are estimates, without system prompt and tools."

/** Causes of cache misses, for screens and pages. */
export const LOSS_LABELS: Readonly<Record<ReplayReport["losses"][number]["why"], string>> = {
  pause: "it expired in a pause",
  compaction: "compacted",
  clearing: "old results were cleared",
  model: "another model answered",
  other: "as recorded: the client or the server dropped it",
}

/** Purposes, for a narrow column. */
export const PURPOSE_LABELS: typeof PURPOSE_NAMES = {
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
