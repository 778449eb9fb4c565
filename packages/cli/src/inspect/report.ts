/** An analysis as a page: one section per question, without the empty ones. */

import { counted, grouped } from "../display/numbers.ts"
import { fileLine, more, titled, withGap } from "../display/section.ts"
import type { Style } from "../display/terminal.ts"
import { fitted, indented, wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { agents } from "./agents-section.ts"
import type { Analysis } from "./analysis.ts"
import { content, duplicates, files, results, tools } from "./content-sections.ts"
import { cache, growth, money } from "./cost-sections.ts"
import { layers } from "./layers-section.ts"
import { type Page, total } from "./page.ts"
import { savings } from "./savings-section.ts"

export interface Look {
  readonly style: Style
  readonly columns: number
}

const WIDEST = 110
const MOST_NOTES = 8

export function report(analysis: Analysis, { style, columns }: Look): readonly string[] {
  const page: Page = { analysis, style, width: Math.min(columns, WIDEST) }
  const sections = [content, tools, files, duplicates, growth, cache, money, agents, savings, layers, results, notes]
  const lines = [...heading(page), ...sections.flatMap((section) => withGap(section(page)))]
  return lines.some((line) => LEFT_OUT.test(line)) ? [...lines, "", style.dim(SEE_ALL)] : lines
}

/** What `more` ends a section with. */
const LEFT_OUT = /^ {2}and [\d,]+ more /
const SEE_ALL = '"strata inspect --json" lists everything that is left out here.'

function heading({ analysis, style, width }: Page): string[] {
  const { file, format, title, cwd, model, time, report: read, messages, growth: course } = analysis
  const facts = [
    format,
    printable(model ?? "model unknown"),
    ...(time ? [spanOf(time)] : []),
    ...(cwd ? [printable(cwd)] : []),
  ]
  const strange = Object.entries(read.notUnderstood)
  const lost =
    strange.length === 0 ? "all understood" : `${grouped(total(strange.map(([, count]) => count)))} not understood`
  const size = [
    `${counted(read.lines, "line")}, ${lost}`,
    counted(messages, "message"),
    counted(course.sizes.length, "turn"),
    ...(course.boundaries.length > 0 ? [counted(course.boundaries.length, "compaction")] : []),
  ]
  return [
    fileLine(file, { style, width }),
    ...(title ? [fitted(printable(title), width)] : []),
    ...wrapped(facts.join(" · "), width),
    ...wrapped(size.join(" · "), width),
    ...strange
      .slice(0, MOST_NOTES)
      .map(([kind, count]) => style.yellow(`  not understood: ${printable(kind)} (${grouped(count)})`)),
    ...more(strange.length - MOST_NOTES, "kind"),
  ]
}

function notes(page: Page): string[] {
  const { analysis, width } = page
  const said = analysis.report.notes
  if (said.length === 0) return []
  return [
    ...titled(page, { title: "Import notes" }),
    ...said.slice(0, MOST_NOTES).flatMap((note) => indented(wrapped(printable(note), width - 4), 2)),
    ...more(said.length - MOST_NOTES, "note"),
  ]
}

function spanOf({ from, to }: { readonly from: string; readonly to: string }): string {
  const first = from.slice(0, 16).replace("T", " ")
  const last = to.slice(0, 16).replace("T", " ")
  return first.slice(0, 10) === last.slice(0, 10) ? `${first} to ${last.slice(11)}` : `${first} to ${last}`
}
