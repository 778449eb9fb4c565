/** The input line with the cursor, and the lines below it: a menu, or the search through earlier inputs. */
import { Box } from "ink"
import type { ReactNode } from "react"
import type { Editor } from "../editor.ts"
import { type EditorRow, editorRows } from "../editor-rows.ts"
import type { MenuRow } from "../menu-rows.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"

const MAX_LINES = 10 // on the screen; a frame higher than the window would scroll with every key
const MIN_LINES = 1
const ROWS_WITHOUT_INPUT = 11 // conversation, work line, rules and status line on a low screen
const MIN_COLUMNS = 4 // columns
export const PROMPT_COLUMNS = 2
/** The line above the input. As a border, it has the width of the window in every frame, including the first one after a resize. */
const RULE = { borderStyle: "single", borderLeft: false, borderRight: false, borderBottom: false } as const

export interface InputBoxProps {
  readonly editor: Editor
  readonly placeholder: string
  /** Menu rows below the input. */
  readonly menu: readonly MenuRow[]
  /** Rows of the window. */
  readonly rows: number
}

export function InputBox({ editor, placeholder, menu, rows }: InputBoxProps): ReactNode {
  const theme = useTheme()
  const maxLines = Math.max(MIN_LINES, Math.min(MAX_LINES, rows - ROWS_WITHOUT_INPUT - menu.length))
  return h(
    Box,
    { ...RULE, flexDirection: "column", marginTop: 1, flexShrink: 0, borderDimColor: theme.quiet.dimColor === true },
    h(
      Box,
      null,
      h(Box, { flexShrink: 0 }, h(Text, theme.accent, "> ")),
      editor.text === "" ? h(EmptyLine, { placeholder }) : h(EditorLines, { editor, inset: PROMPT_COLUMNS, maxLines }),
    ),
    menu.length === 0 ? null : h(MenuBox, { rows: menu }),
  )
}

function EmptyLine({ placeholder }: { readonly placeholder: string }): ReactNode {
  return h(
    Text,
    { wrap: "truncate-end" },
    h(Text, { inverse: true }, " "),
    h(Text, useTheme().quiet, ` ${placeholder}`),
  )
}

export interface EditorLinesProps {
  readonly editor: Editor
  /** Columns used on the left. */
  readonly inset: number
  readonly maxLines?: number
}

export function EditorLines({ editor, inset, maxLines = MAX_LINES }: EditorLinesProps): ReactNode {
  const { quiet } = useTheme()
  const rows = editorRows(editor, Math.max(MIN_COLUMNS, useColumns() - inset))
  const row = rows.findIndex(({ cursor }) => cursor !== undefined)
  const first = Math.max(0, Math.min(row - maxLines + 1, rows.length - maxLines))
  const below = rows.length - first - maxLines
  return h(
    Box,
    { flexDirection: "column" },
    first > 0 ? h(Text, quiet, `… ${first} lines above`) : null,
    rows.slice(first, first + maxLines).map((shown, i) => h(EditorLine, { key: first + i, row: shown })),
    below > 0 ? h(Text, quiet, `… ${below} lines below`) : null,
  )
}

function EditorLine({ row: { text, cursor } }: { readonly row: EditorRow }): ReactNode {
  if (!cursor) return h(Text, { wrap: "truncate-end" }, text || " ")
  const { before, under, after } = cursor
  return h(Text, { wrap: "truncate-end" }, before, h(Text, { inverse: true }, under), after)
}

/** The menu below the input line. */
function MenuBox({ rows }: { readonly rows: readonly MenuRow[] }): ReactNode {
  const { accent, quiet } = useTheme()
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    rows.map(({ text, isSelected }, i) =>
      h(Text, { key: i, ...(isSelected ? accent : quiet), wrap: "truncate-end" }, text),
    ),
  )
}
