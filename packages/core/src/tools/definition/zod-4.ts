/** JSON Schema of zod 4.0 and 4.1, which have no converter of their own. A separate module, so that only their schemas load it. */
import { toJSONSchema } from "zod/v4/core"
import type { JsonSchema, StandardSchema } from "../../messages/tool-input.ts"

/** Descriptions are read from the schemas, because the caller's zod may be another copy with its own registry. */
export function zod4ToJsonSchema(schema: StandardSchema): JsonSchema {
  return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      const { description } = zodSchema as { readonly description?: string }
      if (description !== undefined) jsonSchema.description ??= description
    },
  }) as JsonSchema
}
