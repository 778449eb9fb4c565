/**
 * The messages that a fork starts with: the parent's, byte for byte, then one user message that ends with the directive. Open calls get
 * the same placeholder in every fork, so parallel forks differ only in their directive.
 */
import { type Block, isToolResult, isToolUse, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import { asDirective } from "./fork-marker.ts"

type Messages = ModelRequest["messages"]

export interface ForkBeginning {
  readonly messages: Messages
  /** How many of the first messages were in the parent's last request, and so are in the server's cache. */
  readonly shared: number
}

/** Replaces the result of a parent's call that is still running. */
const STILL_RUNNING = "Still running: the result goes to the agent, not to you."

interface ForkedMessages {
  readonly messages: Messages
  /** Calls that are running now. The placeholder replaces any stand-in result that the request has for them. */
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
  return { messages: before.concat({ role: "user", content }), shared: Math.max(0, lastAnswer) }
}

/** The message that begins a fork of a journal: the same placeholder for every call of the last answer, then the directive. */
export function forkReply(calls: readonly string[], directive: string): Block[] {
  const placeholders = answered({ said: [], calls, openCalls: new Set() })
  return [...placeholders, { type: "text", text: asDirective(directive) }]
}

interface LastReply {
  readonly said: readonly Block[]
  readonly calls: readonly string[]
  readonly openCalls: ReadonlySet<string>
}

/** The reply to the parent's last answer, with a result for every call. Results come first, as the API requires. */
function answered({ said, calls, openCalls }: LastReply): Block[] {
  const real = said.filter((block) => !(isToolResult(block) && openCalls.has(block.tool_use_id)))
  const known = new Set(real.filter(isToolResult).map(({ tool_use_id }) => tool_use_id))
  const placeholders = calls
    .filter((id) => !known.has(id))
    .map((id) => ({ type: "tool_result" as const, tool_use_id: id, content: STILL_RUNNING }))
  if (placeholders.length === 0) return real
  return [...real.filter(isToolResult), ...placeholders, ...real.filter((block) => !isToolResult(block))]
}
