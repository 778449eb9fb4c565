/** What a model would know of a conversation that it has read: who asked for what, which files and commands came up, what is open. */
import {
  callsOf,
  commandOf,
  firstLineOf,
  type Moment,
  pathOf,
  roleOf,
  type Section,
  sentencesOf,
  splitDocument,
  type Todo,
  type ToolCall,
  todosOf,
  wordsOf,
} from "@strata/core/offline"

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
  readonly calls: readonly ToolCall[]
  readonly lastText?: string
  /** Sections of earlier summaries, in their order: after a boundary of one, in a merge of every part's. */
  readonly earlier: readonly Section[]
}

export interface Outcome {
  readonly what: string
  readonly isCommand: boolean
  readonly failed: boolean
  readonly reason: string
}

const STANDING = /\b(?:always|never|from now on|prefer|every time|don['’]t|do not|must|only)\b/i
const CORRECTS =
  /^\s*(?:no|nope|wrong|stop|actually|instead|never|don['’]t|do not|not (?:that|like)|that['’]?s (?:not|wrong)|please (?:don['’]t|stop|revert|undo))\b/i
const DOINGS: Readonly<Record<string, string>> = { read: "read", edit: "changed", write: "written" }
const QUOTED = /^\s*- "(.*)"$/gm
const QUOTED_IN_PASSING = /^\s*(?:- )?The (?:user|latest request)\b[^":\n]*: "(.*)"$/gm
export const USER_MESSAGES = /\bmessages\b/i // the title of the section that quotes the user

export function knownOf(moments: readonly Moment[]): Known {
  const calls = callsOf(moments)
  const earlier = wordsOf(moments, "summary").flatMap(splitDocument)
  const said = wordsOf(moments, "human")
  const lastText = wordsOf(moments, "assistant").at(-1)
  return {
    userMessages: [...quotedMessages(earlier), ...said],
    corrections: said.filter((text, index) => (index > 0 || earlier.length > 0) && CORRECTS.test(text)),
    standing: said.flatMap(sentencesOf).filter((sentence) => STANDING.test(sentence)),
    files: filesIn(calls),
    outcomes: outcomesIn(calls),
    todos: calls.map(todosOf).findLast((todos) => todos !== undefined) ?? [],
    calls,
    ...(lastText !== undefined && { lastText }),
    earlier,
  }
}

/** The messages of the user that a summary or notes quote. */
export function quotedMessages(sections: readonly Section[]): readonly string[] {
  const lists = sections.filter(({ title }) => USER_MESSAGES.test(title))
  const pattern = lists.length > 0 ? QUOTED : QUOTED_IN_PASSING
  const quoted = (lists.length > 0 ? lists : sections).flatMap(({ body }) => [...body.matchAll(pattern)])
  return [...new Set(quoted.map(([, words]) => words!))]
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
