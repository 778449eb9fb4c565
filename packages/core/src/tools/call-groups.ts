/** Which calls of one response may run side by side: neighbours that change nothing. */
import type { ToolUse } from "../messages/blocks.ts"
import { checkToolInput } from "../messages/tool-input.ts"
import { isReadOnly } from "./defaults.ts"
import type { Tool } from "./tool.ts"

/** Neighbouring calls that change nothing form one group; every other call is a group of its own. */
export async function groupsOf(
  calls: readonly ToolUse[],
  tools: readonly Tool[],
): Promise<readonly (readonly ToolUse[])[]> {
  const groups: ToolUse[][] = []
  let joinable = false
  for (const call of calls) {
    const readOnly = await changesNothing(call, tools)
    if (readOnly && joinable) groups.at(-1)!.push(call)
    else groups.push([call])
    joinable = readOnly
  }
  return groups
}

async function changesNothing(call: ToolUse, tools: readonly Tool[]): Promise<boolean> {
  const tool = tools.find(({ name }) => name === call.name)
  if (!tool) return true // it is only told that there is no such tool
  const checked = await checkToolInput(tool.inputSchema, call.input)
  return checked.state === "invalid" || isReadOnly(tool, checked.input)
}
