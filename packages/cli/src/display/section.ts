/** Shared parts of several commands' reports: the line with a file's name, section titles, gaps and endings. */
import { pluralize } from "./numbers.ts"
import type { Style } from "./terminal.ts"
import { indent, truncateStart, widthOf, wrapText } from "./text.ts"
import { escapeToLine } from "./visible.ts"

export interface SectionOptions {
  readonly style: Style
  readonly width: number
}

/** `── session.jsonl ────` */
export function fileLine(file: string, { style, width }: SectionOptions): string {
  const name = truncateStart(escapeToLine(file), width - 6)
  return `${style.dim("──")} ${style.bold(name)} ${style.dim("─".repeat(Math.max(0, width - 4 - widthOf(name))))}`
}

/** A section's title and facts, on one line if they fit. */
export function sectionTitle(
  { style, width }: SectionOptions,
  { title, about = "" }: { title: string; about?: string },
): string[] {
  if (title.length + 2 + widthOf(about) > width) {
    return [style.bold(title), ...indent(wrapText(about, width - 2), 2).map(style.dim)]
  }
  return [about === "" ? style.bold(title) : `${style.bold(title)}  ${style.dim(about)}`]
}

/** Adds a blank line before the lines. An empty list stays empty. */
export const withGap = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ["", ...lines])

/** Line with the number of omitted entries. */
export const moreLine = (count: number, what: string, plural = `${what}s`): string[] =>
  count > 0 ? [`  and ${pluralize(count, `more ${what}`, `more ${plural}`)}`] : []
