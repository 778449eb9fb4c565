/**
 * Runs the calls of a fork. Each goes by whoever made the fork; what is refused, cannot be understood or fails becomes an error result,
 * so every call has exactly one. Calls that change nothing run side by side.
 */
import { reasonOf } from "../base/errors.ts"
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import { checkToolInput, invalidInputResult } from "../messages/tool-input.ts"
import { unusableInputOf } from "../model/tool-input-text.ts"
import { groupsOf } from "../tools/call-groups.ts"
import { executed, questionOf } from "../tools/defaults.ts"
import { unlessInterrupted } from "../tools/interruption.ts"
import type { PermissionQuestion, Tool, ToolContext, ToolOutput } from "../tools/tool.ts"

/** `true`, or why the call is refused. The question names the files a call is about, links followed. */
export type Allows = (call: ToolUse, tool: Tool, question: PermissionQuestion) => true | string

export interface ForkToolRun {
  readonly tools: readonly Tool[]
  readonly context: Omit<ToolContext, "signal" | "progress" | "toolUseId">
  readonly allows: Allows
  readonly signal: AbortSignal
}

/** In the order of the calls. */
export async function runForkCalls(calls: readonly ToolUse[], run: ForkToolRun): Promise<readonly ToolResult[]> {
  const results: ToolResult[] = []
  for (const group of await groupsOf(calls, run.tools)) {
    results.push(...(await Promise.all(group.map((call) => runCall(call, run)))))
  }
  return results
}

async function runCall(call: ToolUse, run: ForkToolRun): Promise<ToolResult> {
  const tool = run.tools.find(({ name }) => name === call.name)
  if (!tool) return failure(call, `There is no tool named ${call.name}.`)
  const unusable = unusableInputOf(call)
  if (unusable) return invalidInputResult(call.id, tool.name, unusable.why)
  const checked = await checkToolInput(tool.inputSchema, call.input)
  if (checked.state === "invalid") return invalidInputResult(call.id, tool.name, checked.why)
  const context = { ...run.context, signal: run.signal, toolUseId: call.id, progress: () => undefined }
  try {
    run.signal.throwIfAborted()
    const verdict = run.allows(call, tool, await questionOf(tool, checked.input, context))
    if (verdict !== true) return failure(call, `Not allowed: ${verdict}`)
    const work = await unlessInterrupted(run.signal, executed(tool, checked.input, context))
    return work.state === "settled" ? resultOf(call, work.value) : failure(call, "Interrupted before it finished.")
  } catch (error) {
    return failure(call, error instanceof Error && error.message !== "" ? error.message : reasonOf(error))
  }
}

function resultOf(call: ToolUse, { content, isError }: ToolOutput): ToolResult {
  const result = { type: "tool_result" as const, tool_use_id: call.id, content: content as string }
  return isError ? { ...result, is_error: true } : result
}

const failure = (call: ToolUse, text: string): ToolResult => ({
  type: "tool_result",
  tool_use_id: call.id,
  content: text,
  is_error: true,
})
