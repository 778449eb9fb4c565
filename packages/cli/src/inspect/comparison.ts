/** A table of several conversations, one line each. */
import { basename } from "node:path"
import { canonicalModelId } from "@strata/core/internal/tokens/models"
import { dollars, grouped, percent, short } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import type { Analysis } from "./analysis.ts"
import type { Look } from "./report.ts"

const WIDEST = 120

export function comparison(analyses: readonly Analysis[], { style, columns }: Look): readonly string[] {
  const sum = (value: (analysis: Analysis) => number) => analyses.reduce((all, one) => all + value(one), 0)
  const rows = analyses.map((one) => [
    printable(one.format === "openhands" && one.title ? one.title : basename(one.file)),
    modelName(one.model),
    grouped(one.growth.sizes.length),
    short(Math.max(0, ...one.growth.sizes)),
    grouped(one.growth.boundaries.length),
    one.cache.counts.cacheRead === 0 ? "-" : percent(one.cache.hitRatio, 1),
    grouped(one.cache.breaks.length),
    short(sumOf(one.content.duplicateReads.map(({ wasted }) => wasted))),
    costOf(one),
  ])
  const totals = [
    "all",
    "",
    grouped(sum((one) => one.growth.sizes.length)),
    "",
    grouped(sum((one) => one.growth.boundaries.length)),
    "",
    grouped(sum((one) => one.cache.breaks.length)),
    short(sum((one) => sumOf(one.content.duplicateReads.map(({ wasted }) => wasted)))),
    dollars(sum((one) => one.money.dollars)),
  ]
  return [
    style.bold(`${analyses.length} conversations`),
    ...table({
      width: Math.min(columns, WIDEST),
      indent: 0,
      titles: style.dim,
      columns: [
        { title: "file", gives: "end" },
        { title: "model", gives: "beginning" },
        { title: "turns", align: "right" },
        { title: "peak", align: "right" },
        { title: "compacted", align: "right" },
        { title: "cached", align: "right" },
        { title: "lost", align: "right" },
        { title: "reread", align: "right" },
        { title: "cost", align: "right" },
      ],
      rows: [...rows, totals],
    }),
    ...wrapped(
      "cached: share of the input read from cache. lost: how often the cache was lost. reread: tokens of files read again. ?: unknown.",
      columns,
    ).map(style.dim),
  ]
}

/** Without the prefix "claude-" and without a date. */
const modelName = (name: string | undefined) =>
  name === undefined ? "?" : printable(canonicalModelId(name)).replace(/^claude-/, "")

function costOf({ money }: Analysis): string {
  if (money.lines.length === 0) return "-"
  return money.lines.every((line) => line.dollars === undefined)
    ? "?"
    : `${dollars(money.dollars)}${money.unpriced.length > 0 ? "?" : money.stubs ? "+" : ""}`
}

const sumOf = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
