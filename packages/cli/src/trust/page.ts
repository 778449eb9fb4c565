/** Renders the settings of a project that need trust, with control characters escaped. `strata trust` shows all of them. */
import { basename, dirname, join } from "node:path"
import type { TrustItem } from "@strata/core/settings"
import { trustItemTitle, trustItemVariables } from "@strata/core/settings"
import { bodyRows } from "../chat/body-rows.ts"
import { escapeInvisible } from "../display/escaped.ts"
import type { Style, Terminal } from "../display/terminal.ts"

export interface PartsOptions {
  readonly style: Style
  /** Settings to highlight, because they were not trusted before. */
  readonly fresh?: readonly TrustItem[]
  /** Whether to show the values of variables and headers, which may be secrets. */
  readonly values: boolean
  /** Maximum lines of an agent's file. Default: all. */
  readonly agentLines?: number
  /** Columns of the screen. By default, lines are not wrapped. */
  readonly columns?: number
}

const BAR = "    │ "

/** Renders the settings. Every row of a command starts with a bar, so that it cannot imitate Strata's output. */
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

/** Columns for wrapping: those of a screen. Text for a pipe or a file is not wrapped. */
export const breakColumns = ({ isScreen, columns }: Pick<Terminal, "isScreen" | "columns">): number =>
  isScreen ? columns : Number.POSITIVE_INFINITY

export const formatDay = (time: string): string => time.slice(0, 10)
