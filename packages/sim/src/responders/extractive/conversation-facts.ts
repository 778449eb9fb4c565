/** Facts that a model would extract from a conversation: who asked for what, which files and commands occurred, what is open. */
import {
  firstLineOf,
  listCalls,
  type OfflineTodo,
  type Section,
  sentencesOf,
  splitDocument,
  type TimelineEntry,
  type ToolCall,
  textsOfKind,
  toolCommand,
  toolPath,
  toolRole,
  toolTodos,
} from "@strata/core/offline"

export interface ConversationFacts {
  /** The user's messages, oldest first. Those that an earlier summary quotes come before the others. */
  readonly userMessages: readonly string[]
  readonly corrections: readonly string[]
  /** Sentences of the user that still matter later. */
  readonly standing: readonly string[]
  /** Files in the order in which they were last touched. */
  readonly files: readonly { readonly path: string; readonly doings: readonly string[] }[]
  /** Commands, and paths on which a tool failed, each with its last outcome. */
  readonly outcomes: readonly CommandOutcome[]
  readonly todos: readonly OfflineTodo[]
  readonly calls: readonly ToolCall[]
  readonly lastText?: string
  /** Sections of earlier summaries in their order: of one after a compaction, of every part's summary in a merge. */
  readonly earlier: readonly Section[]
}

export interface CommandOutcome {
  readonly what: string
  readonly isCommand: boolean
  readonly failed: boolean
  readonly reason: string
}

const STANDING = /\b(?:always|never|from now on|prefer|every time|don['’]t|do not|must|only)\b/i
const CORRECTS =
  /^\s*(?:no|nope|wrong|stop|actually|instead|never|don['’]t|do not|not (?:that|like)|that['’]?s (?:not|wrong)|please (?:don['’]t|stop|revert|undo))\b/i
const ACTIVITIES: Readonly<Record<string, string>> = { read: "read", edit: "changed", write: "written" }
const QUOTED = /^\s*- "(.*)"$/gm
const QUOTED_IN_PASSING = /^\s*(?:- )?The (?:user|latest request)\b[^":\n]*: "(.*)"$/gm
export const USER_MESSAGES = /\bmessages\b/i // the title of the section that quotes the user

export function extractFacts(moments: readonly TimelineEntry[]): ConversationFacts {
  const calls = listCalls(moments)
  const earlier = textsOfKind(moments, "summary").flatMap(splitDocument)
  const userTexts = textsOfKind(moments, "human")
  const lastText = textsOfKind(moments, "assistant").at(-1)
  return {
    userMessages: [...quotedMessages(earlier), ...userTexts],
    corrections: userTexts.filter((text, index) => (index > 0 || earlier.length > 0) && CORRECTS.test(text)),
    standing: userTexts.flatMap(sentencesOf).filter((sentence) => STANDING.test(sentence)),
    files: filesIn(calls),
    outcomes: outcomesIn(calls),
    todos: calls.map(toolTodos).findLast((todos) => todos !== undefined) ?? [],
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

function filesIn(calls: readonly ToolCall[]): ConversationFacts["files"] {
  const files = new Map<string, readonly string[]>()
  for (const call of calls) {
    const path = toolPath(call)
    const doing = ACTIVITIES[toolRole(call.name)]
    if (path === undefined || doing === undefined || call.result?.failed !== false) continue
    const before = files.get(path) ?? []
    files.delete(path)
    files.set(path, [...new Set([...before, doing])])
  }
  return [...files].map(([path, doings]) => ({ path, doings }))
}

function outcomesIn(calls: readonly ToolCall[]): readonly CommandOutcome[] {
  const outcomes = new Map<string, CommandOutcome>()
  for (const call of calls) {
    const command = toolCommand(call)
    const what = command ?? toolPath(call)
    if (what === undefined || !call.result) continue
    const { failed, text } = call.result
    outcomes.delete(what)
    if (command === undefined && !failed) continue
    const reason = failed ? firstLineOf(text.trim()) : ""
    outcomes.set(what, { what, isCommand: command !== undefined, failed, reason })
  }
  return [...outcomes.values()]
}
