/** The tools the API runs itself, and the inputs of all tools it defines. A client declares them without a schema. */
import type { JsonSchema } from "../json-sample.ts"

export type ServerToolKind = "web_search" | "web_fetch" | "code_execution" | "tool_search"

export interface DeclaredTool {
  readonly type?: string | null
  readonly name?: string
}

/** What kind of server tool this is, or `undefined` if the client runs it. */
export function serverToolKind({ type }: DeclaredTool): ServerToolKind | undefined {
  if (type?.startsWith("web_search_")) return "web_search"
  if (type?.startsWith("web_fetch_")) return "web_fetch"
  if (type?.startsWith("code_execution_")) return "code_execution"
  return type?.startsWith("tool_search_tool_") ? "tool_search" : undefined
}

const text = { type: "string", minLength: 1 }
const object = (properties: Readonly<Record<string, unknown>>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
})

/** Input schemas by prefix of the tool's type. */
const INPUTS: readonly { readonly type: string; readonly input: JsonSchema }[] = [
  { type: "web_search_", input: object({ query: text }) },
  { type: "web_fetch_", input: object({ url: { type: "string", format: "uri" } }) },
  { type: "code_execution_20250522", input: object({ code: text }) },
  { type: "code_execution_", input: object({ command: text }) },
  { type: "tool_search_tool_regex", input: object({ pattern: text }) },
  { type: "tool_search_tool_bm25", input: object({ query: text }) },
  { type: "bash_", input: object({ command: text }) },
  { type: "text_editor_", input: object({ command: { enum: ["view"] }, path: text }) },
  { type: "memory_", input: object({ command: { enum: ["view"] }, path: { enum: ["/memories"] } }) },
  { type: "computer_", input: object({ action: { enum: ["screenshot"] } }) },
]

/** The input schema of an API-defined tool, or `undefined` for the client's own tools. */
export const apiToolInput = ({ type }: DeclaredTool): JsonSchema | undefined =>
  INPUTS.find((known) => type?.startsWith(known.type))?.input
