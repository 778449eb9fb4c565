/** What a model would know of a conversation that it has read: who asked for what, which files and commands came up, what is open. */
import { isCorrection, standingSentences } from "@strata/core/internal/model/offline/corrections"
import { type Section, splitDocument } from "@strata/core/internal/model/offline/document"
import { firstLineOf } from "@strata/core/internal/model/offline/text-parts"
import { callsOf, type Moment, type ToolCall, wordsOf } from "@strata/core/internal/model/offline/timeline"
import { commandOf, pathOf, roleOf, type Todo, todosOf } from "@strata/core/internal/model/offline/toolbox"

export interface Known {
  /** Oldest first. Those that an earlier summary quotes come before the others. */
  readonly userMessages: readonly string[]
  readonly corrections: readonly string[]
  /** Sentences of the user that still matter later. */
  readonly standing: readonly string[]
  /** The last one touched is last. */
  readonly files: readonly { readonly path: string; readonly doings: readonly string[] }[]
  /** Commands, and paths on which a tool failed, each with its last outcome. */
  readonly outcomes: readonly Outcome[]
  readonly todos: readonly Todo[]
  readonly lastCall?: ToolCall
  readonly lastText?: string
  /** Sections of the newest earlier summary. */
  readonly earlier: readonly Section[]
}

export interface Outcome {
  readonly what: string
  readonly isCommand: boolean
  readonly failed: boolean
  readonly reason: string
}

const DOINGS: Readonly<Record<string, string>> = { read: "read", edit: "changed", write: "written" }
const QUOTED = /^\s*- "(.*)"$/gm
const QUOTED_IN_PASSING = /^\s*(?:- )?The (?:user|latest request)\b[^":\n]*: "(.*)"$/gm
export const USER_MESSAGES = /\bmessages\b/i // the title of the section that quotes the user

export function knownOf(moments: readonly Moment[]): Known {
  const calls = callsOf(moments)
  const earlier = splitDocument(wordsOf(moments, "summary").at(-1) ?? "")
  const said = wordsOf(moments, "human")
  const lastCall = calls.at(-1)
  const lastText = wordsOf(moments, "assistant").at(-1)
  return {
    userMessages: [...quotedMessages(earlier), ...said],
    corrections: said.filter((text, index) => (index > 0 || earlier.length > 0) && isCorrection(text)),
    standing: said.flatMap(standingSentences),
    files: filesIn(calls),
    outcomes: outcomesIn(calls),
    todos: calls.map(todosOf).findLast((todos) => todos !== undefined) ?? [],
    ...(lastCall && { lastCall }),
    ...(lastText !== undefined && { lastText }),
    earlier,
  }
}

/** The messages of the user that a summary or notes quote. */
export function quotedMessages(sections: readonly Section[]): readonly string[] {
  const list = sections.find(({ title }) => USER_MESSAGES.test(title))
  const texts = list ? [list.body] : sections.map(({ body }) => body)
  const pattern = list ? QUOTED : QUOTED_IN_PASSING
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, words]) => words!)))]
}

function filesIn(calls: readonly ToolCall[]): Known["files"] {
  const files = new Map<string, readonly string[]>()
  for (const call of calls) {
    const path = pathOf(call)
    const doing = DOINGS[roleOf(call.name)]
    if (path === undefined || doing === undefined || call.result?.failed !== false) continue
    const before = files.get(path) ?? []
    files.delete(path)
    files.set(path, [...new Set([...before, doing])])
  }
  return [...files].map(([path, doings]) => ({ path, doings }))
}

function outcomesIn(calls: readonly ToolCall[]): readonly Outcome[] {
  const outcomes = new Map<string, Outcome>()
  for (const call of calls) {
    const command = commandOf(call)
    const what = command ?? pathOf(call)
    if (what === undefined || !call.result) continue
    const { failed, text } = call.result
    outcomes.delete(what)
    if (command === undefined && !failed) continue
    const reason = failed ? firstLineOf(text.trim()) : ""
    outcomes.set(what, { what, isCommand: command !== undefined, failed, reason })
  }
  return [...outcomes.values()]
}
