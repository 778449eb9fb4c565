/** The sections about content: by class, tool and file, repeatedly read files, and the largest results. */
import { bar } from "../display/bars.ts"
import { contextParts, PARTS, partSign } from "../display/context-parts.ts"
import { formatCompact, formatDollarsOrUnknown, formatNumber, formatPercent, pluralize } from "../display/numbers.ts"
import { moreLine, sectionTitle } from "../display/section.ts"
import { formatShares } from "../display/shares.ts"
import { table } from "../display/table.ts"
import { padEnd, padStart } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import { type AnalysisPage, total, within } from "./page.ts"

const SHOWN = { tools: 8, files: 8, duplicates: 5, results: 5 }

export function content(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { total: all } = analysis.content
  if (all === 0) return []
  const parts = contextParts(analysis.content).toSorted((a, b) => b.tokens - a.tokens)
  const shares = formatShares(
    parts.map(({ tokens }) => tokens),
    all,
  )
  const max = parts[0]?.tokens ?? 1
  const label = Math.max(...parts.map(({ kind }) => PARTS[kind].label.length))
  const numbers = Math.max(...shares.map(({ tokens }) => tokens.length))
  const room = width - label - numbers - 14
  return [
    ...sectionTitle(page, { title: "Where the context went", about: `about ${formatNumber(all)} tokens in total` }),
    ...parts.map(({ kind, tokens }, i) => {
      const drawn = style[PARTS[kind].colour](padEnd(bar({ value: tokens, max, width: room }), room))
      const sign = style.isColorSupported ? partSign(kind, { style }) : " "
      return ` ${sign} ${padEnd(PARTS[kind].label, label)}  ${drawn} ${padStart(shares[i]!.tokens, numbers)} ${padStart(shares[i]!.percent, 5)}`
    }),
  ]
}

export function tools(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { byTool, content: all } = analysis
  if (byTool.length === 0) return []
  const hasDenied = byTool.some(({ denied }) => denied > 0)
  return [
    ...sectionTitle(page, {
      title: "By tool",
      about: `tokens of calls and results; ${all.shares.tools.percent}% of the context together`,
    }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "tool", gives: "end" },
        { title: "calls", align: "right" },
        { title: "failed", align: "right" },
        ...(hasDenied ? [{ title: "denied", align: "right" } as const] : []),
        { title: "in calls", align: "right" },
        { title: "in results", align: "right" },
        { title: "share", align: "right" },
      ],
      rows: byTool
        .slice(0, SHOWN.tools)
        .map((one) => [
          escapeToLine(one.tool),
          formatNumber(one.calls),
          one.failed === 0 ? "" : formatNumber(one.failed),
          ...(hasDenied ? [one.denied === 0 ? "" : formatNumber(one.denied)] : []),
          formatCompact(one.requestTokens),
          formatCompact(one.resultTokens),
          formatPercent(one.requestTokens + one.resultTokens, all.total),
        ]),
    }),
    ...moreLine(byTool.length - SHOWN.tools, "tool"),
  ]
}

export function files(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { byFile, content: all, cwd } = analysis
  if (byFile.length === 0) return []
  return [
    ...sectionTitle(page, { title: "By file", about: `${pluralize(byFile.length, "file")} named in calls` }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "file", gives: "beginning" },
        { title: "calls", align: "right" },
        { title: "tokens", align: "right" },
        { title: "share", align: "right" },
      ],
      rows: byFile
        .slice(0, SHOWN.files)
        .map(({ path, calls, tokens }) => [
          within(path, cwd),
          formatNumber(calls),
          formatCompact(tokens),
          formatPercent(tokens, all.total),
        ]),
    }),
    ...moreLine(byFile.length - SHOWN.files, "file"),
  ]
}

export function duplicates(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const found = analysis.content.duplicateReads.toSorted((a, b) => b.wasted - a.wasted)
  if (found.length === 0) return []
  const wasted = total(found.map((one) => one.wasted))
  return [
    ...sectionTitle(page, {
      title: "Read more than once",
      about: `${pluralize(found.length, "file")}; about ${formatCompact(wasted)} tokens (${formatPercent(wasted, analysis.content.total)}) repeat earlier reads`,
    }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "file", gives: "beginning" },
        { title: "reads", align: "right" },
        { title: "tokens", align: "right" },
        { title: "wasted", align: "right" },
      ],
      rows: found
        .slice(0, SHOWN.duplicates)
        .map(({ path, reads, tokens, wasted: lost }) => [
          within(path, analysis.cwd),
          formatNumber(reads),
          formatCompact(tokens),
          formatCompact(lost),
        ]),
    }),
    ...moreLine(found.length - SHOWN.duplicates, "file"),
    `  Cost of writing them to the cache again: ${formatDollarsOrUnknown(analysis.repeated.dollars)}.`,
  ]
}

export function results(page: AnalysisPage): string[] {
  const { analysis, style, width } = page
  const { largestResults, cwd, content: all } = analysis
  if (largestResults.length === 0) return []
  return [
    ...sectionTitle(page, { title: "Largest results" }),
    ...table({
      width,
      columns: [
        { title: "tokens", align: "right" },
        { title: "share", align: "right" },
        { title: "turn", align: "right" },
        { title: "tool" },
        { title: "about", gives: "end" },
      ],
      titles: style.dim,
      rows: largestResults
        .slice(0, SHOWN.results)
        .map(({ resultTokens, tool, about, turn }) => [
          formatCompact(resultTokens),
          formatPercent(resultTokens, all.total),
          formatNumber(turn),
          escapeToLine(tool),
          within(about, cwd),
        ]),
    }),
  ]
}
