/** Checks the README's claims on these conversations. Each line says that a claim holds, or how far it is from the goal. */
import { ALL_POLICIES, type Score, scorecard } from "@strata/transcripts/replay"
import { costlierThan, OURS } from "./costlier.ts"
import { rangeText, ratioRange } from "./range.ts"
import { percent } from "./score-rows.ts"
import { NOT_WARMED, VARIANTS } from "./variants.ts"
import type { ReplayResult } from "./worker.ts"

export const NEVER_DEARER_THAN = ["none", "claude-style", "clear-3"]

export function claims(replayed: readonly ReplayResult[]): readonly string[] {
  const scores = scorecard(replayed).scores
  const ours = scores.find(({ policy }) => policy === OURS)
  if (!ours) return []
  return [
    ...rangeLine(replayed, OURS, 0.78),
    ...rangeLine(replayed, NOT_WARMED.name, 0.82),
    ...ratioLine(
      replayed.filter(({ exceedsWindow }) => exceedsWindow),
      "none",
      0.7,
    ),
    ...ratioLine(replayed, "optimum", 1.1),
    ...ratioLine(replayed, "best-places", 1.1),
    ...variantLines(scores),
    ...NEVER_DEARER_THAN.filter((other) => scores.some(({ policy }) => policy === other)).flatMap((other) =>
      [OURS, NOT_WARMED.name]
        .filter((name) => scores.some(({ policy }) => policy === name))
        .map((name) => costlierLine(replayed, name, other)),
    ),
    ...betterLines(scores, ours),
  ]
}

function ratioLine(replayed: readonly ReplayResult[], other: string, goal: number): string[] {
  const ratio = ratioTo(other, scorecard(replayed).scores)
  if (ratio === undefined) return []
  const verdict = ratio <= goal ? "reached" : `missed by ${(100 * (ratio - goal)).toFixed(0)} points`
  const about = other === "none" ? " where the conversation exceeds the window" : ""
  return [
    `${OURS} costs ${ratio.toFixed(2)} of ${other}${about} (${replayed.length} conversations); goal ${goal}: ${verdict}`,
  ]
}

/** Lines about the same policy with other settings. */
function variantLines(scores: readonly Score[]): string[] {
  return VARIANTS.flatMap(({ name, about }) => {
    const ratio = ratioTo("claude-style", scores, name)
    return ratio === undefined ? [] : [`${name} costs ${ratio.toFixed(2)} of claude-style: ${about}`]
  })
}

function ratioTo(other: string, scores: readonly Score[], ours = OURS): number | undefined {
  const [mine, theirs] = [ours, other].map((name) => scores.find(({ policy }) => policy === name))
  return mine && theirs ? mine.cost / theirs.cost : undefined
}

function rangeLine(replayed: readonly ReplayResult[], ours: string, goal: number): string[] {
  const names = replayed[0]?.replay.reports.map(({ policy }) => policy) ?? []
  if (![ours, "claude-style"].every((name) => names.includes(name))) return []
  const range = ratioRange(replayed, [ours, "claude-style"])
  return [
    `${ours} costs ${rangeText(range)} of claude-style (${replayed.length} conversations); goal ${goal}: ${range.value <= goal ? "reached" : "missed"}`,
  ]
}

function costlierLine(replayed: readonly ReplayResult[], ours: string, other: string): string {
  const dearer = costlierThan([other], replayed, ours)
  const worst = dearer.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(", ")
  return `${ours} is dearer than ${other} by more than 1%: ${dearer.length} of ${replayed.length}${worst ? ` (${worst})` : ""}`
}

/** Lines about policies that are cheaper than Strata's, and policies with more names in view. */
function betterLines(scores: readonly Score[], ours: Score): string[] {
  const names = (list: readonly Score[]) => list.map(({ policy }) => policy).join(", ") || "none of them"
  const share = ({ namesInView }: Score) => namesInView.share ?? 1
  const others = rivals(scores)
  return [
    `cheaper than ${OURS}: ${names(others.filter(({ cost }) => cost < ours.cost))}`,
    `more names in view than ${OURS} (${percent(ours.namesInView)}): ${names(others.filter((each) => share(each) > share(ours)))}`,
  ]
}

/** Policies that could replace Strata's: neither the bound nor Strata's own policy with other settings. */
export const rivals = (scores: readonly Score[]): readonly Score[] =>
  scores.filter(
    ({ policy }) => policy !== OURS && policy !== "optimum" && ALL_POLICIES.some(({ name }) => name === policy),
  )
