/** Markdown on the screen. Wrapped lines keep their indentation or quote mark. */
import { Box } from "ink"
import { memo, type ReactNode } from "react"
import { widthOf } from "../../display/text.ts"
import { type MarkdownLine, parseMarkdown, type Span } from "../markdown.ts"
import { wrapSpans } from "../wrap.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { type Theme, useTheme } from "./theme.ts"

const RULE = "─".repeat(20)
const NARROWEST = 10 // columns for text, however deep the list

export interface MarkdownViewProps {
  readonly text: string
  /** Columns taken by a frame. */
  readonly inset?: number
}

export const MarkdownView = memo(function MarkdownView({ text, inset = 0 }: MarkdownViewProps): ReactNode {
  const theme = useTheme()
  const columns = useColumns() - inset
  const lines = parseMarkdown(text).map((line, i) => h(LineView, { key: i, line, theme, columns }))
  return h(Box, { flexDirection: "column", flexShrink: 0 }, lines)
})

interface LineViewProps {
  readonly line: MarkdownLine
  readonly theme: Theme
  readonly columns: number
}

function LineView({ line, theme, columns }: LineViewProps): ReactNode {
  const { form, lead, spans } = line
  if (form === "rule") return h(Text, theme.quiet, RULE)
  const style = form === "heading" ? { bold: true } : form === "code" ? theme.code : form === "quote" ? theme.quiet : {}
  const rows = wrapSpans(spans, Math.max(NARROWEST, columns - widthOf(lead)))
  const leadWhereWrapped = form === "quote" ? lead : " ".repeat(widthOf(lead))
  return rows.map((row, i) =>
    h(
      Text,
      { key: i, wrap: "truncate-end" },
      h(Text, theme.quiet, i === 0 ? lead : leadWhereWrapped),
      h(Text, style, row.length === 0 ? " " : row.map((span, j) => h(SpanView, { key: j, span, theme }))),
    ),
  )
}

function SpanView({ span: { text, style }, theme }: { readonly span: Span; readonly theme: Theme }): ReactNode {
  if (style === undefined) return h(Text, null, text)
  return style === "code" ? h(Text, theme.code, text) : h(Text, { [style]: true }, text)
}
