/**
 * MSG-3: a tool's input as the tool gets it: checked against its schema, defaults filled in, unknown keys removed. What is
 * sent back to the model stays as the model wrote it.
 */
import type { z } from "zod"
import type { ToolResult } from "./blocks.ts"

export type CheckedInput<T> =
  | { readonly state: "valid"; readonly input: T }
  | { readonly state: "invalid"; readonly why: string }

export function checkToolInput<T>(schema: z.ZodType<T>, input: unknown): CheckedInput<T> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return { state: "valid", input: parsed.data }
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`)
  return { state: "invalid", why: problems.join("; ") }
}

/** The answer to a call whose input cannot be used. */
export function invalidInputResult(toolUseId: string, tool: string, why: string): ToolResult {
  return {
    type: "tool_result",
    tool_use_id: toolUseId,
    is_error: true,
    content: `The input does not fit the tool ${tool}, so it was not run: ${why}`,
  }
}
