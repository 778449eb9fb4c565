/** One item of the conversation. Tool calls, thinking and summaries are folded to a line. */

import { Box } from "ink"
import type { ReactNode } from "react"
import { formatDuration } from "../../display/numbers.ts"
import { firstLine } from "../../display/text.ts"
import { describeCall } from "../../display/tool-calls.ts"
import { escapeToLine } from "../../display/visible.ts"
import { compactionTitle } from "../folded.ts"
import { panelRows } from "../panel-rows.ts"
import { panelColumns } from "../panels.ts"
import { outputLines } from "../shell-command.ts"
import type { CompactionItem, Item, PanelItem, ShellItem, ToolItem, ToolOutcome } from "../state.ts"
import { wrapSpans } from "../wrap.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { MarkdownView } from "./markdown-view.ts"
import { Text, type TextProps } from "./text.ts"
import { type Role, useTheme } from "./theme.ts"

const MAX_PANEL_LINES = 400 // fits a terminal's scrollback; the journal has the rest

export interface ItemViewProps {
  readonly item: Item
  /** The item above this one. */
  readonly previous: Item | undefined
}

/** Consecutive tool calls and notices have no blank line between them. */
export function ItemView({ item, previous }: ItemViewProps): ReactNode {
  const isLine = item.kind === "tool" || item.kind === "notice"
  const marginTop =
    item.kind !== "heading" && (previous === undefined || (isLine && previous.kind === item.kind)) ? 0 : 1
  return h(Box, { marginTop, flexShrink: 0, flexDirection: "column" }, h(ItemContent, { item }))
}

function ItemContent({ item }: { readonly item: Item }): ReactNode {
  switch (item.kind) {
    case "heading":
      return h(HeadingView, item)
    case "user":
      return h(UserView, { text: item.text })
    case "answer":
      return h(MarkdownView, { text: item.text })
    case "thinking":
      return h(ThinkingView, item)
    case "tool":
      return h(ToolView, { item })
    case "shell":
      return h(ShellView, { item })
    case "compaction":
      return h(CompactionView, { item })
    case "notice":
      return h(NoticeView, item)
    case "panel":
      return h(PanelView, item)
  }
}

function HeadingView({ text }: { readonly text: string }): ReactNode {
  return h(Text, { ...useTheme().quiet, wrap: "truncate-end" }, `── ${text} ──`)
}

function UserView({ text }: { readonly text: string }): ReactNode {
  const { accent } = useTheme()
  return h(Rows, { lead: h(Text, accent, "> "), text: beginningOf(text), bold: true })
}

const MAX_MESSAGE_CHARACTERS = 2_000 // characters; the user knows the rest of a longer message

function beginningOf(text: string): string {
  const left = text.length - MAX_MESSAGE_CHARACTERS
  if (left <= 0) return text
  return `${text.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}\n… ${left.toLocaleString("en")} more characters`
}

interface RowsProps extends Pick<TextProps, "bold" | "color" | "dimColor"> {
  /** Content of the two columns before the first row. */
  readonly lead: ReactNode
  readonly text: string
}

/** Wrapped plain text after a sign. */
function Rows({ lead, text, ...style }: RowsProps): ReactNode {
  const columns = useColumns() - 2
  const rows = text.split("\n").flatMap((line) => wrapSpans([{ text: escapeToLine(line) }], columns))
  return rows.map((row, i) =>
    h(
      Box,
      { key: i, flexShrink: 0 },
      i === 0 ? lead : h(Text, null, "  "),
      h(Text, { ...style, wrap: "truncate-end" }, row.map((span) => span.text).join("") || " "),
    ),
  )
}

function ThinkingView({
  text,
  isArriving = false,
}: {
  readonly text: string
  readonly isArriving?: boolean
}): ReactNode {
  const words = text.split(/\s+/).filter(Boolean).length
  const now = firstLine(text.trimEnd().split("\n").at(-1) ?? "")
  const line = isArriving ? `Thinking: ${now}` : `Thought, ${words} words (Ctrl-O)`
  return h(Box, { flexShrink: 0 }, h(Text, { ...useTheme().quiet, wrap: "truncate-end" }, `∴ ${line}`))
}

const OUTCOME_ROLES: Readonly<Record<ToolOutcome["state"], Role>> = {
  ok: "good",
  failed: "bad",
  denied: "warning",
  interrupted: "warning",
}

function ToolView({ item }: { readonly item: ToolItem }): ReactNode {
  const theme = useTheme()
  const { name, summary, progress, outcome } = item
  const colour = outcome ? theme[OUTCOME_ROLES[outcome.state]] : theme.accent
  const below = outcome ? (outcome.state === "ok" ? "" : outcome.text) : (progress ?? "")
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    h(
      Box,
      { gap: 1 },
      h(Box, { flexShrink: 0 }, h(Text, colour, outcome ? "●" : "○"), h(Text, { bold: true }, ` ${name}`)),
      h(Text, { wrap: "truncate-end" }, describeCall(name, summary).slice(name.length + 1)),
      h(Box, { flexShrink: 0 }, h(Text, colour, outcome ? outcomeWords(outcome) : "…")),
    ),
    below === "" ? null : h(Text, { ...theme.quiet, wrap: "truncate-end" }, `  └ ${below}`),
  )
}

const outcomeWords = ({ state, ms }: ToolOutcome): string => (ms > 0 ? `${state}, ${formatDuration(ms)}` : state)

function ShellView({ item: { command, progress = "…", output } }: { readonly item: ShellItem }): ReactNode {
  const { accent, quiet } = useTheme()
  const below = output === undefined ? [progress, "(Esc stops it)"] : outputLines(output)
  return [
    h(Rows, { key: "command", lead: h(Text, accent, "! "), text: command, bold: true }),
    h(Rows, { key: "output", lead: h(Text, null, "  "), text: below.join("\n"), ...quiet }),
  ]
}

function CompactionView({ item }: { readonly item: CompactionItem }): ReactNode {
  const { accent } = useTheme()
  const text = item.outcome ? `${compactionTitle(item)} (Ctrl-O)` : "Writing the summary to the journal…"
  return h(Rows, { lead: h(Text, accent, "≡ "), text, ...accent })
}

const NOTICE_SIGNS = { plain: ["·", "quiet"], warning: ["!", "warning"], error: ["!", "bad"] } as const

function NoticeView({ tone, text }: { readonly tone: keyof typeof NOTICE_SIGNS; readonly text: string }): ReactNode {
  const theme = useTheme()
  const [mark, role] = NOTICE_SIGNS[tone]
  return h(Rows, { lead: h(Text, theme[role], `${mark} `), text, ...theme[role] })
}

function PanelView({ title, lines: given }: PanelItem): ReactNode {
  const columns = useColumns() - 2
  const lines = typeof given === "function" ? given(panelColumns(columns + 2)) : given
  const left = lines.length - MAX_PANEL_LINES
  const shown = left > 0 ? [...lines.slice(0, MAX_PANEL_LINES), `… ${left} more lines`] : lines
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    h(Text, { bold: true, wrap: "truncate-end" }, title),
    h(
      Box,
      { flexDirection: "column", paddingLeft: 2 },
      shown.flatMap((line, i) =>
        panelRows(line.replaceAll("\t", "  "), columns).map((row, j) => h(Text, { key: `${i}.${j}` }, row || " ")),
      ),
    ),
  )
}
