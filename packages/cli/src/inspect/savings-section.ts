/** The section about Strata's layers: their decisions, the savings, and what the savings are compared with. */

import type { DecidedWhat } from "@strata/page"
import { auditLines, auditWords } from "@strata/page"
import { counted, grouped, short } from "../display/numbers.ts"
import { savedInAll, savingLines } from "../display/savings.ts"
import { more, titled } from "../display/section.ts"
import { table } from "../display/table.ts"
import { indented, wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import type { Page } from "./page.ts"

const MOST_DECISIONS = 12
const WITHOUT_SIZE: ReadonlySet<DecidedWhat> = new Set(["undone", "cache lifetime"])

export function savings(page: Page): string[] {
  const { analysis, style, width } = page
  const { decided, savings: saved } = analysis
  if (decided.length === 0 && saved.length === 0) return []
  return [
    ...titled(page, { title: "Layers", about: `${counted(decided.length, "decision")}; ${savedInAll(saved)}` }),
    ...decisionTable(page),
    ...plannedDecisions(page),
    ...checkedSummaries(page),
    ...(saved.length === 0 ? [] : ["", ...savingLines(saved, { width, style })]),
  ]
}

/** What the planner decided, each with its sentence. */
function plannedDecisions({ analysis, width }: Page): string[] {
  const planned = analysis.decided.filter((one) => one.planned !== undefined)
  if (planned.length === 0) return []
  const lines = planned
    .slice(-MOST_DECISIONS)
    .map(({ turn, planned: why }) => `Planned after turn ${grouped(turn)}: ${why}`)
  return [
    "",
    ...lines.flatMap((line) => indented(wrapped(printable(line), width - 2), 2)),
    ...more(planned.length - lines.length, "planned decision"),
  ]
}

/** How each summary was checked, and what that changed. */
function checkedSummaries({ analysis, width }: Page): string[] {
  const lines = analysis.decided.flatMap(({ turn, audit }) =>
    audit ? [`Summary after turn ${grouped(turn)}: ${auditWords(audit)}.`, ...auditLines(audit)] : [],
  )
  return lines.length === 0 ? [] : ["", ...lines.flatMap((line) => indented(wrapped(printable(line), width - 2), 2))]
}

/** The largest decisions, in order. */
function decisionTable({ analysis, style, width }: Page): string[] {
  const { decided } = analysis
  if (decided.length === 0) return []
  const shown = decided.toSorted((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0)).slice(0, MOST_DECISIONS)
  return [
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "decision" },
        { title: "tokens", align: "right" },
        { title: "rewritten", align: "right" },
        { title: "about", gives: "end" },
      ],
      rows: decided
        .filter((one) => shown.includes(one))
        .map(({ turn, what, tokens, rewrites, about }) => [
          grouped(turn),
          what,
          tokens === undefined ? (WITHOUT_SIZE.has(what) ? "" : "?") : short(tokens),
          rewrites ? short(rewrites) : "",
          printable(about),
        ]),
    }),
    ...more(decided.length - shown.length, "decision"),
  ]
}
