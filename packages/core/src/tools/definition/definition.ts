/** The definition of a tool for the model: name, description, and the input schema as JSON Schema. */

import { errorMessage } from "../../base/errors.ts"
import { optionalPackage } from "../../base/files.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { type InputSchema, isStandardSchema, type JsonSchema, type StandardSchema } from "../../messages/tool-input.ts"
import type { Tool } from "../tool.ts"
import { asObjectSchema } from "./object-schema.ts"
import { isZod3, zod3ToJsonSchema } from "./zod-3.ts"

const TARGET = "draft-2020-12" // the JSON Schema version that the API supports

export async function toolDefinition({ name, description, inputSchema }: Tool): Promise<ToolDefinition> {
  try {
    return { name, description, input_schema: { ...asObjectSchema(await toJsonSchema(inputSchema)) } }
  } catch (error) {
    throw new Error(`The \`inputSchema\` of the tool ${name} cannot be sent to a model: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

/** Converts a schema with its own library, so that descriptions and constraints survive. */
async function toJsonSchema(schema: InputSchema): Promise<JsonSchema> {
  if (!isStandardSchema(schema)) return schema
  const { vendor, jsonSchema } = schema["~standard"] as StandardSchema["~standard"] & {
    readonly jsonSchema?: Converter
  }
  if (jsonSchema) return jsonSchema.input({ target: TARGET }) // zod from 4.2, arktype from 2.1.28
  if (isZod3(schema)) return zod3ToJsonSchema(schema)
  if (vendor === "zod") {
    const { zod4ToJsonSchema } = await import("./zod-4.ts")
    return zod4ToJsonSchema(schema)
  }
  if (vendor === "valibot") return valibotToJsonSchema(schema)
  if (hasOwnConverter(schema)) return schema.toJsonSchema() // arktype before 2.1.28
  throw new Error(`${vendor} offers no JSON Schema for it. Give \`inputSchema\` a plain JSON Schema instead.`)
}

/** Standard JSON Schema: https://standardschema.dev/json-schema */
interface Converter {
  readonly input: (options: { readonly target: string }) => JsonSchema
}

interface ValibotConverter {
  toJsonSchema(schema: StandardSchema, options: { readonly typeMode: "input"; readonly target: string }): JsonSchema
}

async function valibotToJsonSchema(schema: StandardSchema): Promise<JsonSchema> {
  const converter = await optionalPackage<ValibotConverter>("@valibot/to-json-schema", "valibot needs")
  return converter.toJsonSchema(schema, { typeMode: "input", target: TARGET })
}

function hasOwnConverter(schema: object): schema is { toJsonSchema(): JsonSchema } {
  return "toJsonSchema" in schema && typeof schema.toJsonSchema === "function"
}
