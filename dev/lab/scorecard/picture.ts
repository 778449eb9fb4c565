/** Draws the scores: for each contestant the share of facts in view after the last round, at each budget, and the size of the view. */
import { contestantsOf, lastOf, percent, sharesOf, totalsOf } from "./report.ts"
import type { RoundScore } from "./run.ts"

const SIZE = { left: 190, width: 760, top: 44, row: 26, bottom: 40, bar: 150, gap: 40 }
const COLOURS = { within: "#27a", over: "#ccc" }

/** Draws a bar for each budget. Grey bars are views over the budget, so they mean little. */
export function scorecardPicture(all: readonly RoundScore[], corpora: readonly string[]): string {
  const scores = all.filter(({ corpus }) => corpora.includes(corpus))
  const shares = sharesOf(scores)
  const names = contestantsOf(scores)
  const { left, width, top, row, bottom, bar, gap } = SIZE
  const height = top + names.length * row + bottom
  const x = (nth: number) => left + nth * (bar + gap)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>Facts in view after five compactions, at three budgets: ${names.join(", ")}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="12" y="14" fill="#555">facts in view after the last round</text>`,
    ...shares.map((share, nth) => `<text x="${x(nth)}" y="${top - 12}" fill="#555">budget ${percent(share)}</text>`),
    ...names.flatMap((name, line) => [
      `<text x="${left - 10}" y="${top + line * row + 12}" text-anchor="end"${name.startsWith("Strata") ? ' font-weight="bold"' : ""}>${name}</text>`,
      ...shares.map((share, nth) => barOf(scores, { name, share, x: x(nth), y: top + line * row })),
    ]),
    `<text x="${left}" y="${height - 12}" fill="#555">grey: over the budget in a round, with the share of the text that was left</text>`,
    "</svg>",
    "",
  ].join("\n")
}

interface BarPlace {
  readonly name: string
  readonly share: number
  readonly x: number
  readonly y: number
}

function barOf(scores: readonly RoundScore[], { name, share, x, y }: BarPlace): string {
  const own = scores.filter((score) => score.contestant === name && score.share === share)
  const { inView, facts } = totalsOf(lastOf(own))
  const { over, left } = totalsOf(own)
  const length = (inView / facts) * SIZE.bar
  const label = `${Math.round((inView / facts) * 100)}%${over > 0 ? ` (${Math.round(left * 100)}% left)` : ""}`
  const inside = length > SIZE.bar - 30
  return [
    `<rect x="${x}" y="${y}" width="${SIZE.bar}" height="16" fill="#f4f4f4"/>`,
    `<rect x="${x}" y="${y}" width="${length.toFixed(1)}" height="16" fill="${over > 0 ? COLOURS.over : COLOURS.within}"/>`,
    `<text x="${(inside ? x + 5 : x + length + 5).toFixed(1)}" y="${y + 12}"${inside && over === 0 ? ' fill="white"' : ""}>${label}</text>`,
  ].join("")
}
