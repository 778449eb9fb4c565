/** `strata inspect`: reads recorded conversations and reports where their context and money went. */
import { basename } from "node:path"
import { findModel, type Transcript } from "@strata/core"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { INSPECT } from "../descriptions.ts"
import { dollars, grouped, percent, short } from "../display/numbers.ts"
import type { Steps } from "../display/progress.ts"
import { table } from "../display/table.ts"
import { wrapped } from "../display/text.ts"
import { printable, visibleJson } from "../display/visible.ts"
import { checkPagePlace, writePage } from "../html/file.ts"
import { type Analysis, analyse } from "./analysis.ts"
import type { Inspected } from "./html-page.ts"
import { overFiles, readEach } from "./over-files.ts"
import { type Look, report } from "./report.ts"

export const run: Run = async ({ args, cwd, terminal }) => {
  const { values, operands } = readArguments(INSPECT, args)
  const place = values.html === undefined ? undefined : await checkPagePlace(values.html, cwd)
  const inspected: Inspected[] = []
  const analyses: Analysis[] = []
  const code = await overFiles(terminal, async ({ progress, complain }) => {
    const onFile = (file: string, at: Steps | undefined) => progress.show(`Reading ${basename(file)}`, at)
    for await (const { transcript } of readEach(operands, { complain, onFile })) {
      const analysis = values.layers ? await withLayers(transcript) : await analyse(transcript)
      analyses.push(analysis)
      if (place !== undefined) inspected.push({ transcript, analysis })
      progress.clear()
      if (!values.json) terminal.print(`${report(analysis, terminal).join("\n")}\n\n`)
    }
  })
  if (values.json) terminal.print(`${visibleJson({ conversations: analyses }, 2)}\n`)
  else if (analyses.length > 1) terminal.print(`${comparison(analyses, terminal).join("\n")}\n`)
  if (place !== undefined && inspected.length > 0) {
    const { inspectionPage } = await import("./html-page.ts")
    await writePage(place, await inspectionPage(inspected), terminal)
  }
  return code
}

/** The replay is slow and loads the layers, so it runs only on request. */
async function withLayers(transcript: Transcript): Promise<Analysis> {
  const { replayClearing } = await import("@strata/replay")
  return { ...(await analyse(transcript)), layers: await replayClearing(transcript) }
}

/** A table of several conversations, one line each. */
const WIDEST = 120

function comparison(analyses: readonly Analysis[], { style, columns }: Look): readonly string[] {
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
  name === undefined ? "?" : printable(findModel(name).facts.id).replace(/^claude-/, "")

function costOf({ money }: Analysis): string {
  if (money.lines.length === 0) return "-"
  return money.lines.every((line) => line.dollars === undefined)
    ? "?"
    : `${dollars(money.dollars)}${money.unpriced.length > 0 ? "?" : money.stubs ? "+" : ""}`
}

const sumOf = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
