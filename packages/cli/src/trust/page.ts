/** What needs trust in a project, as lines for a user. Nothing in it can control the terminal. `strata trust` shows all of it. */
import { basename, dirname, join } from "node:path"
import type { TrustItem } from "@strata/core/settings"
import { trustItemTitle, trustItemVariables } from "@strata/core/settings"
import { bodyRows } from "../chat/body-rows.ts"
import { escapeInvisible } from "../display/escaped.ts"
import type { Style, Terminal } from "../display/terminal.ts"

export interface PartsOptions {
  readonly style: Style
  /** Parts to mark, because they were not trusted before. */
  readonly fresh?: readonly TrustItem[]
  /** Show the values of variables and headers, which may be secrets. */
  readonly values: boolean
  /** Lines of an agent's file to show. Default: all. */
  readonly agentLines?: number
  /** Of the screen. By default nothing is broken. */
  readonly columns?: number
}

const BAR = "    │ "

/** Every row of a command starts with a bar, so that it cannot pass for one of ours. */
export function partLines(parts: readonly TrustItem[], look: PartsOptions): readonly string[] {
  const { style, fresh = [], values, agentLines = Number.POSITIVE_INFINITY } = look
  const columns = (look.columns ?? Number.POSITIVE_INFINITY) - BAR.length
  return parts.flatMap((part) => {
    const mark = fresh.includes(part) ? `  ${style.yellow("new")}` : ""
    const file = style.dim(join(basename(dirname(part.source)), basename(part.source)))
    const variables = trustItemVariables(part, { values }).map((variable) => `with ${variable}`)
    const text = part.what.trimEnd().split("\n")
    const max = ["agent", "command", "output style"].includes(part.kind) ? agentLines : text.length
    const more =
      text.length > max
        ? [`… ${text.length - max} more lines${part.kind === "output style" ? "" : ', shown by "strata trust"'}`]
        : []
    const lines = [...text.slice(0, max).map(escapeInvisible), ...more, ...variables]
    return [`  ${style.bold(trustItemTitle(part))}  ${file}${mark}`, ...lines.flatMap((line) => rowsOf(line, columns))]
  })
}

function rowsOf(text: string, columns: number): readonly string[] {
  return bodyRows({ form: "text", text }, columns).map(({ spans }) => BAR + spans.map((span) => span.text).join(""))
}

/** The columns to break at: those of a screen. Text for a pipe or a file stays whole. */
export const breakColumns = ({ isScreen, columns }: Pick<Terminal, "isScreen" | "columns">): number =>
  isScreen ? columns : Number.POSITIVE_INFINITY

export const formatDay = (time: string): string => time.slice(0, 10)
