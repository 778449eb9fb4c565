/** Markdown broken into rows. Wrapped lines keep their indentation or quote mark. */
import { widthOf } from "../display/text.ts"
import { type MarkdownLine, parseMarkdown } from "./markdown.ts"
import { wrapSpans } from "./wrap.ts"

const RULE = "─".repeat(20)
const NARROWEST = 10 // columns for text, however deep the list

export function markdownRows(text: string, columns: number): readonly MarkdownLine[] {
  return parseMarkdown(text).flatMap(({ form, lead, spans }): readonly MarkdownLine[] => {
    if (form === "rule") return [{ form, lead, spans: [{ text: RULE }] }]
    const leadWhereWrapped = form === "quote" ? lead : " ".repeat(widthOf(lead))
    const rows = wrapSpans(spans, Math.max(NARROWEST, columns - widthOf(lead)))
    return rows.map((row, i) => ({ form, lead: i === 0 ? lead : leadWhereWrapped, spans: row }))
  })
}
