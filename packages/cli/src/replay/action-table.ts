/** The largest actions of a policy, in order. */
import { formatAmount } from "@strata/page"
import type { ReplayReport } from "@strata/transcripts/replay"
import { formatCompact, formatNumber } from "../display/numbers.ts"
import { moreLine, type SectionOptions } from "../display/section.ts"
import { table } from "../display/table.ts"
import { escapeToLine } from "../display/visible.ts"

const MAX_ACTIONS = 12

/** Actions that changed what is sent. */
export const actionsIn = ({ actions }: ReplayReport): ReplayReport["actions"] =>
  actions.filter(({ tokens, kind }) => tokens > 0 || kind === "compacted")

export function actionTable(report: ReplayReport, { style, width }: SectionOptions): string[] {
  const { unit } = report.totals.saved
  const acted = actionsIn(report)
  const shown = new Set(acted.toSorted((a, b) => b.tokens - a.tokens).slice(0, MAX_ACTIONS))
  return [
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "what" },
        { title: "tokens", align: "right" },
        { title: unit === "dollars" ? "saved" : "saved tokens", align: "right" },
        { title: "why", gives: "wrap" },
      ],
      rows: acted
        .filter((action) => shown.has(action))
        .map((action) => [
          formatNumber(action.turn),
          describeAction(action),
          formatCompact(action.tokens),
          `${action.saved < 0 ? "-" : ""}${formatAmount(Math.abs(action.saved), unit)}`,
          escapeToLine(action.why),
        ]),
    }),
    ...moreLine(acted.length - shown.size, "action"),
  ]
}

/** `3 cleared`, `compacted` */
export const describeAction = ({ kind, results }: ReplayReport["actions"][number]): string =>
  `${results > 0 ? `${formatNumber(results)} ` : ""}${kind}`
