/**
 * Checks content from outside before it reaches the journal: your program's, a tool's, a model's. What no request can carry is refused
 * with the place of the flaw.
 */
import { ASSISTANT_BLOCKS, isServerResult, RESULT_BLOCKS, USER_BLOCKS } from "./block-types.ts"
import { flawOf, hasCitations, isKnownType, isOptionalField } from "./shapes/block-shapes.ts"
import { type Flaw, inWords, isRecord, wrong } from "./shapes/shape.ts"

export interface Checked {
  /** Who sends the blocks. The server decides what a `response` contains, so there a type may be new. */
  readonly role: "user" | "assistant" | "response" | "result"
  /** Names the content in the sentence. */
  readonly subject: string
  /** The path of the content: `messages[3].content`. */
  readonly path?: string
}

/** What is wrong with the first block that cannot be used, if any: `block 2 of its content needs "text" (content[2].text)`. */
export function problemIn(
  blocks: readonly unknown[],
  { role, subject, path = "content" }: Checked,
): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const problem = problemOf(block, role, `${path}[${index}]`)
    if (problem !== undefined) return `block ${index} of ${subject} ${problem}`
  }
  return undefined
}

function problemOf(block: unknown, role: Checked["role"], path: string): string | undefined {
  if (!isRecord(block) || typeof block.type !== "string" || block.type === "") return `has no type (${path})`
  const { type } = block
  if (!isAllowed(type, role)) return `has the type ${JSON.stringify(type)}, which ${WHERE[role]} cannot have (${path})`
  if (type === "tool_result") return resultProblem(block, path)
  const flaw = intolerableFlaw(block, role)
  return flaw && `${inWords(flaw)} (${path}.${flaw.at})`
}

const WHERE = {
  user: "a message of the user",
  assistant: "a message of the assistant",
  response: "a response",
  result: "a tool result",
}

function isAllowed(type: string, role: Checked["role"]): boolean {
  if (role === "response") return type !== "tool_result"
  if (role === "user") return USER_BLOCKS.has(type)
  if (role === "result") return RESULT_BLOCKS.has(type)
  return ASSISTANT_BLOCKS.has(type) || (isServerResult(type) && isKnownType(type))
}

/** The flaw for which a block is refused. What a request can leave out is admitted: the view leaves it out and records that. */
function intolerableFlaw(block: Readonly<Record<string, unknown>>, role: Checked["role"]): Flaw | undefined {
  const flaw = flawOf(block)
  if (role === "user")
    return flaw ?? (hasCitations(block) ? wrong("empty in a message of the user", "citations") : undefined)
  if (flaw === undefined) return undefined
  return isRepairable(block as { readonly type: string }, flaw) ? undefined : flaw
}

/** Whether the view can send the block, or the rest of its message, without what is wrong. */
function isRepairable(block: { readonly type: string }, flaw: Flaw): boolean {
  const [field = ""] = /^[^.[]+/.exec(flaw.at) ?? []
  if (flaw.kind === "extra" || isOptionalField(block.type, field)) return true
  // models write calls that the API does not take back, and other providers do not sign their thinking
  if (block.type === "tool_use") return field !== "id" || isOddId(flaw)
  if (block.type === "thinking") return field === "signature"
  return block.type === "server_tool_use" && field === "name"
}

function resultProblem(result: Readonly<Record<string, unknown>>, path: string): string | undefined {
  const { content } = result
  if (content !== undefined && typeof content !== "string" && !Array.isArray(content))
    return `has a content that is neither a text nor a list of blocks (${path}.content)`
  if (Array.isArray(content)) {
    const problem = problemIn(content, { role: "result", subject: "its result", path: `${path}.content` })
    if (problem !== undefined) return `cannot be used: ${problem}`
  }
  const flaw = flawOf({ ...result, content: "" })
  // it answers a call that the API does not take back: the request leaves out both
  if (flaw === undefined || isOddId(flaw)) return undefined
  return `${inWords(flaw)} (${path}.${flaw.at})`
}

/** An id that is a text, though not one that the API takes. */
const isOddId = ({ at, must }: Flaw) => (at === "id" || at === "tool_use_id") && must.startsWith("a text that matches")
