/** Shared by the sections of a report: the analysis, the look, titles and endings. */

import { counted } from "../display/numbers.ts"
import type { Style } from "../display/terminal.ts"
import { indented, widthOf, wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import type { Analysis } from "./analysis.ts"

export interface Page {
  readonly analysis: Analysis
  readonly style: Style
  readonly width: number
}

/** A title and its total, on one line if it fits. */
export function titled({ style, width }: Page, { title, about = "" }: { title: string; about?: string }): string[] {
  if (title.length + 2 + widthOf(about) > width) {
    return [style.bold(title), ...indented(wrapped(about, width - 2), 2).map(style.dim)]
  }
  return [about === "" ? style.bold(title) : `${style.bold(title)}  ${style.dim(about)}`]
}

/** How many were left out. */
export const more = (count: number, what: string, plural = `${what}s`): string[] =>
  count > 0 ? [`  and ${counted(count, `more ${what}`, `more ${plural}`)}`] : []

/** Relative to the project, if the path is inside it. */
export function within(path: string, cwd: string | undefined): string {
  const clean = printable(path)
  return cwd !== undefined && clean.startsWith(cwd) && /^[\\/]/.test(clean.slice(cwd.length))
    ? clean.slice(cwd.length + 1)
    : clean
}

export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
