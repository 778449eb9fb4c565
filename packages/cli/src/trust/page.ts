/** What needs trust in a project, as lines for a person. Nothing in it can control the terminal. `strata trust` shows all of it. */
import { basename, dirname, join } from "node:path"
import type { ProjectPart } from "@strata/core/internal"
import { escaped } from "@strata/core/internal/base/escaped-text"
import { partTitle, partVariables } from "@strata/core/internal/base/project-parts"
import type { Style } from "../display/terminal.ts"

export interface PartsLook {
  readonly style: Style
  /** Parts to mark, because they were not trusted before. */
  readonly fresh?: readonly ProjectPart[]
  /** Show the values of variables and headers, which may be secrets. */
  readonly values: boolean
  /** Lines of an agent's file to show. Default: all. */
  readonly agentLines?: number
}

/** Every line of a command starts with a bar, so that it cannot pass for one of ours. */
export function partLines(parts: readonly ProjectPart[], look: PartsLook): readonly string[] {
  const { style, fresh = [], values, agentLines = Number.POSITIVE_INFINITY } = look
  return parts.flatMap((part) => {
    const mark = fresh.includes(part) ? `  ${style.yellow("new")}` : ""
    const file = style.dim(join(basename(dirname(part.source)), basename(part.source)))
    const variables = partVariables(part, { values }).map((variable) => `with ${variable}`)
    const text = part.what.trimEnd().split("\n")
    const most = part.kind === "agent" || part.kind === "command" ? agentLines : text.length
    const more = text.length > most ? [`… ${text.length - most} more lines, shown by "strata trust"`] : []
    const lines = [...text.slice(0, most).map(escaped), ...more, ...variables]
    return [`  ${style.bold(partTitle(part))}  ${file}${mark}`, ...lines.map((line) => `    │ ${line}`)]
  })
}

export const dayOf = (time: string): string => time.slice(0, 10)
