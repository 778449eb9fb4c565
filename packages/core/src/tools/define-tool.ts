/** `defineTool` validates a tool and infers its types. It loads no schema library, because the package's root exports it. */
import { describe, InvalidOptionError } from "../base/options.ts"
import type { InputSchema } from "../messages/tool-input.ts"
import type { Tool, Toolset } from "./tool.ts"

/** Input type of a tool with this schema. For plain JSON Schema, the types of the properties are unknown. */
export type InferInput<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : Readonly<Record<string, unknown>>

const NAME = /^[a-zA-Z0-9_-]{1,128}$/ // pattern that the API accepts

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

/** Throws an error that names the missing or invalid option. */
export function checkTool(tool: Tool): void {
  const { name, description, inputSchema, execute, ...rest } = (tool ?? {}) as Partial<Tool>
  if (typeof name !== "string" || !NAME.test(name)) {
    const given = name === undefined ? "it is missing" : `it is ${describe(name)}`
    throw invalidOption("name", `A tool's \`name\` must be 1 to 128 letters, digits, "_" or "-", but ${given}.`)
  }
  if (typeof description !== "string")
    throw invalidOption("description", `The tool ${name} needs a \`description\`: a text for the model.`)
  if (!inputSchema || !["object", "function"].includes(typeof inputSchema))
    throw invalidOption(
      "inputSchema",
      `The tool ${name} needs an \`inputSchema\`: a zod schema, another Standard Schema, or a JSON Schema.`,
    )
  if (typeof execute !== "function")
    throw invalidOption("execute", `The tool ${name} needs \`execute\`: the function that does its work.`)
  for (const option of ["readOnly", "needsApproval"] as const)
    if (!["undefined", "boolean", "function"].includes(typeof rest[option]))
      throw invalidOption(
        option,
        `The \`${option}\` of the tool ${name} must be true, false or a function, not ${describe(rest[option])}.`,
      )
}

const invalidOption = (option: string, message: string) => new InvalidOptionError(option, message)

export const isToolset = (item: unknown): item is Toolset =>
  typeof (item as Partial<Toolset> | null)?.open === "function"

/** Throws if two tools have the same name, which the API would refuse. */
export function refuseDuplicates(names: readonly unknown[]): void {
  const twice = names.find((name, index) => name !== undefined && names.indexOf(name) < index)
  if (twice !== undefined)
    throw invalidOption("tools", `Two tools are named ${twice}: every tool needs a name of its own.`)
}
