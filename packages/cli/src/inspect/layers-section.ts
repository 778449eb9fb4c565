/** The section about layers 1 and 2: what they would have done, and what that saves compared with other policies. */
import { costWithUnit } from "@strata/page"
import type { ReplayReport } from "@strata/transcripts/replay"
import { counted, dollars, grouped, percent, short } from "../display/numbers.ts"
import { titled } from "../display/section.ts"
import { table } from "../display/table.ts"
import { indented, wrapped } from "../display/text.ts"
import { actionsIn, actionTable } from "../replay/action-table.ts"
import { assumptions } from "../replay/page.ts"
import type { Page } from "./page.ts"

const OURS = "strata"

export function layers(page: Page): string[] {
  const { analysis, style, width } = page
  const found = analysis.layers
  const ours = found?.reports.find(({ policy }) => policy === OURS)
  if (!found || !ours || ours.requests.length === 0) return []
  return [
    ...titled(page, { title: "Layers 1 and 2", about: "what they would have done, by replay" }),
    ...indented(wrapped(`${verdict(ours)} ${assumptions(found).join(" ")}`.trim(), width - 2), 2),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "policy" },
        { title: ours.totals.dollars === undefined ? "as input tokens" : "cost", align: "right" },
        { title: "saved", align: "right" },
        { title: "peak", align: "right" },
        { title: "cached", align: "right" },
        { title: "put aside", align: "right" },
        { title: "cleared", align: "right" },
      ],
      rows: found.reports.map((report) => {
        const cells = totals(report)
        return report.policy === OURS ? cells.map((cell) => style.bold(cell)) : cells
      }),
    }),
    ...decisions(page, ours),
  ]
}

/** What the layers save, and compared with what. */
function verdict({ totals: { saved } }: ReplayReport): string {
  const than = "compared with sending everything, with the same pauses and compactions"
  if (saved.amount === 0) return `Strata changes nothing, ${than}.`
  const amount = `${costWithUnit(Math.abs(saved.amount), saved.unit)} (${percent(Math.abs(saved.share), 1)})`
  return `Strata ${saved.amount > 0 ? "saves" : "costs"} ${amount}${saved.amount > 0 ? "" : " more"}, ${than}.`
}

function totals({ policy, totals: { dollars: spent, weighed, saved, peak, hitRatio, acts } }: ReplayReport): string[] {
  const cleared = acts.cleared + acts["cleared by the server"]
  return [
    policy,
    spent === undefined ? short(weighed) : dollars(spent),
    signedPercent(saved.share),
    short(peak),
    percent(hitRatio, 1),
    acts["put aside"] === 0 ? "" : grouped(acts["put aside"]),
    cleared === 0 ? "" : grouped(cleared),
  ]
}

function decisions(look: Page, report: ReplayReport): string[] {
  const acted = actionsIn(report)
  if (acted.length === 0) return []
  return [`  Strata would have acted ${counted(acted.length, "time")}:`, ...actionTable(report, look)]
}

function signedPercent(share: number): string {
  if (share === 0) return ""
  return share < 0 ? `-${percent(-share, 1)}` : percent(share, 1)
}
