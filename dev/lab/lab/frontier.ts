/**
 * Cost, number and position of compactions, waiting time and content in view of each policy, as a table and as a picture.
 */
import type { Score, Scorecard } from "@strata/transcripts/replay"
import { OURS } from "./costlier.ts"
import { percent, ratio } from "./score-rows.ts"
import { NOT_WARMED } from "./variants.ts"

/** Columns of the documents' table. */
export const FRONTIER_TITLES = [
  ...["policy", "cost of `claude-style`", "compactions in a task", "at a request", "in a pause"],
  ...["seconds waited", "names in view", "with one search", "too large"],
]

const DEFAULTS: readonly string[] = [OURS, NOT_WARMED.name]

export function frontierRow(score: Score): string {
  const { policy, relative, openings, blockedMs, namesInView, namesWithinSearch, invalid } = score
  const cost = ratio(relative["claude-style"])
  const places = isBound(score) ? ["", "", ""] : [openings.task, openings.request, openings.pause]
  const cells = [
    `\`${policy}\``,
    DEFAULTS.includes(policy) ? `**${cost}**` : cost,
    ...places,
    isBound(score) ? "" : Math.round(blockedMs / 1_000),
    isBound(score) ? "" : percent(namesInView),
    percent(namesWithinSearch),
    invalid === 0 ? "" : invalid,
  ].map(String)
  return `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`
}

/** Whether a policy is a bound. A bound knows the future, so it compacts where no real policy could. */
const isBound = ({ policy }: Score): boolean => policy === "optimum" || policy === "best-places"

export const frontierRows = ({ scores }: Scorecard) =>
  Object.fromEntries(
    scores.map((score) => [
      score.policy,
      {
        "of claude-style": ratio(score.relative["claude-style"]),
        "in a task": score.openings.task,
        "at a request": score.openings.request,
        "in a pause": score.openings.pause,
        "waited s": Math.round(score.blockedMs / 1_000),
        "not waited for": percent(score.withoutWaiting, 0),
        "in view": percent(score.namesInView),
        "or found": percent(score.namesWithinSearch),
        failures: score.failures,
      },
    ]),
  )

const SIZE = { width: 760, height: 420, left: 56, bottom: 44, top: 20, right: 150 }
const MAX_COST = 1.25 // policies that cost more appear only in the table

/** Draws cost upwards and compactions to the right, on a logarithmic scale. Red points have waiting users. */
export function frontierPicture({ scores }: Scorecard): string {
  const shown = scores.filter((score) => !isBound(score) && costOf(score) <= MAX_COST)
  const max = Math.max(1, ...shown.map(({ compactions }) => compactions))
  const min = Math.min(...shown.map(costOf))
  const { width, height, left, bottom, top, right } = SIZE
  const x = (count: number) => left + (Math.log1p(count) / Math.log1p(max)) * (width - left - right)
  const y = (cost: number) => top + ((MAX_COST - cost) / (MAX_COST - min + 0.05)) * (height - top - bottom)
  const ticks = [0, 1, 3, 10, 30, 100, 300].filter((count) => count <= max)
  const lines = [0.4, 0.6, 0.8, 1, 1.2, 1.4].filter((cost) => cost >= min - 0.05)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>What policies cost, and how often they compact</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...lines.map(
      (cost) =>
        `<path d="M${left} ${fixed(y(cost))}H${width - right}" stroke="#ddd"/><text x="${left - 8}" y="${fixed(y(cost) + 4)}" text-anchor="end" fill="#555">${cost.toFixed(1)}</text>`,
    ),
    ...ticks.map(
      (count) => `<text x="${fixed(x(count))}" y="${height - 24}" text-anchor="middle" fill="#555">${count}</text>`,
    ),
    `<text x="${(left + width - right) / 2}" y="${height - 6}" text-anchor="middle" fill="#555">compactions; red: someone waited for them</text>`,
    `<text x="12" y="12" fill="#555">cost, of claude-style</text>`,
    ...apart(shown.map((score) => ({ score, x: x(score.compactions), y: y(costOf(score)) }))).map(
      ({ score, label, ...at }) => {
        const [cx, cy] = [fixed(at.x), fixed(at.y)]
        const isDefault = DEFAULTS.includes(score.policy)
        const weight = isDefault ? ' font-weight="bold"' : ""
        return `<circle cx="${cx}" cy="${cy}" r="${isDefault ? 5 : 3.5}" fill="${score.blockedMs > 0 ? "#c33" : "#27a"}"/><text x="${Number(cx) + 8}" y="${fixed(label + 4)}"${weight}>${score.policy}</text>`
      },
    ),
    "</svg>",
    "",
  ].join("\n")
}

interface Point {
  readonly x: number
  readonly y: number
}

const LABEL = { width: 110, height: 12 }

/** Labels next to their points, moved down where they would overlap. */
function apart<T extends Point>(points: readonly T[]): readonly (T & { readonly label: number })[] {
  const placed: (T & { readonly label: number })[] = []
  for (const point of points.toSorted((a, b) => a.y - b.y)) {
    const above = placed.filter(({ x }) => Math.abs(x - point.x) < LABEL.width).map(({ label }) => label + LABEL.height)
    placed.push({ ...point, label: Math.max(point.y, ...above) })
  }
  return placed
}

const costOf = ({ relative }: Score): number => relative["claude-style"] ?? Number.POSITIVE_INFINITY
const fixed = (value: number) => value.toFixed(1)
