/** Defaults for optional members of a tool, and the conversion of results to `ToolOutput`. */
import type { Block } from "../messages/blocks.ts"
import { NotJsonError, plainJson } from "../messages/exact-json.ts"
import { findProblem } from "../messages/usable.ts"
import type { PermissionQuestion, Tool, ToolContext, ToolOutput } from "./tool.ts"

const SUMMARY_CHARACTERS = 200
const OUTPUT_KEYS: ReadonlySet<string> = new Set<keyof ToolOutput>([
  "content",
  "isError",
  "attachments",
  "touched",
  "filesChanged",
])

export function isReadOnly<Input>({ readOnly = false }: Tool<Input>, input: Input): boolean {
  return (typeof readOnly === "function" ? readOnly(input) : readOnly) === true // a promise does not count as `true`
}

/** `undefined`: the kind of the question decides. A tool without a question is the program's own code and needs no approval. */
export async function needsApproval<Input>(
  { needsApproval: needed, question }: Tool<Input>,
  input: Input,
  context: ToolContext,
): Promise<boolean | undefined> {
  if (typeof needed === "function") return needed(input, context)
  return needed ?? (question ? undefined : false)
}

export async function questionOf<Input>(
  tool: Tool<Input>,
  input: Input,
  context: ToolContext,
): Promise<PermissionQuestion> {
  if (tool.question) return tool.question(input, context)
  const summary = `${tool.name} ${formatInput(input)}`
  return { kind: "other", summary: clip(summary, SUMMARY_CHARACTERS), preview: formatInput(input, 2) }
}

/** Formats the input for display. A schema may produce values without a JSON form, which must not stop the call. */
function formatInput(input: unknown, indent?: number): string {
  try {
    return JSON.stringify(input, (_, value) => (typeof value === "bigint" ? String(value) : value), indent) ?? ""
  } catch {
    return String(input)
  }
}

export async function executeTool<Input>(tool: Tool<Input>, input: Input, context: ToolContext): Promise<ToolOutput> {
  const value = await tool.execute(input, context)
  try {
    return toToolOutput(value)
  } catch (error) {
    const place = error instanceof NotJsonError ? `${error.at} ` : ""
    throw new Error(`${tool.name} ran, but what it returned cannot be sent: ${place}${(error as Error).message}`)
  }
}

/** Converts a tool's return value: a string becomes the content, a `ToolOutput` is used as it is, and any other value becomes JSON text. */
export function toToolOutput(value: unknown): ToolOutput {
  if (typeof value === "string") return { content: value }
  return isOutput(value) ? value : { content: JSON.stringify(value) ?? "" }
}

/**
 * Whether a value is a `ToolOutput`. An object with other keys is an ordinary value, even if it has a `content`. Throws for blocks that
 * cannot be sent in a request.
 */
function isOutput(value: unknown): value is ToolOutput {
  if (typeof value !== "object" || value === null || !("content" in value)) return false
  if (!Object.keys(value).every((key) => OUTPUT_KEYS.has(key))) return false
  const { content } = value
  if (typeof content === "string") return true
  if (!Array.isArray(content) || !content.every(isBlock)) return false
  const problem = findProblem(plainJson(content, "content"), { role: "result", subject: "its content" })
  if (problem !== undefined) throw new Error(problem)
  return true
}

const isBlock = (value: unknown): value is Block =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

export const clip = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text
