/** What the sections of a report share: the analysis, the look, titles and endings. */

import type { Style } from "../display/terminal.ts"
import { indented, printable, widthOf, wrapped } from "../display/text.ts"
import { counted } from "../display/wording.ts"
import type { Analysis } from "./analysis.ts"

export interface Page {
  readonly analysis: Analysis
  readonly style: Style
  readonly width: number
}

/** A title and what it comes to, in one line where that fits. */
export function titled({ style, width }: Page, { title, about = "" }: { title: string; about?: string }): string[] {
  if (title.length + 2 + widthOf(about) > width) {
    return [style.bold(title), ...indented(wrapped(about, width - 2), 2).map(style.dim)]
  }
  return [about === "" ? style.bold(title) : `${style.bold(title)}  ${style.dim(about)}`]
}

/** Says how many were left out. */
export const more = (count: number, what: string): string[] =>
  count > 0 ? [`  and ${counted(count, `more ${what}`, `more ${what}s`)}`] : []

/** Relative to the project, where it lies in it. */
export function within(path: string, cwd: string | undefined): string {
  const clean = printable(path)
  return cwd !== undefined && clean.startsWith(cwd) && /^[\\/]/.test(clean.slice(cwd.length))
    ? clean.slice(cwd.length + 1)
    : clean
}

export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
