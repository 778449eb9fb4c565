/** Asks whether a project's settings may run programs and widen permissions. Only complete words typed at a terminal are accepted. */

import type { ProjectSettings } from "@strata/core"
import type { Trust, TrustItem } from "@strata/core/settings"
import { escapeInvisible } from "../display/escaped.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import { breakColumns, formatDay, type PartsOptions, partLines } from "./page.ts"

export interface TrustQuestion {
  readonly reading: ProjectSettings
  readonly trust: Extract<Trust, { state: "untrusted" }>
  readonly terminal: Terminal
}

const RISK = "Commands run as you, on this machine. Trust them only if you know where this project comes from."

/** Explains the settings before the question. */
export function explain({
  reading,
  trust,
  terminal,
  values = true,
  agentLines,
}: TrustQuestion & Partial<Pick<PartsOptions, "values" | "agentLines">>): void {
  const { style, print } = terminal
  const { earlier, fresh, problem } = trust
  const changed = earlier !== undefined && `They have changed since you trusted them on ${formatDay(earlier)}.`
  const columns = breakColumns(terminal)
  const lines = [
    ...wrapText(titleOf(reading.items), columns).map(style.bold),
    escapeInvisible(reading.directory),
    "",
    ...partLines(reading.items, {
      ...{ style, values, columns },
      ...(earlier === undefined ? {} : { fresh }),
      ...(agentLines === undefined ? {} : { agentLines }),
    }),
    "",
    ...[changed, problem].filter((line) => typeof line === "string"),
    ...wrapText(RISK, columns),
  ]
  print(`${lines.join("\n")}\n`)
}

function titleOf(parts: readonly TrustItem[]): string {
  const isOfAgents = ({ kind }: TrustItem) => kind === "agent" || kind === "agent memory"
  const isText = (part: TrustItem) => part.kind === "command" || isOfAgents(part)
  if (parts.every(isOfAgents)) return "This project brings agents with their own instructions and tools:"
  if (parts.every(isText)) return "This project brings slash commands or agents with their own instructions:"
  if (parts.some(isOfAgents)) return "This project runs programs, widens what the agent may do, or adds its own agents:"
  return "The settings of this project run programs or widen what the agent may do:"
}

/** Stores the answer for the next time. If that fails, it applies to this session only, and the user sees the reason. */
export async function rememberAnswer(root: string, { reading, terminal }: Pick<TrustQuestion, "reading" | "terminal">) {
  try {
    await reading.grantTrust()
    return true
  } catch (error) {
    const { code = "failed" } = error as NodeJS.ErrnoException
    terminal.complain(`Your answer could not be saved in ${root} (${code}). You will be asked again next time.\n`)
    return false
  }
}
