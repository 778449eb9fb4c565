/** Messages as Claude Code gives them to a plugin: texts joined, calls with their outcome, results by the id of the call. No thinking. */
import type { PlainMessage } from "@strata/core"

interface SessionMessage {
  readonly role?: unknown
  readonly text?: unknown
  readonly toolUses?: readonly { readonly tool_use_id?: unknown; readonly tool?: unknown; readonly input?: unknown }[]
  readonly toolResults?: readonly {
    readonly tool_use_id?: unknown
    readonly text?: unknown
    readonly isError?: unknown
  }[]
  /** The uuid of its line in the transcript. */
  readonly handle?: unknown
}

export function claudeCodeMessage(message: unknown): PlainMessage {
  const { role, text, toolUses = [], toolResults = [], handle } = Object(message) as SessionMessage
  const said = typeof text === "string" && text !== "" ? [{ type: "text", text }] : []
  const id = typeof handle === "string" ? { id: handle } : {}
  if (role === "assistant") {
    const calls = toolUses.map((use) => ({
      ...{ type: "tool_use", id: String(use.tool_use_id), name: String(use.tool), input: use.input ?? {} },
    }))
    return { ...id, role: "assistant", content: [...said, ...calls] }
  }
  const results = toolResults.map((result) => ({
    ...{ type: "tool_result", tool_use_id: String(result.tool_use_id), content: String(result.text ?? "") },
    ...(result.isError === true ? { is_error: true } : {}),
  }))
  return { ...id, role: "user", content: [...results, ...said] }
}
