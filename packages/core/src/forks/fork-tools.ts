/** Runs the calls of a fork. The caller of the fork decides about each call; a refusal is an error result. */
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import { prepareCalls, runCall } from "../tools/run-calls.ts"
import type { PermissionQuestion, SharedToolContext, Tool } from "../tools/tool.ts"

/** `true`, or why the call is refused. The question names the files that the call touches, with links followed. */
export type Allows = (call: ToolUse, tool: Tool, question: PermissionQuestion) => true | string

export interface ForkToolRun {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly allows: Allows
  readonly signal: AbortSignal
}

/** In the order of the calls. */
export async function runForkCalls(calls: readonly ToolUse[], run: ForkToolRun): Promise<readonly ToolResult[]> {
  const { tools, allows, context, signal } = run
  const results: ToolResult[] = []
  for (const group of await prepareCalls(calls, tools)) {
    const outcomes = group.map((prepared) =>
      runCall(prepared, {
        context,
        signal,
        admit: async ({ call, tool, question }) => {
          const verdict = allows(call, tool, question)
          return verdict === true ? { state: "admitted" } : { state: "refused", why: verdict }
        },
      }),
    )
    results.push(...(await Promise.all(outcomes)).map(({ result }) => result))
  }
  return results
}
