/**
 * Tools that a request carries but the model does not see yet (`defer_loading`), and the references in tool results that load them. The API
 * puts the definition in the place of the reference, so loading changes nothing before it.
 */
import type { ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages"
import type { ToolDefinition } from "./request.ts"

export type ToolReference = Extract<
  Exclude<ToolResultBlockParam["content"], string | undefined>[number],
  { type: "tool_reference" }
>

export const isDeferred = (tool: unknown): boolean =>
  typeof tool === "object" && tool !== null && (tool as { readonly defer_loading?: unknown }).defer_loading === true

/** Those that are part of the prompt. */
export const declaredTools = <T>(tools: readonly T[]): readonly T[] =>
  tools.some(isDeferred) ? tools.filter((tool) => !isDeferred(tool)) : tools

/** Names of the tools that a tool result loads. */
export function referencesIn(block: { readonly type: string; readonly content?: unknown }): readonly string[] {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return []
  return block.content.filter(isReference).map(({ tool_name }) => tool_name)
}

const isReference = (block: unknown): block is ToolReference =>
  (block as Partial<ToolReference> | null)?.type === "tool_reference" &&
  typeof (block as Partial<ToolReference>).tool_name === "string"

export const nameOf = (tool: ToolDefinition): string | undefined =>
  "name" in tool && typeof tool.name === "string" ? tool.name : undefined
