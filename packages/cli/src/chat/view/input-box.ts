/** The input line: as many lines as were typed, the cursor in its place. */
import { Box, Text } from "ink"
import type { ReactNode } from "react"
import { printable } from "../../display/text.ts"
import type { Editor } from "../editor.ts"
import { h } from "./element.ts"
import { useTheme } from "./theme.ts"

const MOST_LINES = 10
/** Shorter than the screen is wide: when a window gets narrower, terminals break long lines, and pieces of them would stay behind. */
const RULE = "─".repeat(40)

export interface InputBoxProps {
  readonly editor: Editor
  readonly placeholder: string
}

export function InputBox({ editor, placeholder }: InputBoxProps): ReactNode {
  const theme = useTheme()
  return h(
    Box,
    { flexDirection: "column", marginTop: 1, flexShrink: 0 },
    h(Text, { ...theme.quiet, wrap: "truncate-end" }, RULE),
    h(
      Box,
      null,
      h(Box, { flexShrink: 0 }, h(Text, theme.accent, "> ")),
      editor.text === "" ? h(EmptyLine, { placeholder }) : h(EditorLines, { editor }),
    ),
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

export function EditorLines({ editor: { text, cursor } }: { readonly editor: Editor }): ReactNode {
  const { quiet } = useTheme()
  const before = text.slice(0, cursor).split("\n")
  const row = before.length - 1
  const lines = text.split("\n")
  const first = Math.max(0, Math.min(row - MOST_LINES + 1, lines.length - MOST_LINES))
  const shown = lines.slice(first, first + MOST_LINES)
  return h(
    Box,
    { flexDirection: "column" },
    first > 0 ? h(Text, quiet, `… ${first} lines above`) : null,
    shown.map((line, i) =>
      h(EditorLine, { key: i, line, ...(first + i === row ? { column: before[row]!.length } : {}) }),
    ),
    first + MOST_LINES < lines.length ? h(Text, quiet, `… ${lines.length - first - MOST_LINES} lines below`) : null,
  )
}

function EditorLine({ line, column }: { readonly line: string; readonly column?: number }): ReactNode {
  if (column === undefined) return h(Text, null, printable(line) || " ")
  const [letter = " "] = new Intl.Segmenter().segment(line.slice(column)).containing(0)?.segment.split("\n") ?? [" "]
  return h(
    Text,
    null,
    printable(line.slice(0, column)),
    h(Text, { inverse: true }, printable(letter) || " "),
    printable(line.slice(column + letter.length)),
  )
}
