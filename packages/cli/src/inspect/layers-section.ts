/** The section about layers 1 and 2: what they would have done, and what that saves compared with other policies. */
import type { Replay, ReplayedAction, ReplayReport } from "@strata/core/internal"
import { counted, dollars, grouped, percent, short } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { indented, wrapped } from "../display/text.ts"
import { more, type Page, titled } from "./page.ts"

const OURS = "strata"
const MOST_ACTIONS = 12

export function layers(page: Page): string[] {
  const { analysis, style, width } = page
  const found = analysis.layers
  const ours = found?.reports.find(({ policy }) => policy === OURS)
  if (!found || !ours || ours.requests.length === 0) return []
  return [
    ...titled(page, { title: "Layers 1 and 2", about: "what they would have done, by replay" }),
    ...indented(wrapped(`${verdict(ours)} ${assumptions(found)}`, width - 2), 2),
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
  const amount = `${inUnit(Math.abs(saved.amount), saved.unit)} (${percent(Math.abs(saved.share), 1)})`
  return `Strata ${saved.amount > 0 ? "saves" : "costs"} ${amount}${saved.amount > 0 ? "" : " more"}, ${than}.`
}

function assumptions({ pauses, sizes }: Replay): string {
  return [
    pauses === "unknown" ? "The transcript has no times, so the replay assumes no pauses and no expired cache." : "",
    sizes === "estimated" ? "Sizes are estimates, without system prompt and tools." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ")
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

function decisions({ style, width }: Page, { actions, totals: { saved } }: ReplayReport): string[] {
  const acted = actions.filter(({ tokens }) => tokens > 0)
  if (acted.length === 0) return []
  const shown = acted.toSorted((a, b) => b.saved - a.saved).slice(0, MOST_ACTIONS)
  return [
    `  Strata would have acted ${counted(acted.length, "time")}:`,
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "what" },
        { title: "tokens", align: "right" },
        { title: "why", gives: "end" },
        { title: "saved", align: "right" },
      ],
      rows: shown
        .toSorted((a, b) => a.turn - b.turn)
        .map((action) => [
          grouped(action.turn),
          what(action),
          short(action.tokens),
          action.why,
          `${action.saved < 0 ? "-" : ""}${inUnit(Math.abs(action.saved), saved.unit)}`,
        ]),
    }),
    ...more(acted.length - shown.length, "action"),
  ]
}

const what = ({ kind, results }: ReplayedAction) => `${results > 0 ? `${grouped(results)} ` : ""}${kind}`

const inUnit = (amount: number, unit: "dollars" | "tokens") =>
  unit === "dollars" ? dollars(amount) : `${short(amount)} tokens`

function signedPercent(share: number): string {
  if (share === 0) return ""
  return share < 0 ? `-${percent(-share, 1)}` : percent(share, 1)
}
