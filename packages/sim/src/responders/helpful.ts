/**
 * Follows a one-sentence request: calls the tool named in the question, with arguments from the question, and echoes its result. Arguments
 * may be named: `Use Agent (prompt: Read a.ts; fork: true)`. It repeats any other question. Summaries and notes are extracted from the
 * conversation.
 */

import { completeInput, findProblems, propertiesOf, type Schema, schemaOf } from "@strata/core/offline"
import type { Answer, AnswerBlock, Responder, ResponderMessage, ResponderRequest, ResponderTurn } from "../responder.ts"
import { constrainResponder } from "./constrained.ts"
import { extractiveAnswer } from "./extractive.ts"

const MAX_REPEATED = 200 // characters of a result
const NAMED = /\((\w+: [^)]*)\)/ // named arguments in parentheses

export function helpfulResponder(): Responder {
  return constrainResponder({
    name: "helpful",
    answer(turn) {
      const extracted = extractiveAnswer(turn)
      if (extracted) return extracted
      const found = serverResultIn(turn.request.messages.at(-1))
      if (found !== undefined) return say(`The server says: ${found.slice(0, MAX_REPEATED)}`)
      const last = turn.request.messages.findLast(({ role }) => role === "user")
      const results = (last?.content ?? []).filter(({ type }) => type === "tool_result")
      const question = questionIn(last)
      if (results.length > 0 && question === "")
        return say(`The tool says: ${resultText(results).slice(0, MAX_REPEATED)}`)
      const words = new Set(
        question
          .replace(NAMED, "")
          .toLowerCase()
          .match(/[\w-]+/g),
      )
      const tool = (turn.request.tools ?? []).find(({ name }) => words.has(shortName(name)))
      return tool ? { content: [call(turn, { tool, question })] } : say(`You said: ${question}`)
    },
  })
}

/** The result that a server tool has just returned. */
const serverResultIn = (message: ResponderMessage | undefined): string | undefined => {
  const result = message?.role === "assistant" && message.content.findLast(({ type }) => type.endsWith("_tool_result"))
  return result ? JSON.stringify(result.content) : undefined
}

const say = (text: string): Answer => ({ content: [{ type: "text", text }] })

/** The name by which a question refers to a tool: "weather" for `mcp__server__weather`. */
const shortName = (name: string): string => name.split("__").at(-1)!.toLowerCase()

/** The question without text that the client adds in tags. */
const questionIn = (message: ResponderMessage | undefined): string =>
  (message?.content ?? [])
    .flatMap(({ type, text = "" }) => (type === "text" && !text.startsWith("<") ? [text] : []))
    .join("\n")

const resultText = (results: ResponderMessage["content"]): string =>
  results
    .map(({ content }) =>
      typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join(" "),
    )
    .join("\n")

interface Asked {
  readonly tool: NonNullable<ResponderRequest["tools"]>[number]
  readonly question: string
}

function call(turn: ResponderTurn, { tool, question }: Asked): AnswerBlock {
  const schema = schemaOf(tool.input_schema)
  const given = givenIn(question)
  const named = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const argument = given.get(name)
    const meant = isRequired(schema, name) ? valueFor(name, { property, question }) : undefined
    const values = argument === undefined ? [meant] : [argument, Number(argument)]
    const value = values.find((each) => each !== undefined && findProblems(property, each).length === 0)
    return value === undefined ? [] : [[name, value] as const]
  })
  const input = completeInput(schema, { input: Object.fromEntries(named), words: lastName(question) })
  return { type: "tool_use", id: turn.nextToolUseId(), name: tool.name, input }
}

/** Arguments named in a question. `true` and `false` become booleans. */
const givenIn = (question: string): ReadonlyMap<string, string | boolean> =>
  new Map(
    (NAMED.exec(question)?.[1] ?? "").split(";").flatMap((pair) => {
      const [, name, value] = /^\s*(\w+):\s*(.+?)\s*$/.exec(pair) ?? []
      if (name === undefined || value === undefined) return []
      return [[name, value === "true" || value === "false" ? value === "true" : value] as const]
    }),
  )

const isRequired = ({ required }: Schema, name: string): boolean => Array.isArray(required) && required.includes(name)

/** The value of an argument in a question: a number, a quoted command, a file name; `undefined` if none is recognizable. */
function valueFor(name: string, { property, question }: { property: Schema; question: string }): unknown {
  if (property.type === "number" || property.type === "integer") return Number(/-?\d+(\.\d+)?/.exec(question)?.[0] ?? 1)
  if (property.type !== "string") return undefined
  if (/command/.test(name)) return /`([^`]+)`/.exec(question)?.[1] ?? "ls"
  if (/path|file/.test(name)) return /[\w./-]+\.\w+/.exec(question)?.[0] ?? "README.md"
  return /content/.test(name) ? "hello\n" : undefined
}

const lastName = (question: string): string => question.match(/\b\p{Lu}\w+/gu)?.at(-1) ?? question
