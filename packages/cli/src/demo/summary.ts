/** What the demo says when it is over: a table, and what to try next. */
import type { LedgerSummary, Purpose } from "@strata/core"
import type { Artifacts } from "@strata/core/parts"
import { PURPOSE_WORDS } from "../display/purposes.ts"
import { LAYER_WORDS, savedInAll } from "../display/savings.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { fittedAtEnd, indented, wrapped } from "../display/text.ts"
import { clockTime, counted, dollars, dollarsOrUnknown, grouped, percent, short } from "../display/wording.ts"
import { type DemoState, workOf } from "./state.ts"
import { compactionWords, windowsOf } from "./story.ts"

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
  const { spent, size, thresholds, turn, tasks } = state
  const counts = spent?.counts
  const width = Math.min(columns, 100)
  const files = [...artifacts.files.values()]
  const changed = files.filter(({ changes, created }) => changes > 0 || created).length
  const commands = [...artifacts.commands.values()]
  const rows = [
    ["turns", `${grouped(turn)} in ${clockTime(elapsedMs)}, for ${counted(tasks, "task")}`],
    [
      "work",
      `${short(workOf(state))} tokens came in: ${windowsOf(state)} of ${grouped(thresholds.window)}; ${grouped(size)} are in it now`,
    ],
    ...compactionRows(state.compactions, width),
    [
      "input",
      counts
        ? `${short(counts.cacheRead)} from the cache, ${short(counts.cacheWrite5m + counts.cacheWrite1h)} written to it, ${short(counts.input)} neither`
        : "none",
    ],
    ["cache hits", `${percent(spent?.hitRatio ?? 0, 1)} of the input`],
    ["output", `${grouped(counts?.output ?? 0)} tokens`],
    ["money", `${dollars(spent?.dollars ?? 0)} if it had been a real model`],
    ...billRows(spent?.byPurpose ?? []),
    ...savedRows(spent?.savings ?? []),
    ["files", `${grouped(files.filter(({ reads }) => reads > 0).length)} read, ${grouped(changed)} changed`],
    ["commands", `${grouped(commands.length)} run, ${grouped(commands.filter(({ failed }) => failed).length)} failed`],
    ["journal", journal ? fittedAtEnd(journal, width - LABELS) : "removed with the scratch copy (--keep keeps both)"],
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

/** What each compaction left, a line each. */
function compactionRows(compactions: DemoState["compactions"], width: number): readonly (readonly string[])[] {
  if (compactions.length === 0) return [["compacted", "never: there was room"]]
  const left = compactions.length - MOST_COMPACTIONS
  return [
    ["compacted", `${counted(compactions.length, "time")}; messages told by the summary, and what was kept:`],
    ...(left > 0 ? [["", `${counted(left, "earlier one")}, then`]] : []),
    ...compactions
      .slice(-MOST_COMPACTIONS)
      .flatMap((one) => wrappedRows(`turn ${one.turn}: ${compactionWords(one)}`, width)),
  ]
}

const MOST_COMPACTIONS = 6 // a line each
const LABELS = 14 // columns of the table's first

/** A second line hangs below the first. */
const wrappedRows = (text: string, width: number): readonly (readonly string[])[] =>
  wrapped(text, width - LABELS - 2).map((line, i) => ["", i === 0 ? line : `  ${line}`])

/** The demo's window is small, and what does not depend on its size weighs more in it. */
const REMARKS: Partial<Record<Purpose, string>> = { notes: " (no less than in a large window)" }

/** The bill by what was paid for. */
function billRows(byPurpose: LedgerSummary["byPurpose"]): readonly (readonly string[])[] {
  return byPurpose.map(({ purpose, requests, dollars: paid }) => [
    "",
    `${PURPOSE_WORDS[purpose]}: ${counted(requests, "request")}, ${dollarsOrUnknown(paid)}${REMARKS[purpose] ?? ""}`,
  ])
}

/** What each layer kept out and saved, a line each. */
function savedRows(savings: LedgerSummary["savings"]): readonly (readonly string[])[] {
  if (savings.length === 0) return [["layers", "had nothing to do"]]
  return [["layers", savedInAll(savings)], ...savings.flatMap(savedLines).map((line) => ["", line])]
}

function savedLines({ layer, decisions, spared, removed, dollars: saved }: LedgerSummary["savings"][number]) {
  const money = saved === undefined ? "price unknown" : dollars(saved)
  return [
    `${LAYER_WORDS[layer]}: ${counted(decisions, "time")}, ${short(removed)} tokens removed, ${money}`,
    ...(spared > 0 ? [`  ${spared} of them in place of a compaction: not counted in money`] : []),
  ]
}

type Step = readonly [command: string, about: string]

function nextSteps({ strata, journal }: Pick<Outcome, "strata" | "journal">): readonly Step[] {
  return [
    [`${strata} demo --window 200000 --turns 400 --fast`, "a window of the usual size, with the layers' own figures"],
    journal
      ? [`${strata} inspect ${journal}`, "where the context went, file by file"]
      : [`${strata} inspect ~/.claude/projects/*/*.jsonl`, "the same questions about conversations you had"],
    [`${strata} chat`, "a real model, with your key"],
  ]
}
