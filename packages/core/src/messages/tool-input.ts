/**
 * Checks a tool's input before the tool gets it: against its schema, with defaults filled in and unknown keys removed. The model's own
 * input is sent back as the model wrote it.
 */
import type { ToolResult } from "./blocks.ts"

/** What zod, valibot, arktype and others have in common: https://standardschema.dev */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    /** For the compiler only: it has no value at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** What a Standard Schema makes of an input. */
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
  | { readonly state: "invalid"; readonly why: string }

export async function checkToolInput<T>(schema: InputSchema<T>, input: unknown): Promise<CheckedInput<T>> {
  if (!isStandardSchema(schema)) return checkAgainstJsonSchema<T>(schema, input)
  const result = await schema["~standard"].validate(input)
  if (result.issues === undefined) return { state: "valid", input: result.value }
  return { state: "invalid", why: result.issues.map(describe).join("; ") }
}

export const isStandardSchema = <T>(schema: InputSchema<T>): schema is StandardSchema<T> => "~standard" in schema

/** The answer to a call whose input cannot be used. */
export function invalidInputResult(toolUseId: string, tool: string, why: string): ToolResult {
  return {
    type: "tool_result",
    tool_use_id: toolUseId,
    is_error: true,
    content: `The input does not fit the tool ${tool}, so it was not run: ${why}`,
  }
}

function checkAgainstJsonSchema<T>({ required }: JsonSchema, input: unknown): CheckedInput<T> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return { state: "invalid", why: "input: expected an object" }
  }
  const missing = (Array.isArray(required) ? required : []).filter((name) => !Object.hasOwn(input, name))
  if (missing.length === 0) return { state: "valid", input: input as T }
  return { state: "invalid", why: missing.map((name) => `${name}: missing, but required`).join("; ") }
}

function describe({ path = [], message }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment))
  return `${keys.join(".") || "input"}: ${message}`
}
