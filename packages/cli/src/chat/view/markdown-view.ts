/** Markdown on the screen. Wrapped lines keep their indentation or quote mark. */
import { Box } from "ink"
import { memo, type ReactNode } from "react"
import type { MarkdownLine, Span } from "../markdown.ts"
import { markdownRows } from "../markdown-rows.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { type Theme, useTheme } from "./theme.ts"

export interface MarkdownViewProps {
  readonly text: string
  /** Columns used by a frame. */
  readonly inset?: number
}

export const MarkdownView = memo(function MarkdownView({ text, inset = 0 }: MarkdownViewProps): ReactNode {
  const theme = useTheme()
  const columns = useColumns() - inset
  const rows = markdownRows(text, columns).map((row, i) => h(MarkdownRow, { key: i, row, theme }))
  return h(Box, { flexDirection: "column", flexShrink: 0 }, rows)
})

export function MarkdownRow({
  row: { form, lead, spans },
  theme,
}: {
  readonly row: MarkdownLine
  readonly theme: Theme
}): ReactNode {
  const style =
    form === "heading" ? { bold: true } : form === "code" ? theme.code : QUIET_FORMS.has(form) ? theme.quiet : {}
  return h(
    Text,
    { wrap: "truncate-end" },
    h(Text, theme.quiet, lead),
    h(Text, style, spans.length === 0 ? " " : spans.map((span, i) => h(SpanView, { key: i, span, theme }))),
  )
}

const QUIET_FORMS: ReadonlySet<MarkdownLine["form"]> = new Set(["quote", "rule"])

function SpanView({ span: { text, style }, theme }: { readonly span: Span; readonly theme: Theme }): ReactNode {
  if (style === undefined) return h(Text, null, text)
  return style === "code" ? h(Text, theme.code, text) : h(Text, { [style]: true }, text)
}
