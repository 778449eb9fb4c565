/** Shared by the sections of a report: the analysis, the look, and how paths read. */
import type { SectionOptions } from "../display/section.ts"
import { escapeToLine } from "../display/visible.ts"
import type { Analysis } from "./analysis.ts"

export interface AnalysisPage extends SectionOptions {
  readonly analysis: Analysis
}

/** Relative to the project, if the path is inside it. */
export function within(path: string, cwd: string | undefined): string {
  const clean = escapeToLine(path)
  return cwd !== undefined && clean.startsWith(cwd) && /^[\\/]/.test(clean.slice(cwd.length))
    ? clean.slice(cwd.length + 1)
    : clean
}

export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
