/** The section about sub-agents: the conversation, the agents it started, and what each cost. The rows add up to the total. */
import type { AgentCost, CostReport } from "@strata/core/views"
import { counted, dollarsOrUnknown, grouped, short } from "../display/numbers.ts"
import { more, titled } from "../display/section.ts"
import { table } from "../display/table.ts"
import { printable } from "../display/visible.ts"
import type { Page } from "./page.ts"

const MOST_AGENTS = 30
const WIDE = 90 // columns; a narrower table has no room for the tasks

export function agents(page: Page): string[] {
  const { analysis, style, width } = page
  const { started, own, all } = analysis.agents
  if (started.length === 0) return []
  const hasRoom = width >= WIDE
  const shown = started.slice(0, MOST_AGENTS)
  return [
    ...titled(page, { title: "Agents", about: `${counted(started.length, "agent")} worked for this conversation` }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "agent", gives: "end" },
        { title: "kind" },
        { title: "status" },
        { title: "turns", align: "right" },
        { title: "input", align: "right" },
        { title: "cached", align: "right" },
        { title: "output", align: "right" },
        { title: "cost", align: "right" },
        { title: hasRoom ? "task" : "", gives: "end" },
      ],
      rows: [
        ["this conversation", "", "", ...figures(own), ""],
        ...shown.map((agent) => [
          `└ ${nameOf(agent)}`,
          agent.kind ?? "",
          agent.status ?? "",
          ...figures(agent),
          hasRoom ? taskOf(agent) : "",
        ]),
        ["total", "", "", ...figures(all, started.some(isUnrecorded)), ""],
      ],
    }),
    ...more(started.length - shown.length, "agent"),
  ]
}

const nameOf = ({ name, definition }: AgentCost): string =>
  printable(definition === undefined || definition === name ? name : `${name} (${definition})`)

const taskOf = ({ description = "" }: AgentCost): string => printable(description)

/** No turn of it is recorded, so no one knows what it cost. */
const isUnrecorded = ({ requests }: CostReport): boolean => requests === 0

const figures = ({ requests, tokens, dollars }: CostReport, isMore = false): readonly string[] => [
  grouped(requests),
  short(tokens.input + tokens.cacheWrite),
  short(tokens.cacheRead),
  short(tokens.output),
  requests === 0 ? "unknown" : `${isMore && dollars !== undefined ? ">" : ""}${dollarsOrUnknown(dollars)}`,
]
