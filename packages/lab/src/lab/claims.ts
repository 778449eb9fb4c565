/** What the README claims, checked on these conversations: each line says what holds and by how much it does not. */
import { scorecard } from "@strata/core/internal/replay/scorecard"
import type { Replayed } from "./worker.ts"

const OURS = "strata"
const DEARER = 1.01 // a percent more counts as equal
const NEVER_DEARER_THAN = ["none", "claude-style", "clear-3"]

export function claims(replayed: readonly Replayed[]): readonly string[] {
  if (!replayed[0]?.replay.reports.some(({ policy }) => policy === OURS)) return []
  return [
    ...ratioLine(replayed, "claude-style", 0.75),
    ...ratioLine(
      replayed.filter(({ exceedsWindow }) => exceedsWindow),
      "none",
      0.7,
    ),
    ...ratioLine(replayed, "optimum", 1.1),
    ...NEVER_DEARER_THAN.map((other) => dearerLine(replayed, other)),
    ...cheaperWithBetterEvidence(replayed),
  ]
}

function ratioLine(replayed: readonly Replayed[], other: string, goal: number): string[] {
  if (replayed.length === 0) return []
  const scores = scorecard(replayed).scores
  const [ours, theirs] = [OURS, other].map((name) => scores.find(({ policy }) => policy === name))
  if (!ours || !theirs) return []
  const ratio = ours.cost / theirs.cost
  const verdict = ratio <= goal ? "reached" : `missed by ${(100 * (ratio - goal)).toFixed(0)} points`
  const about = other === "none" ? " where the conversation exceeds the window" : ""
  return [`${OURS} costs ${ratio.toFixed(2)} of ${other}${about} (n ${replayed.length}); goal ${goal}: ${verdict}`]
}

function dearerLine(replayed: readonly Replayed[], other: string): string {
  const dearer = replayed
    .map(({ name, replay }) => ({ name, ratio: costIn(replay, OURS) / costIn(replay, other) }))
    .filter(({ ratio }) => ratio > DEARER)
    .toSorted((a, b) => b.ratio - a.ratio)
  const worst = dearer.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(", ")
  return `dearer than ${other} by more than 1%: ${dearer.length} of ${replayed.length}${worst ? ` (${worst})` : ""}`
}

/** Policies that are cheaper than ours, and policies with more names in view. */
function cheaperWithBetterEvidence(replayed: readonly Replayed[]): string[] {
  const { scores } = scorecard(replayed)
  const ours = scores.find(({ policy }) => policy === OURS)!
  const others = scores.filter(({ policy }) => policy !== OURS && policy !== "optimum")
  const names = (list: typeof others) => list.map(({ policy }) => policy).join(", ") || "none of them"
  const share = ({ namesInView }: (typeof scores)[number]) => namesInView.share ?? 1
  return [
    `cheaper than ${OURS}: ${names(others.filter(({ cost }) => cost < ours.cost))}`,
    `more names in view than ${OURS}: ${names(others.filter((each) => share(each) > share(ours)))}`,
  ]
}

function costIn({ reports }: Replayed["replay"], name: string): number {
  return reports.find(({ policy }) => policy === name)?.totals.dollars ?? Number.NaN
}
