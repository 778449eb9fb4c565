/**
 * Checks the shape of content blocks from outside: your program, a tool, a model. A block that no request can carry must not reach the
 * journal, because every later request would fail on it.
 */
import { ASSISTANT_BLOCKS, isServerResult, RESULT_BLOCKS, USER_BLOCKS } from "./block-types.ts"

/** What is wrong with the first block that cannot be used, if any: `block 2 of its content has no "text"`. */
export function problemIn(blocks: readonly unknown[], { role, subject }: Checked): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const problem = problemOf(block, role)
    if (problem !== undefined) return `block ${index} of ${subject} ${problem}`
  }
  return undefined
}

export interface Checked {
  /** Who sends the blocks. The server decides what a `response` contains, so there a type may be new. */
  readonly role: "user" | "assistant" | "response" | "result"
  /** Names the content in the sentence. */
  readonly subject: string
}

type Fields = Readonly<Record<string, unknown>>

function problemOf(block: unknown, role: Checked["role"]): string | undefined {
  const { type } = (block ?? {}) as { readonly type?: unknown }
  if (typeof block !== "object" || typeof type !== "string") return "has no type"
  if (!isAllowed(type, role)) return `has the type ${JSON.stringify(type)}, which ${WHERE[role]} cannot have`
  return Object.hasOwn(SHAPES, type) ? SHAPES[type]!(block as Fields) : undefined
}

const WHERE = {
  user: "a message of the user",
  assistant: "a message of the assistant",
  response: "a response",
  result: "a tool result",
}

function isAllowed(type: string, role: Checked["role"]): boolean {
  if (role === "response") return true
  if (role === "user") return USER_BLOCKS.has(type)
  if (role === "result") return RESULT_BLOCKS.has(type)
  return ASSISTANT_BLOCKS.has(type) || isServerResult(type)
}

const needs =
  (field: string, kind: "string" | "object") =>
  (block: Fields): string | undefined =>
    typeof block[field] === kind && block[field] !== null ? undefined : `needs "${field}"`

const SHAPES: Readonly<Record<string, (block: Fields) => string | undefined>> = {
  text: needs("text", "string"),
  thinking: needs("thinking", "string"),
  image: needs("source", "object"),
  document: needs("source", "object"),
  tool_use: needs("id", "string"),
  tool_result: (block) => needs("tool_use_id", "string")(block) ?? resultProblem(block.content),
}

function resultProblem(content: unknown): string | undefined {
  if (content === undefined || typeof content === "string") return undefined
  if (!Array.isArray(content)) return "has a content that is neither a text nor a list of blocks"
  const problem = problemIn(content, { role: "result", subject: "its result" })
  return problem && `cannot be used: ${problem}`
}
