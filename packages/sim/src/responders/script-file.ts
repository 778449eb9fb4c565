/** The answers in a script file, checked entry by entry, so that a mistake is found before the first request. */
import type { Answer, AnswerBlock } from "../responder.ts"
import {
  type anything,
  dictionary,
  type Fields,
  isRecord,
  list,
  object,
  oneOf,
  optional,
  string,
  tagged,
} from "../validate/schema.ts"
import type { ScriptedTurn } from "./scripted.ts"

const call: Fields = { id: optional(string({ pattern: "^[a-zA-Z0-9_-]+$" })), name: string({ min: 1 }) }
const BLOCKS: Readonly<Record<string, Fields>> = {
  text: { text: string() },
  thinking: { thinking: string() },
  tool_use: { ...call, input: optional(dictionary()), inputText: optional(string()) },
  server_tool_use: { ...call, input: dictionary() },
}
const otherBlock = object({ type: string(), block: dictionary() })
const block: typeof anything = (value, path) =>
  isRecord(value) && value.type === "other" ? otherBlock(value, path) : tagged(BLOCKS)(value, path)

const answer = object({
  content: list(block),
  stopReason: optional(oneOf("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal")),
})

/** The first mistake, such as `entry 2: content.0.tool_use.name: Field required`. Entries count from 1. */
export function findScriptProblem(entries: readonly unknown[]): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const where = `entry ${index + 1}`
    if (typeof entry === "string") continue
    if (!isRecord(entry))
      return `${where}: must be a text, or an answer such as {"content": [{"type": "text", "text": "Hello"}]}`
    const issue = answer(entry, "")
    if (issue) return `${where}: ${issue.path}: ${issue.message}`
    const ids = (entry.content as readonly { id?: string }[]).flatMap(({ id }) => id ?? [])
    const twice = ids.find((id, place) => ids.indexOf(id) !== place)
    if (twice !== undefined) return `${where}: content: the id ${twice} occurs twice`
  }
  return undefined
}

/** A checked entry as a turn. A call may leave out its input. */
export function toScriptedTurn(entry: unknown): ScriptedTurn {
  if (typeof entry === "string") return entry
  const { content, ...rest } = entry as Answer
  const complete = (block: AnswerBlock): AnswerBlock =>
    block.type === "tool_use" && !("inputText" in block) ? { ...block, input: block.input ?? {} } : block
  return { ...rest, content: content.map(complete) }
}
