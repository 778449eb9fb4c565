/**
 * The simulator's text below a heading of a summary or of notes: a few sentences and short lists, as a model might write. It leaves things
 * out: only the newest are named, and only the beginning of a long text.
 */
import { firstLineOf, headOf, sentencesOf, type ToolCall, toolCommand, toolPath } from "@strata/core/offline"
import { type ConversationFacts, USER_MESSAGES } from "./conversation-facts.ts"

const MAX_QUOTE = 300 // characters
const MAX_MESSAGES = 30
const MAX_OTHERS = 10 // files, commands, corrections

type Writer = (known: ConversationFacts) => readonly string[]

const quote = (text: string): string => `"${headOf(firstLineOf(text.trim()), MAX_QUOTE)}"`
const code = (text: string): string => `\`${headOf(firstLineOf(text.trim()), MAX_QUOTE)}\``
const newest = <T>(all: readonly T[], max = MAX_OTHERS): readonly T[] => all.slice(-max)

const request: Writer = ({ userMessages }) => {
  const [first] = userMessages
  const last = userMessages.at(-1)
  if (first === undefined || last === undefined) return []
  return [`The user asked: ${quote(first)}`, ...(last === first ? [] : [`The latest request is: ${quote(last)}`])]
}
const messages: Writer = ({ userMessages }) =>
  [...userMessages.slice(0, 1), ...newest(userMessages.slice(1), MAX_MESSAGES)].map((text) => `- ${quote(text)}`)
const files: Writer = (known) =>
  newest(known.files).map(({ path, doings }) => `- ${code(path)} was ${doings.join(" and ")}.`)
const errors: Writer = ({ outcomes, corrections }) => [
  ...newest(outcomes.filter(({ failed }) => failed)).map(
    ({ what, reason }) => `- ${code(what)} failed: ${quote(reason)}`,
  ),
  ...newest(corrections).map((text) => `- The user corrected: ${quote(text)}`),
]
const commands: Writer = ({ outcomes }) =>
  newest(outcomes.filter(({ isCommand }) => isCommand)).map(
    ({ what, failed }) => `- ${code(what)} ${failed ? "failed" : "passed"}.`,
  )
const pending: Writer = ({ todos }) =>
  todos.filter(({ status }) => status !== "completed").map(({ status, content }) => `- [${status}] ${content}`)
const step = (call: ToolCall): string => `${call.name} ${code(toolCommand(call) ?? toolPath(call) ?? "")}`
const steps: Writer = ({ calls }) => newest(calls).map((call) => `- ${step(call)}`)
const current: Writer = ({ calls, lastText }) => [
  ...newest(calls, 1).map((call) => `The last step was ${step(call)}.`),
  ...(lastText === undefined ? [] : [`The assistant said: ${quote(sentencesOf(lastText)[0] ?? "")}`]),
]
const next: Writer = ({ userMessages }) => {
  const last = userMessages.at(-1)
  return last === undefined ? [] : [`Go on with the latest request: ${quote(last)}`]
}
const rules: Writer = ({ standing }) => newest(standing).map((text) => `- The user said: ${quote(text)}`)

/** Writers by title pattern. The first that matches writes the section. */
const WRITERS: readonly { readonly title: RegExp; readonly write: Writer }[] = [
  { title: USER_MESSAGES, write: messages },
  { title: /error|correction/i, write: errors },
  { title: /command|workflow/i, write: commands },
  { title: /worklog|\bsteps\b/i, write: steps },
  { title: /file|code section|function/i, write: files },
  { title: /pending|open|todo/i, write: pending },
  { title: /current|completed|state/i, write: current },
  { title: /next|continu/i, write: next },
  { title: /problem|learning|decision/i, write: rules },
  { title: /request|intent|goal|task|title/i, write: request },
]

export const writeSection = (title: string, known: ConversationFacts): readonly string[] =>
  WRITERS.find((writer) => writer.title.test(title))?.write(known) ?? []
