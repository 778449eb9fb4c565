/** The last line: model, permission mode, room left, money, turns, agents at work, and a dream if one runs. Where there is no room, the least important parts are left out. */
import type { ReactNode } from "react"
import { counted, dollars } from "../../display/numbers.ts"
import { widthOf } from "../../display/text.ts"
import { bar } from "../panels.ts"
import type { Status } from "../state.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"

const BAR_COLUMNS = 8

export interface StatusLineProps {
  readonly status: Status
  readonly queued: number
  readonly isLeaving: boolean
}

export function StatusLine({ status, queued, isLeaving }: StatusLineProps): ReactNode {
  const theme = useTheme()
  const columns = useColumns()
  const colour = isLeaving || status.isContextLow ? theme.warning : theme.quiet
  const text = isLeaving
    ? "Press Ctrl-C again to exit. The conversation is kept."
    : statusWords(status, { queued, columns: columns - 1 })
  return h(Text, { ...colour, wrap: "truncate-end" }, ` ${text}`)
}

interface Room {
  readonly queued: number
  readonly columns: number
}

export function statusWords(status: Status, { queued, columns }: Room): string {
  const { model, mode, percentLeft, turns, isPriceIncomplete, agents = 0, dream } = status
  const left = `${percentLeft}% left`
  const facts = [
    model,
    mode,
    `${bar(percentLeft / 100, BAR_COLUMNS)} ${left}`,
    `${dollars(status.dollars)}${isPriceIncomplete ? "+" : ""}`,
    counted(turns, "turn"),
    ...(agents === 0 ? [] : [counted(agents, "agent")]),
    ...(dream === undefined ? [] : [`dream ${dream}`]),
    ...(queued === 0 ? [] : [`${queued} queued`]),
  ]
  const narrow = facts.with(2, left)
  const lines = [facts, narrow, narrow.toSpliced(4, 1), narrow.toSpliced(3, 2)].map((parts) => parts.join(" · "))
  return lines.find((line) => widthOf(line) <= columns) ?? lines.at(-1)!
}
