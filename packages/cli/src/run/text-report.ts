/**
 * Text report of a run. The answer goes to standard output, everything else to standard error: text before tool calls, and one line per
 * call and notice. On a screen the text streams; for another program it waits until it is known to be the answer.
 */

import type { CompactionProgress, QueryEvent } from "@strata/core"
import { attachmentLabel, describeCompaction } from "@strata/page"
import { describeStep, planLines } from "../display/compaction.ts"
import { formatDuration, pluralize } from "../display/numbers.ts"
import { type Progress, progressOn } from "../display/progress.ts"
import { describeCall, resultSummary } from "../display/tool-calls.ts"
import { escapeToLine } from "../display/visible.ts"
import { describeEnd } from "../exit-codes.ts"
import type { RunEnd, RunReport } from "./report.ts"

const PLAN_COLUMNS = 80
const NO_OUTPUT = " Ignore the partial answer above."

export interface Outputs {
  print(text: string): void
  complain(text: string): void
  readonly isScreen: boolean
  /** Whether lines can be rewritten; see `Terminal`. */
  readonly canRewrite?: boolean
  readonly columns?: number
}

export function textReport(outputs: Outputs): RunReport {
  const { isScreen } = outputs
  const steps = new CompactionSteps(outputs)
  const print = (text: string) => {
    steps.clear()
    outputs.print(text)
  }
  const complain = (text: string) => {
    steps.clear()
    outputs.complain(text)
  }
  const calls = new ToolLines()
  const compactions = new CompactionLines()
  let isLineOpen = false
  /** True if part of an unfinished answer has been printed. */
  let hasBegun = false
  /** Text of this response that has not been printed yet. */
  let waiting = ""
  const say = (text: string) => {
    if (text === "") return
    print(text)
    isLineOpen = !text.endsWith("\n")
  }
  /** Prints a note on a new line, because both outputs often share a terminal. */
  const note = (text: string) => {
    if (isLineOpen) say("\n")
    complain(`${text}\n`)
  }
  const answer = () => {
    say(waiting)
    waiting = ""
  }
  const narrate = () => {
    if (waiting.trim() !== "") complain(`${waiting.trimEnd()}\n`)
    waiting = ""
  }
  return {
    begin: () => undefined,
    event(event) {
      if (event.type === "compaction") steps.show(event.progress)
      else if (event.type === "done") steps.end()
      if (event.type === "text" && isScreen) {
        hasBegun ||= event.text !== ""
        return say(event.text)
      }
      if (event.type === "text") {
        waiting += event.text
        return undefined
      }
      if (event.type === "retry") waiting = ""
      if (event.type === "response") {
        if (event.response.stop_reason === "tool_use") narrate()
        else answer()
        if (isLineOpen) say("\n")
      }
      const line = compactions.isPart(event) ? undefined : (calls.lineOf(event) ?? lineOf(event))
      const isVoid = event.type === "retry" && hasBegun
      if (line !== undefined) note(`- ${escapeToLine(line)}${isVoid ? NO_OUTPUT : ""}`)
      if (event.type === "retry" || event.type === "response") hasBegun = false
    },
    plan(plan) {
      say(`${planLines(plan, PLAN_COLUMNS).join("\n")}\n`)
    },
    end(end) {
      steps.end()
      narrate() // prints the rest of an interrupted answer
      for (const line of closingLines(end, deniedLines(calls.denied))) note(line)
    },
  }
}

/** Prints one line per finished tool call. */
class ToolLines {
  readonly #summaries = new Map<string, string>()
  readonly #denied = new Map<string, DeniedCall>()

  get denied(): readonly DeniedCall[] {
    return [...this.#denied.values()]
  }

  lineOf(event: QueryEvent): string | undefined {
    if (event.type === "tool-start") this.#summaries.set(event.id, event.summary)
    if (event.type === "tool-denied") {
      this.#denied.set(event.id, event)
      return `${describeCall(event.name, event.question.summary)}: denied, because ${event.why}`
    }
    if (event.type !== "tool-result" || this.#denied.has(event.id)) return undefined
    const { state, text } = resultSummary(event.result)
    const call = describeCall(event.name, this.#summaries.get(event.id) ?? "")
    const time = event.ms > 0 || state === "ok" ? `, ${formatDuration(event.ms)}` : "" // a call that never ran has no duration
    return `${call}: ${state}${time}${state === "ok" ? "" : `: ${text}`}`
  }
}

/** Prints one line per compaction, without its attachments. */
class CompactionLines {
  #isOpen = false

  isPart({ type }: QueryEvent): boolean {
    if (type === "boundary") this.#isOpen = true
    if (type === "compacted") this.#isOpen = false
    return this.#isOpen && type === "attached"
  }
}

/** Shows the current step of a running compaction. */
class CompactionSteps {
  readonly #outputs: Outputs
  #progress: Progress | undefined

  constructor(outputs: Outputs) {
    this.#outputs = outputs
  }

  show(progress: CompactionProgress): void {
    const step = describeStep(progress)
    if (step !== undefined) {
      this.#progress ??= progressOn(this.#outputs)
      this.#progress.show(`Compacting: ${step}`)
    } else if (progress.phase === "done" || progress.phase === "failed") this.end()
  }

  clear(): void {
    this.#progress?.clear()
  }

  end(): void {
    this.#progress?.end()
    this.#progress = undefined
  }
}

function lineOf(event: QueryEvent): string | undefined {
  switch (event.type) {
    case "retry":
      return `retrying in ${formatDuration(event.delayMs)}: ${event.reason}.`
    case "attached":
      return `attached: ${attachmentLabel(event)}`
    case "notice":
      return event.message
    case "compaction":
      return "message" in event.progress ? event.progress.message : undefined
    case "compacted":
      return describeCompaction(event)
    default:
      return undefined
  }
}

type DeniedCall = Extract<QueryEvent, { type: "tool-denied" }>

/** Explains how to allow calls that were denied only because nobody could be asked. Each denied call has a line with the reason. */
function deniedLines(denied: readonly DeniedCall[]): readonly string[] {
  const asked = denied.filter(({ rules }) => rules !== undefined)
  if (asked.length === 0) return []
  const rules = asked.flatMap((call) => call.rules ?? [])
  const options = [...new Set(rules)].map((rule) => `--allow ${shellQuote(rule)}`)
  return [
    `${pluralize(asked.length, "call was", "calls were")} denied, because strata run cannot ask. Allow such calls with --mode or --allow.`,
    ...(options.length === 0 ? [] : [`These rules would allow them: ${options.join(" ")}`]),
  ].map(escapeToLine)
}

/** Quotes a text for a shell. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function closingLines({ end, exitCode, conversation, isKept }: RunEnd, denied: readonly string[]): readonly string[] {
  const sentence = describeEnd(end)
  return [
    ...(sentence === undefined ? [] : [sentence]),
    ...denied,
    ...(exitCode === 0 || !isKept ? [] : [`To continue: strata run --resume ${conversation} "…"`]),
  ]
}
