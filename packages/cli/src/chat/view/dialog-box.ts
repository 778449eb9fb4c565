/** Component for a question: the subject, the choices, a line for a typed reply. Long content is shown in pages. */
import { Box } from "ink"
import type { ReactNode } from "react"
import { formatNumber, pluralize } from "../../display/numbers.ts"
import type { Dialog } from "../dialog.ts"
import {
  type BodyPage,
  type DialogRow,
  FRAME_COLUMNS,
  isLow,
  layoutDialog,
  OPTION_COLUMNS,
  type OptionRows,
} from "../dialog-layout.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { EditorLines, PROMPT_COLUMNS } from "./input-box.ts"
import { MarkdownRow } from "./markdown-view.ts"
import { Text } from "./text.ts"
import { type Theme, useTheme } from "./theme.ts"

export interface DialogBoxProps {
  readonly dialog: Dialog
  /** Rows of the window. */
  readonly rows: number
  /** Whether the dialog accepts keys. */
  readonly isReady: boolean
}

export function DialogBox({ dialog, rows, isReady }: DialogBoxProps): ReactNode {
  const theme = useTheme()
  const { title, why, notes, body, options, optionsAbove, optionsBelow } = layoutDialog(dialog, {
    columns: useColumns(),
    rows,
  })
  const margin = isLow({ rows }) ? 0 : 1
  return h(
    Box,
    { ...BAR, flexDirection: "column", paddingLeft: 1, marginTop: margin, flexShrink: 0, ...colourOf(theme) },
    title.map((text, i) => h(Row, { key: `title ${i}` }, h(Text, { bold: true }, text))),
    why.map((text, i) => h(Row, { key: `why ${i}` }, h(Text, theme.quiet, text))),
    notes.map(({ text, tone }, i) =>
      h(Row, { key: `note ${i}` }, h(Text, tone === "warning" ? theme.warning : theme.quiet, text)),
    ),
    body ? h(Body, { body, margin }) : null,
    optionsAbove > 0 ? h(Row, null, h(Text, theme.accent, `  ↑ ${formatNumber(optionsAbove)} above`)) : null,
    options.map((shown) => h(OptionView, { key: shown.index, shown, isSelected: shown.index === dialog.selected })),
    optionsBelow > 0
      ? h(Row, null, h(Text, theme.accent, `  ↓ ${formatNumber(optionsBelow)} below${body ? "" : ": PgDn shows them"}`))
      : null,
    dialog.reply
      ? h(
          Box,
          null,
          h(Text, theme.accent, "> "),
          h(EditorLines, { editor: dialog.reply, inset: FRAME_COLUMNS + PROMPT_COLUMNS }),
        )
      : null,
    h(Text, { ...theme.quiet, wrap: "truncate-end" }, isReady ? hintFor(dialog) : NOT_YET),
  )
}

/** A bar on the left instead of a frame, because terminals break long lines when the window gets narrower and leave fragments. */
const BAR = { borderStyle: "single", borderTop: false, borderRight: false, borderBottom: false } as const
const colourOf = ({ accent }: Theme) => (accent.color === undefined ? {} : { borderColor: accent.color })

const NOT_YET = "Takes keys in a moment; until then they go to the input line"

function hintFor({ reply, body, options }: Dialog): string {
  if (reply) return options.length > 1 ? "Enter sends, Esc goes back" : "Enter sends, Esc cancels"
  return `Enter or a key chooses, Esc cancels${body ? ", Ctrl-O shows all" : ""}`
}

function Row({ children }: { readonly children?: ReactNode }): ReactNode {
  return h(Box, { flexShrink: 0 }, children)
}

interface BodyProps {
  readonly body: BodyPage
  readonly margin: number
}

function Body({ body: { rows, above, below }, margin }: BodyProps): ReactNode {
  const { accent } = useTheme()
  return h(
    Box,
    { flexDirection: "column", marginY: margin, flexShrink: 0 },
    above > 0 ? h(Row, null, h(Text, accent, `↑ ${pluralize(above, "line")} above: PgUp shows them`)) : null,
    rows.map((shown, i) => h(Row, { key: i }, h(BodyRowView, { shown }))),
    below > 0 ? h(Row, null, h(Text, accent, `↓ ${pluralize(below, "line")} below: PgDn or Space shows them`)) : null,
  )
}

function BodyRowView({ shown }: { readonly shown: DialogRow }): ReactNode {
  const theme = useTheme()
  if (shown.form === "markdown") return h(MarkdownRow, { row: shown.row, theme })
  const { spans, tone } = shown.row
  const colour = tone === "plain" ? {} : theme[tone]
  const marked = { ...theme.warning, bold: true }
  if (spans.length === 0) return h(Text, null, " ")
  return h(
    Text,
    { ...colour, wrap: "hard" },
    spans.map((span, i) =>
      h(Text, { key: i, ...(span.tone === "marked" ? marked : span.tone === "quiet" ? theme.quiet : {}) }, span.text),
    ),
  )
}

interface OptionViewProps {
  readonly shown: OptionRows
  readonly isSelected: boolean
}

function OptionView({ shown: { option, index, about }, isSelected }: OptionViewProps): ReactNode {
  const theme = useTheme()
  const { label, hint, letter } = option
  const key = letter ?? (index < 9 ? `${index + 1}` : " ")
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    h(
      Box,
      { gap: 1 },
      h(Box, { flexShrink: 0 }, h(Text, isSelected ? theme.accent : {}, `${isSelected ? ">" : " "} ${key}`)),
      h(Text, { bold: isSelected, wrap: "truncate-end" }, label),
      hint === undefined ? null : h(Text, { ...theme.quiet, wrap: "truncate-end" }, `(${hint})`),
    ),
    about.map((text, i) => h(Row, { key: i }, h(Text, theme.quiet, `${" ".repeat(OPTION_COLUMNS)}${text}`))),
  )
}
