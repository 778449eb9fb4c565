/**
 * The log of clients' lists, one for each namespace. An unreadable line has only one effect: its list is not recognized and starts a new
 * conversation.
 */
import type { AppendLog } from "@strata/core/store"

/** A line of the log: one conversation of a client, and the part of its list that is known. */
export interface ClientLogLine {
  readonly conversation: string
  /** Digests of id and thread, and of the tools. Empty if the client has no id. */
  readonly caller: string
  readonly tools: string
  readonly links: readonly string[]
  /** Links of the list without its calls, for clients that keep only the final text of each turn. */
  readonly words?: readonly string[]
  /** Links at which the list ended. */
  readonly ends?: readonly string[]
}

/** Stores lines between processes. */
export interface ClientLog {
  read(): Promise<readonly ClientLogLine[]>
  append(line: ClientLogLine): Promise<void>
}

export const clientLog = (lines: AppendLog): ClientLog => ({
  read: async () => (await lines.read()).flatMap(lineIn),
  append: (line) => lines.append(JSON.stringify(line)),
})

function lineIn(text: string): readonly ClientLogLine[] {
  try {
    const line = JSON.parse(text) as Partial<ClientLogLine> | null
    const { conversation, caller, tools, links, words = [], ends = [] } = line ?? {}
    const isText = [conversation, caller, tools].every((value) => typeof value === "string")
    const areLists = [links, words, ends].every(
      (list) => Array.isArray(list) && list.every((link) => typeof link === "string"),
    )
    return isText && areLists ? [line as ClientLogLine] : []
  } catch {
    return []
  }
}
