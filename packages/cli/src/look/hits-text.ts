/** Conversations that a search found, for the terminal. */
import type { LookList, LookRow } from "@strata/page"
import { counted } from "../display/numbers.ts"
import type { Style } from "../display/terminal.ts"
import { fitted, fittedAtEnd } from "../display/text.ts"
import { printable } from "../display/visible.ts"

interface HitsLook {
  readonly query: string
  readonly style: Style
  readonly width: number
}

export function hitsText({ rows, total }: LookList, { query, style, width }: HitsLook): readonly string[] {
  if (total === 0) return [`No conversation has the words "${printable(query)}".`]
  const rest = total - rows.length
  return [
    style.bold(`${counted(total, "conversation")} ${total === 1 ? "has" : "have"} the words "${printable(query)}"`),
    ...rows.flatMap((row) => ["", ...hitLines(row, { style, width })]),
    ...(rest > 0 ? ["", `and ${counted(rest, "more conversation")}`] : []),
  ]
}

function hitLines(row: LookRow, { style, width }: Omit<HitsLook, "query">): readonly string[] {
  const { hit, title, program, project, file, to } = row
  const day = (hit?.at ?? to)?.slice(0, 10)
  const facts = [day, program, project].filter((fact) => fact !== undefined).map(printable)
  return [
    fitted(`${facts.join("  ")}${title === undefined ? "" : `  ${printable(title)}`}`, width),
    ...(hit ? [`  ${fitted(printable(hit.snippet), width - 2)}`] : []),
    style.dim(`  ${fittedAtEnd(printable(file), width - 2)}`),
  ]
}
