/** `defineTool` checks a tool and infers its types. It loads no schema library: the package's root exports it. */
import { describe, InvalidOptionError } from "../base/options.ts"
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
  const { name, description, inputSchema, execute, ...rest } = (tool ?? {}) as Partial<Tool>
  if (typeof name !== "string" || !NAME.test(name)) {
    const given = name === undefined ? "it is missing" : `it is ${describe(name)}`
    throw wrong("name", `A tool's \`name\` must be 1 to 128 letters, digits, "_" or "-", but ${given}.`)
  }
  if (typeof description !== "string")
    throw wrong("description", `The tool ${name} needs a \`description\`: a text for the model.`)
  if (!inputSchema || !["object", "function"].includes(typeof inputSchema))
    throw wrong(
      "inputSchema",
      `The tool ${name} needs an \`inputSchema\`: a zod schema, another Standard Schema, or a JSON Schema.`,
    )
  if (typeof execute !== "function")
    throw wrong("execute", `The tool ${name} needs \`execute\`: the function that does its work.`)
  for (const option of ["readOnly", "needsApproval"] as const)
    if (!["undefined", "boolean", "function"].includes(typeof rest[option]))
      throw wrong(
        option,
        `The \`${option}\` of the tool ${name} must be true, false or a function, not ${describe(rest[option])}.`,
      )
}

const wrong = (option: string, message: string) => new InvalidOptionError(option, message)

export const isToolset = (item: unknown): item is Toolset =>
  typeof (item as Partial<Toolset> | null)?.open === "function"

/** Every tool of a conversation needs a name of its own: the API refuses two with the same. */
export function refuseDuplicates(names: readonly unknown[]): void {
  const twice = names.find((name, index) => name !== undefined && names.indexOf(name) < index)
  if (twice !== undefined) throw wrong("tools", `Two tools are named ${twice}: every tool needs a name of its own.`)
}
