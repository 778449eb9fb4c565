/**
 * The texts of the README and the documents about the recordings, generated from the newest measurements. A document that lacks its text is
 * out of date. Figures are those of `more`, not of the recordings that rules were chosen on.
 */
import { type Score, scorecard } from "@strata/transcripts/replay"
import { NEVER_DEARER_THAN } from "./claims.ts"
import { costlierThan, OURS } from "./costlier.ts"
import { FRONTIER_TITLES, frontierRow } from "./frontier.ts"
import { rangeText, ratioRange } from "./range.ts"
import { percent, ratio } from "./score-rows.ts"
import { ECONOMY, LISTS_FORGOTTEN, NOT_WARMED } from "./variants.ts"
import type { ReplayResult } from "./worker.ts"

export interface DocumentedFigure {
  /** Path relative to the repository. */
  readonly file: string
  readonly text: string
}

export interface DocumentedSets {
  /** Results of the recordings that rules were chosen on. */
  readonly tuned: readonly ReplayResult[]
  readonly more: readonly ReplayResult[]
}

export function documented({ tuned, more }: DocumentedSets): readonly DocumentedFigure[] {
  const scores = scorecard(more).scores
  const of = (name: string) => scores.find(({ policy }) => policy === name)!
  const [ours, fixed] = [of(OURS), of("claude-style")]
  const rangeOf = (name: string) => rangeText(ratioRange(more, [name, "claude-style"]))
  const beyond = more.filter(({ exceedsWindow }) => exceedsWindow)
  const whole = (part: Score["trailRecall"]) => percent(part, 0)
  const dearer = NEVER_DEARER_THAN.map((name) => `\`${name}\``).join(", ")
  return [
    ...[
      `**${rangeOf(OURS)}** of the cost in ${more.length} recorded conversations, replayed`,
      `**${whole(ours.rulesVerbatim)}** of your rules in view, word for word, right after a compaction | ${whole(fixed.rulesVerbatim)} with those thresholds`,
    ].map((text) => ({ file: "README.md", text })),
    ...[
      `${more.length} conversations of \`more\``,
      `| ${FRONTIER_TITLES.join(" | ")} |`,
      ...scores.map(frontierRow),
      `${describePositions(ours)}. \`claude-style\`: ${describePositions(fixed)}`,
      `${secondsOf(ours)} waited, with \`claude-style\` ${secondsOf(fixed)}`,
      `${percent(ours.namesInView)} in view, ${percent(ours.namesWithinSearch)} with one search; with \`claude-style\` ${percent(fixed.namesInView)} in view`,
      `your rules, right after a compaction: ${bothOf([ours.trailRecall, ours.rulesVerbatim].map(whole))}; with \`claude-style\` ${bothOf([fixed.trailRecall, fixed.rulesVerbatim].map(whole))}`,
      `Strata costs ${rangeOf(OURS)} of \`claude-style\`, and ${rangeOf(NOT_WARMED.name)} without keeping the cache warm.`,
      `In the ${tuned.length} recordings that rules were chosen on, it is ${ratioIn(tuned, OURS)} and ${ratioIn(tuned, NOT_WARMED.name)}.`,
      `Of \`fixed-167k\` it is ${ratio(ours.cost / of("fixed-167k").cost)}, of \`claude-idle\` ${ratio(ours.cost / of("claude-idle").cost)}.`,
      `With the planner on \`economy\` it is ${ratio(of(ECONOMY.name).relative["claude-style"])} with ${of(ECONOMY.name).openings.task} compactions in the middle of a task.`,
      `${percent(of(LISTS_FORGOTTEN.name).namesInView)} of the names are in view`,
      `Strata is dearer than ${dearer} by over 1% in ${describeCostlier(NEVER_DEARER_THAN, more)}.`,
      `Without keeping the cache warm it is in ${describeCostlier(NEVER_DEARER_THAN, more, NOT_WARMED.name)}.`,
      `${ratio(ours.relative.optimum)} of \`optimum\` and ${ratio(ours.cost / of("best-places").cost)} of \`best-places\``,
    ].map((text) => ({ file: "docs/development/policies.md", text })),
    ...[
      `${more.length} recorded conversations of \`more\``,
      `Strata ${rangeOf(OURS)} of fixed thresholds, ${rangeOf(NOT_WARMED.name)} without keeping the cache warm`,
      `${ratioIn(beyond, OURS, "none")} of sending everything where that exceeds the window (n ${beyond.length})`,
    ].map((text) => ({ file: "docs/development/figures.md", text })),
  ]
}

/** Texts that a document lacks. Line breaks are ignored. */
export const missingIn = (
  figures: readonly DocumentedFigure[],
  read: (file: string) => string,
): readonly DocumentedFigure[] => figures.filter(({ file, text }) => !read(file).replace(/\s+/g, " ").includes(text))

/** Describes where compactions happen: `3 compactions in the middle of a task, 20 in pauses and 14 where a request begins`. */
const describePositions = ({ openings: { task, pause, request } }: Score): string =>
  `${task} ${task === 1 ? "compaction" : "compactions"} in the middle of a task, ${pause} in pauses and ${request} where a request begins`

const secondsOf = ({ blockedMs }: Score): string => `${Math.round(blockedMs / 1_000)} s`

/** Describes on how many recordings Strata costs more, and by how much: `1 of 49, by 3%`. */
function describeCostlier(others: readonly string[], all: readonly ReplayResult[], ours = OURS): string {
  const dearer = costlierThan(others, all, ours)
  const worst = Math.round(100 * ((dearer[0]?.ratio ?? 1) - 1))
  const by = dearer.length === 0 ? "" : `, by ${worst}%${dearer.length === 1 ? "" : " at most"}`
  return `${dearer.length} of ${all.length}${by}`
}

function ratioIn(
  replayed: readonly ReplayResult[],
  ours: string,
  other: "none" | "claude-style" = "claude-style",
): string {
  return ratio(scorecard(replayed).scores.find(({ policy }) => policy === ours)?.relative[other])
}

const bothOf = ([first, second]: readonly string[]) => (first === second ? first : `${first} and ${second}`)
