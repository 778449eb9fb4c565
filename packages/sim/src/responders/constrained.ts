/**
 * Constrains a responder to the demands of a request, as the API constrains a model: `tool_choice`, one call at a time, a structured
 * output, and correct calls of server tools. A request without demands reaches the responder unchanged.
 */

import { sampleJson } from "../json-sample.ts"
import type { Answer, AnswerBlock, Responder, ResponderRequest, ResponderTool, ResponderTurn } from "../responder.ts"
import { type ServerToolKind, serverToolKind } from "../server-tools/kinds.ts"

const NOTHING_LEFT = "There is nothing to say without a tool call."
const MAX_WORDS = 200 // characters of the responder's own text in a sampled value

export function constrainResponder<T extends Responder>(responder: T): T {
  return {
    ...responder,
    answer(turn) {
      if (turn.summary || !hasDemands(turn.request)) return responder.answer(turn)
      const asked = askedServerTool(turn)
      if (asked) return asked
      const given = responder.answer({ ...turn, request: withinDemands(turn.request) })
      return given instanceof Promise ? given.then((answer) => obey(answer, turn)) : obey(given, turn)
    },
  }
}

const hasDemands = ({ tool_choice, format, tools = [] }: ResponderRequest): boolean =>
  (tool_choice !== undefined && (tool_choice.type !== "auto" || tool_choice.disable_parallel_tool_use === true)) ||
  format !== undefined ||
  tools.some((tool) => serverToolKind(tool) !== undefined)

/** The request with only the tools that the responder may use. It does not call a server tool twice in one answer. */
function withinDemands(request: ResponderRequest): ResponderRequest {
  const { tool_choice: choice, tools = [], messages } = request
  const goesOn = messages.at(-1)?.role === "assistant"
  const offered = tools.filter((tool) => {
    if (choice?.type === "none" || (goesOn && serverToolKind(tool))) return false
    return choice?.type !== "tool" || tool.name === choice.name
  })
  return { ...request, tools: offered }
}

function obey(answer: Answer, turn: ResponderTurn): Answer {
  const { tool_choice: choice, tools = [], format } = turn.request
  if (answer.stopReason === "refusal") return answer
  const forced = choice?.type === "any" || choice?.type === "tool"
  const wanted = forced ? withForcedCall(answer, turn) : answer
  const mayCall = choice?.type !== "none" && tools.length > 0
  const calls = mayCall ? wanted.content.filter(isCall) : [] // a recording may contain calls that this request forbids
  const allowed = choice?.disable_parallel_tool_use ? calls.slice(0, 1) : calls
  const spoken = wanted.content.filter((block) => !isCall(block))
  const content =
    forced || (format && calls.length > 0)
      ? [...spoken.filter(({ type }) => type === "thinking"), ...allowed]
      : format
        ? formatted(spoken, format.schema)
        : wanted.content.filter((block) => !isCall(block) || allowed.includes(block))
  const { stopReason: _, ...rest } = answer
  const kept = content.length === answer.content.length && content.every((block, i) => block === answer.content[i])
  const spokenOut = content.length > 0 ? content : [{ type: "text" as const, text: NOTHING_LEFT }]
  return { ...(kept ? answer : rest), content: spokenOut.map((block) => asServerCall(block, tools)) }
}

const isCall = ({ type }: AnswerBlock) => type === "tool_use" || type === "server_tool_use"

/** Keeps the responder's own call, or makes one with an input that fits the schema. */
function withForcedCall(answer: Answer, turn: ResponderTurn): Answer {
  const { tool_choice: choice, tools = [] } = turn.request
  const content = answer.content.filter((block) => !("name" in block) || fitsChoice(block.name, choice?.name))
  if (content.some(isCall)) return { ...answer, content }
  const tool = choice?.name === undefined ? tools[0] : tools.find(({ name }) => name === choice.name)
  return tool ? { ...answer, content: [...content, callOf(tool, turn, textIn(content))] } : answer
}

const fitsChoice = (name: string, wanted: string | undefined) => wanted === undefined || name === wanted

function callOf(tool: ResponderTool, turn: ResponderTurn, words: string): AnswerBlock {
  const asked = questionIn(turn.request)
  const input = sampleJson(tool.input_schema ?? {}, { words: asked || words, optional: false })
  return { type: "tool_use", id: turn.nextToolUseId(), name: tool.name, input: input ?? {} }
}

function formatted(content: readonly AnswerBlock[], schema: Record<string, unknown>): readonly AnswerBlock[] {
  const value = sampleJson(schema, { words: textIn(content).slice(0, MAX_WORDS), optional: true })
  return [
    ...content.filter(({ type }) => type === "thinking"),
    { type: "text", text: JSON.stringify(value === undefined ? {} : value) },
  ]
}

const textIn = (content: readonly AnswerBlock[]): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

function asServerCall(block: AnswerBlock, tools: readonly ResponderTool[]): AnswerBlock {
  if (block.type !== "tool_use" || !("input" in block)) return block
  const tool = tools.find(({ name }) => name === block.name)
  if (!tool || !serverToolKind(tool)) return block
  return { type: "server_tool_use", id: `srv${block.id}`, name: block.name, input: (block.input ?? {}) as object }
}

/** Phrases that ask for a server tool. The first group is the input. */
const ASKED: Readonly<Record<ServerToolKind, RegExp>> = {
  web_search: /\b(?:search the web|web[_ ]search|search online)\b(?:\s+for)?(?:\s+the query)?\s*:?\s*([^\n]+)/i,
  web_fetch: /\b(?:web[_ ]fetch|fetch|open|read)\b[^\n]*?(https?:\/\/[^\s"'<>)]+)/i,
  code_execution: /\b(?:code[_ ]execution|(?:run|execute)\b[^\n]*\bcode\b)\s*:?\s*([^\n]*)/i,
  tool_search: /\buse (?:a|the) tool (?:to|that|for) ([^.\n]+)/i,
}

/** Calls the server tool that the user's last message asks for. */
function askedServerTool(turn: ResponderTurn): Answer | undefined {
  const { tools = [], tool_choice: choice, messages } = turn.request
  const isAnswered = messages.at(-1)?.role === "assistant"
  if (choice?.type === "none" || isAnswered) return undefined
  const question = questionIn(turn.request)
  for (const tool of tools) {
    const kind = serverToolKind(tool)
    if (!kind || !fitsChoice(tool.name, choice?.name)) continue
    const found = ASKED[kind].exec(question)?.[1]
    const what = found ?? (choice?.type === "tool" ? question.split("\n")[0] : undefined)
    if (what === undefined) continue
    const field = Object.keys((tool.input_schema?.properties as object | undefined) ?? {})[0] ?? "query"
    const value = what.trim().replace(/[.!?]+$/, "") || question
    const id = `srv${turn.nextToolUseId()}`
    return { content: [{ type: "server_tool_use", id, name: tool.name, input: { [field]: value } }] }
  }
  return undefined
}

/** The user's last message, if the request asks about it: without tool results and without tags that a client adds. */
function questionIn({ messages }: ResponderRequest): string {
  const last = messages.findLast(({ role }) => role !== "system")
  if (last?.role !== "user" || last.content.some(({ type }) => type === "tool_result")) return ""
  return last.content
    .flatMap(({ type, text = "" }) => (type === "text" && !text.startsWith("<") ? [text] : []))
    .join("\n")
    .trim()
}
