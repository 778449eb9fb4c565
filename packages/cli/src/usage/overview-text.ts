/** The beginning of the report in the terminal, the same as on the page: a sentence, four numbers, and after the list what to do next. */
import type { NextStep, UsageOverview, UsageReport } from "@strata/page"
import { formatNumber } from "../display/numbers.ts"
import type { SectionOptions } from "../display/section.ts"
import { type Column, table } from "../display/table.ts"
import { indent, wrapText } from "../display/text.ts"
import { quotePath } from "../program-call.ts"

const REPLAY_SECONDS = 600

export interface OverviewTextOptions extends SectionOptions {
  readonly report: Pick<UsageReport, "saved">
  readonly overview: UsageOverview
  /** The beginning of a command line of this program. */
  readonly strata: string
}

export function overviewLines({
  overview,
  style,
  width,
}: Omit<OverviewTextOptions, "strata" | "report">): readonly string[] {
  const { sentence, numbers } = overview
  const columns: readonly Column[] = [{ title: "" }, { title: "" }, { title: "", gives: "end" }]
  const rows = numbers.map(({ title, value, detail, footnote }) => [title, `${value}${footnote?.symbol ?? ""}`, detail])
  return [
    ...wrapText(sentence, width).map(style.bold),
    ...(rows.length === 0 ? [] : ["", ...table({ width, columns, rows })]),
  ]
}

/** The next steps as commands on lines of their own, so that they can be copied, then the footnotes. */
export function nextStepLines({ report, overview, strata, style, width }: OverviewTextOptions): readonly string[] {
  const { next, numbers } = overview
  const left = report.saved.of - report.saved.replayed
  const notes = numbers.flatMap(({ footnote }) => (footnote ? [`${footnote.symbol} ${footnote.text}`] : []))
  return [
    ...(next === undefined ? [] : [`${style.bold("Next")}  ${next.text}`, `  ${style.cyan(commandOf(next, strata))}`]),
    ...(left === 0
      ? []
      : [
          ...[`To see what Strata would have saved, replay ${formatNumber(left)} more:`],
          `  ${style.cyan(`${strata} usage --replay ${REPLAY_SECONDS}`)}`,
        ]),
    ...(notes.length === 0
      ? []
      : ["", ...notes.flatMap((note) => indent(wrapText(note, width - 2), 2)).map(style.dim)]),
  ]
}

const commandOf = (next: NextStep, strata: string): string =>
  "command" in next ? next.command : `${strata} inspect ${quotePath(next.row.file)}`
