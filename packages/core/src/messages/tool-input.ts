/**
 * Checks a tool's input against its schema before the tool runs, fills in defaults and removes unknown keys. The model's own input is
 * sent back as the model wrote it.
 */
import type { ToolResult } from "./blocks.ts"

/** The interface that zod, valibot, arktype and others share: https://standardschema.dev */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    /** Only for the compiler: absent at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The result of validating an input with a Standard Schema. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** A problem that a Standard Schema found in an input. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema as a plain object. Its `required` properties are checked; the rest is up to the tool. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema of zod (3 or 4), valibot, arktype or another Standard Schema library, or a plain JSON Schema. */
export type InputSchema<Input = unknown> = StandardSchema<Input> | JsonSchema

export type CheckedInput<T> =
  | { readonly state: "valid"; readonly input: T }
  | { readonly state: "invalid"; readonly reason: string }

export async function checkToolInput<T>(schema: InputSchema<T>, input: unknown): Promise<CheckedInput<T>> {
  if (!isStandardSchema(schema)) return checkAgainstJsonSchema<T>(schema, input)
  const result = await schema["~standard"].validate(input)
  if (result.issues === undefined) return { state: "valid", input: result.value }
  return { state: "invalid", reason: result.issues.map(describeIssue).join("; ") }
}

export const isStandardSchema = <T>(schema: InputSchema<T>): schema is StandardSchema<T> => "~standard" in schema

/** The result of a call whose input is invalid. */
export function invalidInputResult(toolUseId: string, tool: string, reason: string): ToolResult {
  return {
    type: "tool_result",
    tool_use_id: toolUseId,
    is_error: true,
    content: `The input does not fit the tool ${tool}, so it was not run: ${reason}`,
  }
}

function checkAgainstJsonSchema<T>({ required }: JsonSchema, input: unknown): CheckedInput<T> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return { state: "invalid", reason: "input: expected an object" }
  }
  const missing = (Array.isArray(required) ? required : []).filter((name) => !Object.hasOwn(input, name))
  if (missing.length === 0) return { state: "valid", input: input as T }
  return { state: "invalid", reason: missing.map((name) => `${name}: missing, but required`).join("; ") }
}

function describeIssue({ path = [], message }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment))
  return `${keys.join(".") || "input"}: ${message}`
}
