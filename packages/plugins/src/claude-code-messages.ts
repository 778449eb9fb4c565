/** Messages as Claude Code passes them to a plugin: joined texts, calls with their outcome, results by call id. No thinking. */
import type { PlainMessage } from "@strata/core"
import { contentOf, isText, isToolResult, isToolUse, type Message, resultBlocks, textOf } from "@strata/core/messages"

export interface SessionMessage {
  readonly role: "user" | "assistant"
  readonly text: string
  readonly toolUses: readonly { readonly tool_use_id: string; readonly tool: string; readonly input: unknown }[]
  readonly toolResults?: readonly {
    readonly tool_use_id: string
    readonly text: string
    readonly isError: boolean
  }[]
  /** The uuid of the message's line in the transcript. */
  readonly handle?: string
}

export function claudeCodeMessage(message: unknown): PlainMessage {
  const { role, text, toolUses = [], toolResults = [], handle } = Object(message) as Partial<SessionMessage>
  const textBlocks = typeof text === "string" && text !== "" ? [{ type: "text", text }] : []
  const id = typeof handle === "string" ? { id: handle } : {}
  if (role === "assistant") {
    const calls = toolUses.map((use) => ({
      ...{ type: "tool_use", id: String(use.tool_use_id), name: String(use.tool), input: use.input ?? {} },
    }))
    return { ...id, role: "assistant", content: [...textBlocks, ...calls] }
  }
  const results = toolResults.map((result) => ({
    ...{ type: "tool_result", tool_use_id: String(result.tool_use_id), content: String(result.text ?? "") },
    ...(result.isError === true ? { is_error: true } : {}),
  }))
  return { ...id, role: "user", content: [...results, ...textBlocks] }
}

/** Converts a line of the transcript to a plugin's message. Thinking is dropped. */
export function sessionMessage(line: Message): SessionMessage {
  const blocks = line.type === "user" || line.type === "assistant" ? contentOf(line) : []
  const results = blocks.filter(isToolResult).map((result) => ({
    ...{ tool_use_id: result.tool_use_id, text: textOf(resultBlocks(result)), isError: result.is_error === true },
  }))
  return {
    role: line.type === "assistant" ? "assistant" : "user",
    text: textOf(blocks.filter(isText)),
    toolUses: blocks.filter(isToolUse).map(({ id, name, input }) => ({ tool_use_id: id, tool: name, input })),
    ...(results.length > 0 ? { toolResults: results } : {}),
  }
}
