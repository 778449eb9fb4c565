/**
 * Answers the programs of the documentation in the simulator. A question that names a declared tool is answered by calling it, with
 * arguments from the question; a tool's result is repeated; summaries and notes are extracted from the conversation.
 */
import {
  type AnswerBlock,
  type Brain,
  type BrainMessage,
  type BrainRequest,
  type BrainTurn,
  extractiveAnswer,
} from "@strata/sim"

type Schema = {
  readonly properties?: Record<string, { readonly type?: string }>
  readonly required?: readonly string[]
}

export function helpfulBrain(): Brain {
  return {
    name: "helpful",
    answer(turn) {
      const extracted = extractiveAnswer(turn)
      if (extracted) return extracted
      const last = turn.request.messages.findLast(({ role }) => role === "user")
      const results = (last?.content ?? []).filter(({ type }) => type === "tool_result")
      if (results.length > 0) return say(`The tool says: ${resultText(results).slice(0, 200)}`)
      const question = questionIn(last)
      const tool = (turn.request.tools ?? []).find(({ name }) => question.toLowerCase().includes(shortName(name)))
      return tool ? { content: [call(turn, { tool, question })] } : say(`You said: ${question}`)
    },
  }
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }] })

/** `mcp__server__weather` is asked for as "weather". */
const shortName = (name: string): string => name.split("__").at(-1)!.toLowerCase()

const questionIn = (message: BrainMessage | undefined): string =>
  (message?.content ?? [])
    .filter(({ type, text }) => type === "text" && !text!.startsWith("<"))
    .map(({ text }) => text)
    .join("\n")

const resultText = (results: BrainMessage["content"]): string =>
  results
    .map(({ content }) =>
      typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join(" "),
    )
    .join("\n")

interface Asked {
  readonly tool: NonNullable<BrainRequest["tools"]>[number]
  readonly question: string
}

function call(turn: BrainTurn, { tool, question }: Asked): AnswerBlock {
  const { properties = {}, required = [] } = (tool.input_schema ?? {}) as Schema
  const input = Object.fromEntries(
    required.map((name) => [name, properties[name]?.type === "string" ? textFor(name, question) : 1]),
  )
  return { type: "tool_use", id: turn.nextToolUseId(), name: tool.name, input }
}

/** What a question says for an argument: a quoted command, a file name, else the last name in it. */
function textFor(argument: string, question: string): string {
  if (/command/.test(argument)) return /`([^`]+)`/.exec(question)?.[1] ?? "ls"
  if (/path|file/.test(argument)) return /[\w./-]+\.\w+/.exec(question)?.[0] ?? "README.md"
  if (/content/.test(argument)) return "hello\n"
  return question.match(/\b\p{Lu}\w+/gu)?.at(-1) ?? question
}
