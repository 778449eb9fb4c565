/** `defineTool` checks a tool and infers its types. It loads no schema library: the package's root exports it. */
import type { InputSchema } from "../messages/tool-input.ts"
import type { Tool, Toolset } from "./tool.ts"

/** What a tool with this schema gets as its input. With plain JSON Schema the properties' types are unknown. */
export type InferInput<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : Readonly<Record<string, unknown>>

const NAME = /^[a-zA-Z0-9_-]{1,128}$/ // what the API accepts

/**
 * Defines a tool. The schema may come from zod, valibot, arktype or another Standard Schema library, or be plain JSON Schema.
 *
 * @example
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Says what the weather is like in a city.",
 *   inputSchema: z.object({ city: z.string() }),
 *   readOnly: true,
 *   execute: async ({ city }) => `Sunny in ${city}.`,
 * })
 */
export function defineTool<const Schema extends InputSchema>(
  tool: Omit<Tool<InferInput<Schema>>, "inputSchema"> & { readonly inputSchema: Schema },
): Tool<InferInput<Schema>> {
  checkTool(tool)
  return tool as Tool<InferInput<Schema>>
}

/** Throws a sentence that names what is missing or wrong. */
export function checkTool(tool: Tool): void {
  const { name, description, inputSchema, execute } = (tool ?? {}) as Partial<Tool>
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new Error(
      `A tool's \`name\` must be 1 to 128 letters, digits, "_" or "-", but it is ${JSON.stringify(name) ?? "missing"}.`,
    )
  }
  if (typeof description !== "string")
    throw new Error(`The tool ${name} needs a \`description\`: a text for the model.`)
  if (!inputSchema || !["object", "function"].includes(typeof inputSchema)) {
    throw new Error(
      `The tool ${name} needs an \`inputSchema\`: a zod schema, another Standard Schema, or a JSON Schema.`,
    )
  }
  if (typeof execute !== "function")
    throw new Error(`The tool ${name} needs \`execute\`: the function that does its work.`)
}

export const isToolset = (item: Tool | Toolset): item is Toolset => "open" in item && typeof item.open === "function"
