/**
 * The messages that a fork begins with (L7-1, L7-2): the parent's, byte for byte, then one user message that ends with the directive.
 * Calls that are still open get the same placeholder in every fork, so of several forks at once only the directive differs.
 */
import { type Block, isToolResult, isToolUse, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { asDirective } from "./fork-marker.ts"

type Messages = ModelRequest["messages"]

export interface ForkBeginning {
  readonly messages: Messages
  /** How many of them, from the first, the parent's last request had: what the server's cache holds. */
  readonly shared: number
}

/** What a fork is told about a call of its parent that has no result yet. */
const STILL_RUNNING = "Still running: the result goes to the agent, not to you."

interface ForkedMessages {
  readonly messages: Messages
  /** Calls that run right now. Where the request answers them for want of a result, the placeholder takes that place. */
  readonly openCalls: readonly string[]
  readonly directive: string
}

export function forkMessages({ messages, openCalls, directive }: ForkedMessages): ForkBeginning {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const before = messages.slice(0, lastAnswer + 1)
  const said = messages.slice(lastAnswer + 1).flatMap(({ content }) => toBlocks(content))
  const calls = lastAnswer < 0 ? [] : toBlocks(messages[lastAnswer]!.content).filter(isToolUse)
  const content = [
    ...answered({ said, calls: calls.map(({ id }) => id), openCalls: new Set(openCalls) }),
    { type: "text" as const, text: asDirective(directive) },
  ]
  return { messages: [...before, { role: "user", content }], shared: Math.max(0, lastAnswer) }
}

interface LastReply {
  readonly said: readonly Block[]
  readonly calls: readonly string[]
  readonly openCalls: ReadonlySet<string>
}

/** What the parent's last answer got in reply, with every call answered; results come first, as the API wants it. */
function answered({ said, calls, openCalls }: LastReply): Block[] {
  const real = said.filter((block) => !(isToolResult(block) && openCalls.has(block.tool_use_id)))
  const known = new Set(real.filter(isToolResult).map(({ tool_use_id }) => tool_use_id))
  const placeholders = calls
    .filter((id) => !known.has(id))
    .map((id) => ({ type: "tool_result" as const, tool_use_id: id, content: STILL_RUNNING }))
  if (placeholders.length === 0) return real
  return [...real.filter(isToolResult), ...placeholders, ...real.filter((block) => !isToolResult(block))]
}
