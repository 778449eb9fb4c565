/** What the demo says when it is over: a table, and what to try next. */
import type { Artifacts } from "@strata/core/parts"
import { clockTime, dollars, grouped, percent, short } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { fittedAtEnd, indented, wrapped } from "../display/text.ts"
import type { DemoState } from "./state.ts"

export interface Outcome {
  readonly state: DemoState
  readonly elapsedMs: number
  readonly artifacts: Pick<Artifacts, "files" | "commands">
  /** How the person calls this program. */
  readonly strata: string
  /** Where the conversation was kept, if it was. */
  readonly journal?: string
}

export function summary(outcome: Outcome, { style, columns }: { style: Style; columns: number }): readonly string[] {
  const { state, elapsedMs, artifacts, journal } = outcome
  const { spent, size, thresholds, turn } = state
  const counts = spent?.counts
  const width = Math.min(columns, 100)
  const files = [...artifacts.files.values()]
  const changed = files.filter(({ changes, created }) => changes > 0 || created).length
  const commands = [...artifacts.commands.values()]
  const rows = [
    ["turns", `${grouped(turn)} in ${clockTime(elapsedMs)}`],
    ["context", `${grouped(size)} of ${grouped(thresholds.window)} tokens`],
    [
      "input",
      counts
        ? `${short(counts.cacheRead)} from the cache, ${short(counts.cacheWrite5m + counts.cacheWrite1h)} written to it, ${short(counts.input)} neither`
        : "none",
    ],
    ["cache hits", `${percent(spent?.hitRatio ?? 0, 1)} of the input`],
    ["output", `${grouped(counts?.output ?? 0)} tokens`],
    ["money", `${dollars(spent?.dollars ?? 0)} if it had been a real model`],
    ["files", `${grouped(files.filter(({ reads }) => reads > 0).length)} read, ${grouped(changed)} changed`],
    ["commands", `${grouped(commands.length)} run, ${grouped(commands.filter(({ failed }) => failed).length)} failed`],
    ["journal", journal ? fittedAtEnd(journal, width - 14) : "removed with the scratch copy (--keep keeps both)"],
  ]
  return [
    style.bold("What happened"),
    ...table({ columns: [{ title: "" }, { title: "", gives: "end" }], rows, width }),
    "",
    style.bold("What to try next"),
    ...nextSteps(outcome).flatMap(([command, about]) => [
      `  ${style.cyan(command)}`,
      ...indented(wrapped(about, width - 6), 6),
    ]),
  ]
}

type Step = readonly [command: string, about: string]

function nextSteps({ strata, journal }: Pick<Outcome, "strata" | "journal">): readonly Step[] {
  return [
    [`${strata} demo --window 80000`, "a small window: watch the thresholds come near"],
    journal
      ? [`${strata} inspect ${journal}`, "where the context went, file by file"]
      : [`${strata} inspect ~/.claude/projects/*/*.jsonl`, "the same questions about conversations you had"],
    [`${strata} chat`, "a real model, with your key"],
  ]
}
