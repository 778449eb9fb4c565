import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { z as z3 } from "zod-3"
import type { InputSchema, JsonSchema } from "../../messages/tool-input.ts"
import { defineTool } from "../define-tool.ts"
import { toolDefinition } from "./definition.ts"

async function inputSchema(schema: InputSchema): Promise<JsonSchema> {
  const tool = defineTool({ name: "draw", description: "", inputSchema: schema, execute: () => "" })
  return ((await toolDefinition(tool)) as { input_schema: JsonSchema }).input_schema
}

/** Schemas of a circle or a square, distinguished by `kind`. */
const unions: Record<string, InputSchema> = {
  "zod 4": z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), radius: z.number() }),
    z.object({ kind: z.literal("square"), side: z.number(), color: z.string().optional() }),
  ]),
  "zod 4 union": z.union([
    z.object({ kind: z.literal("circle"), radius: z.number() }),
    z.object({ kind: z.literal("square"), side: z.number(), color: z.string().optional() }),
  ]),
  "zod 3": z3.discriminatedUnion("kind", [
    z3.object({ kind: z3.literal("circle"), radius: z3.number() }),
    z3.object({ kind: z3.literal("square"), side: z3.number(), color: z3.string().optional() }),
  ]),
  valibot: v.variant("kind", [
    v.object({ kind: v.literal("circle"), radius: v.number() }),
    v.object({ kind: v.literal("square"), side: v.number(), color: v.optional(v.string()) }),
  ]),
  arktype: type({ kind: "'circle'", radius: "number" }).or({ kind: "'square'", side: "number", "color?": "string" }),
  "JSON Schema": {
    $defs: {
      circle: {
        type: "object",
        properties: { kind: { const: "circle" }, radius: { type: "number" } },
        required: ["kind", "radius"],
      },
    },
    anyOf: [
      { $ref: "#/$defs/circle" },
      {
        type: "object",
        properties: { kind: { const: "square" }, side: { type: "number" }, color: { type: "string" } },
        required: ["kind", "side"],
      },
      { type: "null" },
    ],
  },
}

describe("a union at the top becomes one object the API accepts", () => {
  test.each(Object.entries(unions))("%s", async (_, schema) => {
    const { type: kind, properties, required, description, anyOf, oneOf, allOf } = await inputSchema(schema)
    expect({ kind, anyOf, oneOf, allOf }).toEqual({ kind: "object" })
    expect(properties).toMatchObject({
      kind: { enum: ["circle", "square"] },
      radius: { type: "number" },
      side: { type: "number" },
      color: { type: "string" },
    })
    expect(required).toEqual(["kind"])
    expect(
      String(description)
        .split("\n")
        .map((line) => [...line.matchAll(/\w+/g)].map(([word]) => word).toSorted()),
    ).toEqual([
      ["Use", "exactly", "forms", "of", "one", "these"],
      ["circle", "kind", "radius"],
      ["color", "kind", "optional", "side", "square"],
    ])
  })

  test("a property that differs between the forms accepts all of them", async () => {
    const schema = z.union([z.object({ at: z.string() }), z.object({ at: z.number().describe("A line.") })])
    expect((await inputSchema(schema)).properties).toEqual({
      at: { anyOf: [{ type: "string" }, { type: "number", description: "A line." }] },
    })
  })

  test("an intersection requires the properties of both", async () => {
    const schema = z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))
    expect(await inputSchema(schema)).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      required: ["a", "b"],
    })
  })
})

test("a schema that is no object is refused with the tool's name", async () => {
  await expect(inputSchema(z.string())).rejects.toThrow(
    "The `inputSchema` of the tool draw cannot be sent to a model: a tool's input is an object, but the schema describes string.",
  )
  await expect(inputSchema(z.object({ at: z.date() }))).rejects.toThrow(/tool draw cannot be sent to a model: Date/)
  const unknown = { "~standard": { version: 1 as const, vendor: "mine", validate: (value: unknown) => ({ value }) } }
  await expect(inputSchema(unknown)).rejects.toThrow(/mine offers no JSON Schema.*plain JSON Schema/)
})

test("zod 4.0 and 4.1, which offer no Standard JSON Schema, keep their descriptions", async () => {
  const schema = z.object({ city: z.string().describe("Its name.") })
  const { validate } = schema["~standard"]
  Object.defineProperty(schema, "~standard", { value: { version: 1, vendor: "zod", validate } })
  expect(await inputSchema(schema)).toEqual({
    type: "object",
    properties: { city: { type: "string", description: "Its name." } },
    required: ["city"],
  })
})

test("zod 3 schemas are described as far as JSON Schema goes", async () => {
  interface Tree {
    readonly name: string
    readonly children?: readonly Tree[] | undefined
  }
  const tree: z3.ZodType<Tree> = z3.lazy(() => z3.object({ name: z3.string(), children: z3.array(tree).optional() }))
  const Direction = { up: 0, down: 1, 0: "up", 1: "down" } as const
  const schema = z3
    .object({
      name: z3.string().min(1).max(9).regex(/^\w+$/).describe("A name."),
      mail: z3.string().email().nullable(),
      count: z3.number().int().positive().max(5),
      share: z3.number().gte(0).multipleOf(0.5).optional(),
      flag: z3.boolean().default(false),
      mode: z3.enum(["a", "b"]),
      direction: z3.nativeEnum(Direction),
      list: z3.array(z3.string()).min(1).max(3),
      pair: z3.tuple([z3.string(), z3.number()]),
      map: z3.record(z3.number()),
      either: z3.union([z3.string(), z3.null()]),
      both: z3.object({ x: z3.string() }).and(z3.object({ y: z3.string() })),
      trimmed: z3
        .string()
        .transform((text) => text.trim())
        .pipe(z3.string()),
      branded: z3.string().catch("").brand("id").readonly(),
      when: z3.date(),
      tree,
    })
    .strict()
  expect(await inputSchema(schema)).toMatchSnapshot()
})
