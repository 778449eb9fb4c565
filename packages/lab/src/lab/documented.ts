/**
 * What the README and the documents say about the recordings, written from the figures just measured. A text that a document does not
 * have is out of date there.
 */
import { type Score, scorecard } from "@strata/core/internal/replay/scorecard"
import { NEVER_DEARER_THAN, rivals } from "./claims.ts"
import { dearerThan, OURS } from "./dearer.ts"
import { percent, ratio } from "./score-rows.ts"
import { AS_RECORDED, NOT_WARMED, VARIANTS } from "./variants.ts"
import type { Replayed } from "./worker.ts"

export interface Said {
  /** Relative to the repository. */
  readonly file: string
  readonly text: string
}

export interface DocumentedSets {
  readonly transcripts: readonly Replayed[]
  readonly more: readonly Replayed[]
}

export function documented({ transcripts, more }: DocumentedSets): readonly Said[] {
  const all = [...transcripts, ...more]
  const scores = scorecard(all).scores
  const of = (name: string) => scores.find(({ policy }) => policy === name)!
  const [ours, fixed] = [of(OURS), of("claude-style")]
  const toFixed = (name: string) => ratio(of(name).relative["claude-style"])
  const [first, second] = [transcripts, more].map((set) => ratioIn(set, "claude-style"))
  const beyond = all.filter(({ exceedsWindow }) => exceedsWindow)
  const cheaper = rivals(scores).filter(({ cost }) => cost < ours.cost)
  const whole = (part: Score["trailRecall"]) => percent(part, 0)
  return [
    ...[
      `${all.length} recorded conversations`,
      `${toFixed(OURS)} of the cost of fixed thresholds, ${toFixed(NOT_WARMED.name)} without keeping the cache warm`,
      `Dearer than fixed thresholds in ${dearerWords(["claude-style"], all)}`,
      `${percent(ours.namesInView)} in view, ${percent(ours.namesWithinSearch)} with one search; fixed thresholds ${percent(fixed.namesInView)} in view`,
      `your rules, right after a compaction: ${bothOf([ours.trailRecall, ours.rulesVerbatim].map(whole))}; fixed thresholds ${bothOf([fixed.trailRecall, fixed.rulesVerbatim].map(whole))}`,
      ...(cheaper.length === 0 ? ["Cheaper than every other policy"] : []),
    ].map((text) => ({ file: "README.md", text })),
    ...[
      `${all.length} conversations: ${transcripts.length} of \`transcripts\``,
      `${more.length} of \`more\``,
      ...scores.filter(({ policy }) => VARIANTS.every(({ name }) => name !== policy)).map(tableRow),
      `In \`transcripts\` alone Strata costs ${first} of \`claude-style\`, in \`more\` ${second}.`,
      `then it is ${toFixed(NOT_WARMED.name)} of \`claude-style\``,
      `it is ${toFixed(AS_RECORDED.name)}.`,
      `Strata is dearer than \`none\` in ${dearerWords(["none"], all)}`,
      `of \`optimum\` is missed: ${ratio(ours.relative.optimum)}.`,
      `Strata costs ${ratio(ours.cost / of("best-places").cost)} of it.`,
    ].map((text) => ({ file: "docs/replay.md", text })),
    ...[
      `${all.length} recorded conversations (${transcripts.length} in \`transcripts\`, ${more.length} in \`more\`)`,
      `Strata ${toFixed(OURS)} of fixed thresholds (${first} and ${second})`,
      `${ratioIn(beyond, "none")} of sending everything where that exceeds the window (n ${beyond.length})`,
      `${ratio(ours.relative.optimum)} of a bound that knows the future`,
      `Dearer than ${NEVER_DEARER_THAN.map((name) => `\`${name}\``).join(", ")} in ${dearerWords(NEVER_DEARER_THAN, all)}`,
    ].map((text) => ({ file: "docs/development/figures.md", text })),
  ]
}

/** Those that a document does not have. Line breaks do not count. */
export const missingIn = (said: readonly Said[], read: (file: string) => string): readonly Said[] =>
  said.filter(({ file, text }) => !read(file).replace(/\s+/g, " ").includes(text))

function tableRow(score: Score): string {
  const emphasis = score.policy === OURS ? "**" : ""
  const bold = (text: string) => `${emphasis}${text}${emphasis}`
  const cells = [
    `\`${score.policy}\``,
    bold(ratio(score.relative["claude-style"])),
    bold(ratio(score.relative.none)),
    percent(score.namesInView),
    percent(score.namesWithinSearch),
    percent(score.trailRecall, 0),
    percent(score.rulesVerbatim, 0),
    String(score.compactions),
  ]
  return `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`
}

/** `1 of 49, by 3%` */
function dearerWords(others: readonly string[], all: readonly Replayed[]): string {
  const dearer = dearerThan(others, all)
  const worst = Math.round(100 * ((dearer[0]?.ratio ?? 1) - 1))
  const by = dearer.length === 0 ? "" : `, by ${worst}%${dearer.length === 1 ? "" : " at most"}`
  return `${dearer.length} of ${all.length}${by}`
}

function ratioIn(replayed: readonly Replayed[], other: "none" | "claude-style"): string {
  return ratio(scorecard(replayed).scores.find(({ policy }) => policy === OURS)?.relative[other])
}

const bothOf = ([first, second]: readonly string[]) => (first === second ? first : `${first} and ${second}`)
