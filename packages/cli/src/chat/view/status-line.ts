/** The last line: model, permission mode, room left, money, turns, agents at work, and a dream if one runs. What does not fit is cut at the end. */
import type { ReactNode } from "react"
import { counted, dollars } from "../../display/numbers.ts"
import { bar } from "../panels.ts"
import type { Status } from "../state.ts"
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
  const colour = isLeaving || status.isContextLow ? theme.warning : theme.quiet
  const text = isLeaving ? "Press Ctrl-C again to exit. The conversation is kept." : statusWords(status, queued)
  return h(Text, { ...colour, wrap: "truncate-end" }, ` ${text}`)
}

export function statusWords(status: Status, queued: number): string {
  const { model, mode, percentLeft, turns, isPriceIncomplete, agents = 0, dream } = status
  return [
    model,
    mode,
    `${bar(percentLeft / 100, BAR_COLUMNS)} ${percentLeft}% left`,
    `${dollars(status.dollars)}${isPriceIncomplete ? "+" : ""}`,
    counted(turns, "turn"),
    ...(agents === 0 ? [] : [counted(agents, "agent")]),
    ...(dream === undefined ? [] : [`dream ${dream}`]),
    ...(queued === 0 ? [] : [`${queued} queued`]),
  ].join(" · ")
}
