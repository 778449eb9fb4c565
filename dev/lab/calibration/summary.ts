/** Summarizes the calibrations of many recordings: how many are close to their bill, and where the differences come from. */
import { type Calibration, type CalibrationCause, causeText } from "@strata/transcripts/replay"

export interface CalibratedRecording {
  readonly recording: string
  readonly model: string
  readonly calibration: Calibration
}

export interface CauseShare {
  readonly cause: CalibrationCause
  readonly about: string
  readonly recordings: number
  readonly requests: number
  readonly tokens: number
  /** Mean share of the bill that this cause adds, over all recordings. */
  readonly ofBill: number
}

export interface CalibrationSummary {
  readonly recordings: number
  readonly requests: number
  /** Number of requests with a difference that has a cause. */
  readonly incidents: number
  /** Number of recordings within 5% of their bill. */
  readonly within5Percent: { readonly expected: number; readonly modelled: number }
  readonly causes: readonly CauseShare[]
}

export function summarised(all: readonly CalibratedRecording[]): CalibrationSummary {
  const calibrations = all.map(({ calibration }) => calibration)
  const isClose = (kind: "expected" | "modelled") =>
    calibrations.filter(({ isWithin5Percent }) => isWithin5Percent[kind]).length
  return {
    recordings: all.length,
    requests: sum(calibrations.map(({ requests }) => requests)),
    incidents: sum(calibrations.map(({ incidents }) => incidents)),
    within5Percent: { expected: isClose("expected"), modelled: isClose("modelled") },
    causes: causesIn(calibrations),
  }
}

function causesIn(calibrations: readonly Calibration[]): readonly CauseShare[] {
  const parts = calibrations.flatMap(({ bill, parts }) => parts.map((part) => ({ ...part, share: part.amount / bill })))
  return [...Map.groupBy(parts, ({ cause }) => cause)]
    .map(([cause, found]) => ({
      cause,
      about: causeText(cause),
      recordings: found.length,
      requests: sum(found.map(({ requests }) => requests)),
      tokens: sum(found.map(({ tokens }) => tokens)),
      ofBill: sum(found.map(({ share }) => share)) / calibrations.length,
    }))
    .sort((a, b) => Math.abs(b.ofBill) - Math.abs(a.ofBill))
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
