/** The sections about size and cost over time: growth, cache, money. */

import { type OutputStubs, PURPOSE_WORDS } from "@strata/core"
import { CAUSES } from "@strata/page"
import { columnChart } from "../display/bars.ts"
import { counted, dollars, dollarsOrUnknown, grouped, pause, percent, short } from "../display/numbers.ts"
import { cacheWords, estimatedLines, lossOf } from "../display/savings.ts"
import { more, titled } from "../display/section.ts"
import { table } from "../display/table.ts"
import { indented, wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import type { Page } from "./page.ts"

const CHART_HEIGHT = 8
const MOST_BREAKS = 8

export function growth(page: Page): string[] {
  const { analysis, style, width } = page
  const { source, sizes, boundaries } = analysis.growth
  if (sizes.length === 0) return []
  const how = source === "counted" ? "counted by the API" : "estimated, without system prompt and tools"
  const peak = Math.max(...sizes)
  return [
    ...titled(page, {
      title: "Growth over turns",
      about: `largest ${short(peak)} tokens, ${short(sizes.at(-1)!)} at the end; ${how}`,
    }),
    ...indented(
      columnChart({
        values: sizes,
        marked: boundaries.map(({ turn }) => turn),
        width: width - 2,
        height: CHART_HEIGHT,
        style,
      }),
      1,
    ),
    ...boundaries.map(
      ({ turn, before, after, estimated = 0 }) =>
        `${" ".repeat(9)}${style.yellow("▲")} compacted after turn ${turn}: ${short(before)} to ${after === undefined ? `about ${short(estimated)} (estimated)` : short(after)}`,
    ),
  ]
}

export function cache(page: Page): string[] {
  const { analysis, style, width } = page
  const { requests, counts, hitRatio, breaks, broken } = analysis.cache
  if (requests === 0) return titled(page, { title: "Cache", about: "the transcript does not record what was billed" })
  if (counts.cacheRead === 0)
    return titled(page, { title: "Cache", about: `none of the ${counted(requests, "request")} read from a cache` })
  const facts = `${percent(hitRatio, 1)} of the input came from it: ${cacheWords(counts)}`
  if (broken.breaks === 0) return [...titled(page, { title: "Cache", about: facts }), "  the cache was never lost"]
  const shown = breaks.toSorted((a, b) => b.paidAnew - a.paidAnew).slice(0, MOST_BREAKS)
  return [
    ...titled(page, { title: "Cache", about: facts }),
    `  lost ${counted(broken.breaks, "time")}; ${short(broken.paidAnew)} tokens paid again, for ${lossOf(broken)}:`,
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "pause", align: "right" },
        { title: "cache read", align: "right" },
        { title: "paid again", align: "right" },
        { title: "cost", align: "right" },
        { title: "probable cause", gives: "end" },
      ],
      rows: shown
        .toSorted((a, b) => a.turn - b.turn)
        .map(({ turn, gapMinutes, readBefore, read, paidAnew, dollars: cost, cause }) => [
          grouped(turn),
          gapMinutes === undefined ? "?" : pause(gapMinutes),
          `${short(readBefore)} to ${short(read)}`,
          short(paidAnew),
          dollarsOrUnknown(cost),
          CAUSES[cause],
        ]),
    }),
    ...more(broken.breaks - shown.length, "loss", "losses"),
  ]
}

export function money(page: Page): string[] {
  const { analysis, style, width } = page
  const { lines, dollars: all, unpriced, stubs, estimated } = analysis.money
  if (lines.length === 0) return []
  const unknown = `no price is known for ${unpriced.map(printable).join(", ")}`
  const isUnknown = lines.every((line) => line.dollars === undefined)
  const spent = `${stubs ? "more than " : ""}${dollars(all)}`
  const sum = unpriced.length === 0 ? spent : isUnknown ? unknown : `${spent}; ${unknown}`
  return [
    ...titled(page, { title: "Money", about: sum }),
    ...estimatedLines(estimated).map((line) => `  ${line}`),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "model", gives: "end" },
        { title: "", gives: "end" },
        { title: "requests", align: "right" },
        { title: "input", align: "right" },
        { title: "cached", align: "right" },
        { title: "output", align: "right" },
        { title: "cost", align: "right" },
      ],
      rows: lines.map(({ model, purpose, requests, counts, dollars: cost }) => [
        printable(model),
        purpose === "main" ? "" : PURPOSE_WORDS[purpose],
        grouped(requests),
        short(counts.input + counts.cacheWrite5m + counts.cacheWrite1h),
        short(counts.cacheRead),
        short(counts.output),
        cost === undefined ? "unknown" : dollars(cost),
      ]),
    }),
    ...(stubs ? indented(wrapped(stubSentences(stubs), width - 2), 2) : []),
  ]
}

const stubSentences = ({ responses, recorded, written }: OutputStubs): string =>
  `The output tokens of ${counted(responses, "response")} were not recorded in full: ${short(recorded)} recorded, about ${short(written)} written. The cost of the output is higher than shown.`
