/** Which calls of one response may run side by side: neighbours that change nothing. */
import type { ToolUse } from "../messages/blocks.ts"
import { checkToolInput } from "../messages/tool-input.ts"
import type { Tool } from "./tool.ts"

/** Neighbouring calls that change nothing form one group; every other call is a group of its own. */
export function groupsOf(calls: readonly ToolUse[], tools: readonly Tool[]): readonly (readonly ToolUse[])[] {
  const groups: ToolUse[][] = []
  let joinable = false
  for (const call of calls) {
    const readOnly = isReadOnly(call, tools)
    if (readOnly && joinable) groups.at(-1)!.push(call)
    else groups.push([call])
    joinable = readOnly
  }
  return groups
}

function isReadOnly(call: ToolUse, tools: readonly Tool[]): boolean {
  const tool = tools.find(({ name }) => name === call.name)
  if (!tool) return true // it is only told that there is no such tool
  const checked = checkToolInput(tool.schema, call.input)
  return checked.state === "invalid" || tool.isReadOnly(checked.input)
}
