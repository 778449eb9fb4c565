/**
 * What is known of callers' lists, in one log for each place. A line that cannot be read costs only that a list is not known again and
 * begins a new conversation.
 */
import type { AppendLog } from "@strata/core/store"

/** One conversation of a caller, and how far its list is known. */
export interface CallerLine {
  readonly conversation: string
  /** Digests of id and thread, and of the tools. Empty: the caller has no id. */
  readonly caller: string
  readonly tools: string
  readonly links: readonly string[]
  /** Those of the list without its calls, as a caller has it that keeps the last words of each turn. */
  readonly words?: readonly string[]
  /** Those at which the list ended then. */
  readonly ends?: readonly string[]
}

/** Where lines are kept between processes. */
export interface CallerLog {
  read(): Promise<readonly CallerLine[]>
  append(line: CallerLine): Promise<void>
}

export const callerLog = (lines: AppendLog): CallerLog => ({
  read: async () => (await lines.read()).flatMap(lineIn),
  append: (line) => lines.append(JSON.stringify(line)),
})

function lineIn(text: string): readonly CallerLine[] {
  try {
    const line = JSON.parse(text) as Partial<CallerLine> | null
    const { conversation, caller, tools, links, words = [], ends = [] } = line ?? {}
    const isText = [conversation, caller, tools].every((value) => typeof value === "string")
    const areLists = [links, words, ends].every(
      (list) => Array.isArray(list) && list.every((link) => typeof link === "string"),
    )
    return isText && areLists ? [line as CallerLine] : []
  } catch {
    return []
  }
}
