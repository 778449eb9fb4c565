/** A question to the person: the subject, the choices, a line for a typed reply. */
import { Box } from "ink"
import type { ReactNode } from "react"
import type { Dialog, DialogOption } from "../dialog.ts"
import { h } from "./element.ts"
import { EditorLines, PROMPT_COLUMNS } from "./input-box.ts"
import { MarkdownView } from "./markdown-view.ts"
import { Text } from "./text.ts"
import { type Theme, useTheme } from "./theme.ts"

const FRAME_COLUMNS = 2 // a bar on the left and a space
const MOST_OPTIONS = 10 // rows; more are scrolled through

export function DialogBox({ dialog, rows }: { readonly dialog: Dialog; readonly rows: number }): ReactNode {
  const theme = useTheme()
  const { title, why, body, options, selected, reply } = dialog
  const first = Math.max(0, Math.min(selected - MOST_OPTIONS + 2, options.length - MOST_OPTIONS))
  return h(
    Box,
    { ...BAR, flexDirection: "column", paddingLeft: 1, marginTop: 1, flexShrink: 0, ...colourOf(theme) },
    h(Text, { bold: true }, title),
    why === undefined ? null : h(Text, theme.quiet, why),
    body ? h(Body, { body, rows }) : null,
    options.length === 1 && reply
      ? null
      : options
          .slice(first, first + MOST_OPTIONS)
          .map((option, i) =>
            h(OptionLine, { key: first + i, option, index: first + i, isSelected: first + i === selected }),
          ),
    reply
      ? h(
          Box,
          null,
          h(Text, theme.accent, "> "),
          h(EditorLines, { editor: reply, inset: FRAME_COLUMNS + PROMPT_COLUMNS }),
        )
      : null,
    h(Text, theme.quiet, hintFor(dialog)),
  )
}

/** A bar on the left instead of a frame, for the same reason as the input line's rule. */
const BAR = { borderStyle: "single", borderTop: false, borderRight: false, borderBottom: false } as const
const colourOf = ({ accent }: Theme) => (accent.color === undefined ? {} : { borderColor: accent.color })

function hintFor({ reply, body, options }: Dialog): string {
  if (reply) return options.length > 1 ? "Enter sends, Esc goes back" : "Enter sends, Esc cancels"
  return `Enter or a key chooses, Esc cancels${body ? ", Ctrl-O shows everything" : ""}`
}

function Body({
  body: { form, text },
  rows,
}: {
  readonly body: NonNullable<Dialog["body"]>
  readonly rows: number
}): ReactNode {
  const content =
    form === "markdown"
      ? h(MarkdownView, { text, inset: FRAME_COLUMNS })
      : text.split("\n").map((line, i) => h(BodyLine, { key: i, line, isDiff: form === "diff" }))
  return h(Box, { flexDirection: "column", marginY: 1, maxHeight: Math.max(3, rows), overflow: "hidden" }, content)
}

function BodyLine({ line, isDiff }: { readonly line: string; readonly isDiff: boolean }): ReactNode {
  const theme = useTheme()
  const colour = !isDiff ? {} : line.startsWith("+") ? theme.added : line.startsWith("-") ? theme.removed : theme.quiet
  return h(Box, { flexShrink: 0 }, h(Text, { ...colour, wrap: "truncate-end" }, line.replaceAll("\t", "  ") || " "))
}

interface OptionLineProps {
  readonly option: DialogOption
  readonly index: number
  readonly isSelected: boolean
}

function OptionLine({ option: { label, hint, letter }, index, isSelected }: OptionLineProps): ReactNode {
  const theme = useTheme()
  const key = letter ?? (index < 9 ? `${index + 1}` : " ")
  return h(
    Box,
    { gap: 1 },
    h(Box, { flexShrink: 0 }, h(Text, isSelected ? theme.accent : {}, `${isSelected ? ">" : " "} ${key}`)),
    h(Text, { bold: isSelected, wrap: "truncate-end" }, label),
    hint === undefined ? null : h(Text, { ...theme.quiet, wrap: "truncate-end" }, `(${hint})`),
  )
}
