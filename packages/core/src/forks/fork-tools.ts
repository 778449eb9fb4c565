/** Runs the calls of a fork. The caller of the fork decides about each call; a refusal is an error result. */
import type { ToolResult, ToolUse } from "../messages/blocks.ts"
import { prepareCalls, refusedCall, runCall } from "../tools/run-calls.ts"
import type { PermissionQuestion, SharedToolContext, Tool } from "../tools/tool.ts"

/**
 * `true`, or why the call is refused. The question names the files that the call touches, with links followed. A text in place of the
 * function refuses every call, even of tools that are not here: a loop of your own runs them.
 */
export type Allows = string | ((call: ToolUse, tool: Tool, question: PermissionQuestion) => true | string)

export interface ForkToolRun {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly allows: Allows
  readonly signal: AbortSignal
}

/** In the order of the calls. */
export async function runForkCalls(calls: readonly ToolUse[], run: ForkToolRun): Promise<readonly ToolResult[]> {
  const { tools, allows, context, signal } = run
  if (typeof allows === "string") return calls.map((call) => refusedCall(call, allows))
  const results: ToolResult[] = []
  for (const group of await prepareCalls(calls, tools)) {
    const outcomes = group.map((prepared) =>
      runCall(prepared, {
        context,
        signal,
        admit: async ({ call, tool, question }) => {
          const verdict = allows(call, tool, question)
          return verdict === true ? { state: "admitted", unasked: true } : { state: "refused", why: verdict }
        },
      }),
    )
    results.push(...(await Promise.all(outcomes)).map(({ result }) => result))
  }
  return results
}
