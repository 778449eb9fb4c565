/** Shared by the sections of a report: the analysis, style and width, and the display of paths. */
import type { SectionOptions } from "../display/section.ts"
import { escapeToLine } from "../display/visible.ts"
import type { Analysis } from "./analysis.ts"

export interface AnalysisPage extends SectionOptions {
  readonly analysis: Analysis
}

/** The path relative to the project, if it is inside it. */
export function within(path: string, cwd: string | undefined): string {
  const clean = escapeToLine(path)
  return cwd !== undefined && clean.startsWith(cwd) && /^[\\/]/.test(clean.slice(cwd.length))
    ? clean.slice(cwd.length + 1)
    : clean
}

export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
