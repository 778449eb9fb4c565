/** Describes the progress and the plan of a compaction for all screens. Pure. */
import type { CompactionPlan, CompactionProgress } from "@strata/core"
import { planRows, ROUTES_WITH_MODEL, routeLabel } from "@strata/page"
import { formatNumber } from "./numbers.ts"
import { indent, wrapText } from "./text.ts"

/** The current step, in a few words; `undefined` for other progress. */
export function describeStep(progress: CompactionProgress): string | undefined {
  switch (progress.phase) {
    case "preparing":
      return "reading the conversation"
    case "summarising": {
      const { route, characters = 0 } = progress
      if (route !== undefined && !ROUTES_WITH_MODEL.has(route)) return `building a summary ${routeLabel(route)}`
      return characters === 0
        ? "asking the model for a summary"
        : `writing a summary, ${formatNumber(characters)} characters`
    }
    case "restoring":
      return "reading files again"
    case "hook":
      return `running the hook on ${progress.event}`
    default:
      return undefined
  }
}

const LABEL_COLUMNS = 18

/** Renders a compaction plan: the output of `/compact --dry-run`. */
export const planLines = (plan: CompactionPlan, width: number): readonly string[] =>
  planRows(plan).flatMap(([label, text]) => {
    const [first = "", ...rest] = wrapText(text, width - LABEL_COLUMNS)
    return [`${label.padEnd(LABEL_COLUMNS)}${first}`, ...indent(rest, LABEL_COLUMNS)]
  })
