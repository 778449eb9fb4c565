/** What a project's settings would run or widen, as lines for a person. Nothing is cut, and nothing in it can control the terminal. */
import { basename, dirname, join } from "node:path"
import { escaped, type ProjectPart, partTitle, partVariables } from "@strata/core/internal"
import type { Style } from "../display/terminal.ts"

export interface PartsLook {
  readonly style: Style
  /** Parts to mark, because they were not trusted before. */
  readonly fresh?: readonly ProjectPart[]
  /** Show the values of variables and headers, which may be secrets. */
  readonly values: boolean
}

/** Every line of a command starts with a bar, so that it cannot pass for one of ours. */
export function partLines(parts: readonly ProjectPart[], { style, fresh = [], values }: PartsLook): readonly string[] {
  return parts.flatMap((part) => {
    const mark = fresh.includes(part) ? `  ${style.yellow("new")}` : ""
    const file = style.dim(join(basename(dirname(part.source)), basename(part.source)))
    const variables = partVariables(part, { values }).map((variable) => `with ${variable}`)
    const lines = [...part.what.split("\n").map(escaped), ...variables]
    return [`  ${style.bold(partTitle(part))}  ${file}${mark}`, ...lines.map((line) => `    │ ${line}`)]
  })
}

export const dayOf = (time: string): string => time.slice(0, 10)
