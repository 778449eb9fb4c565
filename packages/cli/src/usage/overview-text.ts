/** The beginning of the report in the terminal, the same as on the page: a sentence, four numbers, and after the list what to do next. */
import type { NextStep, UsageOverview } from "@strata/page"
import type { SectionOptions } from "../display/section.ts"
import { type Column, table } from "../display/table.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"

export interface OverviewTextOptions extends SectionOptions {
  readonly overview: UsageOverview
}

export function overviewLines({ overview, style, width }: OverviewTextOptions): readonly string[] {
  const { sentence, numbers } = overview
  const columns: readonly Column[] = [{ title: "" }, { title: "" }, { title: "", gives: "end" }]
  const rows = numbers.map(({ title, value, detail, footnote }) => [title, `${value}${footnote?.symbol ?? ""}`, detail])
  return [
    ...wrapText(sentence, width).map(style.bold),
    ...(rows.length === 0 ? [] : ["", ...table({ width, columns, rows })]),
  ]
}

/** The next step as a command on its own line, so that it can be copied, then the footnotes. */
export function nextStepLines({ overview, style, width }: OverviewTextOptions): readonly string[] {
  const { next, numbers } = overview
  const notes = numbers.flatMap(({ footnote }) => (footnote ? [`${footnote.symbol} ${footnote.text}`] : []))
  return [
    ...(next === undefined ? [] : [`${style.bold("Next")}  ${next.text}`, `  ${style.cyan(commandOf(next))}`]),
    ...(notes.length === 0
      ? []
      : ["", ...notes.flatMap((note) => indent(wrapText(note, width - 2), 2)).map(style.dim)]),
  ]
}

const commandOf = (next: NextStep): string =>
  "command" in next ? next.command : `strata inspect ${quotePath(next.row.file)}`

/** Quotes a path for a shell, if it needs that. Control characters become visible. */
function quotePath(path: string): string {
  const text = escapeToLine(path)
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
