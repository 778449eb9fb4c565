/** Values made for JSON schemas fit them, as zod judges. */
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type JsonSchema, sampleJson } from "./json-sample.ts"

const words = { words: "some words", optional: true }

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}
const tree: z.ZodType<Tree> = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
}) as never

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  texts: z.object({
    plain: z.string(),
    long: z.string().min(30),
    short: z.string().max(3),
    pattern: z.string().regex(/^[A-Z]+-\d+$/),
  }),
  formats: z.object({
    email: z.email(),
    url: z.url(),
    uuid: z.uuid(),
    moment: z.iso.datetime(),
    day: z.iso.date(),
    address: z.ipv4(),
  }),
  numbers: z.object({
    any: z.number(),
    whole: z.int().min(5).max(9),
    between: z.number().gt(0).lt(1),
    negative: z.int().max(-3),
    step: z.number().multipleOf(7).min(10),
  }),
  choices: z.object({
    color: z.enum(["red", "blue"]),
    exact: z.literal("yes"),
    nullable: z.string().nullable(),
    optional: z.boolean().optional(),
    either: z.union([z.object({ kind: z.literal("a"), a: z.number() }), z.object({ kind: z.literal("b") })]),
    both: z.intersection(z.object({ x: z.string() }), z.object({ y: z.number() })),
  }),
  arrays: z.object({
    few: z.array(z.string()).min(3),
    none: z.array(z.string()).max(0),
    pair: z.tuple([z.string(), z.number()]),
    map: z.record(z.string(), z.number()),
  }),
  "a tree that refers to itself": tree,
}

describe("BEY-8 values for a JSON schema", () => {
  test.each(Object.entries(SCHEMAS))("BEY-8 %s", (_, schema) => {
    const json = z.toJSONSchema(schema) as JsonSchema
    for (const optional of [true, false]) {
      const value = sampleJson(json, { ...words, optional })
      expect(schema.safeParse(value), JSON.stringify(value)).toMatchObject({ success: true })
      expect(sampleJson(json, { ...words, optional })).toEqual(value)
    }
  })

  test("BEY-8 references to $defs, allOf and a list of types", () => {
    const schema = {
      type: "object",
      required: ["person", "age", "tags"],
      properties: {
        person: { allOf: [{ $ref: "#/$defs/named" }, { properties: { nick: { const: "al" } }, required: ["nick"] }] },
        age: { type: ["null", "integer"], minimum: 18 },
        tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 2, uniqueItems: true },
        later: { type: "string" },
      },
      $defs: {
        named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        tag: { type: "string" },
      },
    }
    expect(sampleJson(schema, { words: "Al", optional: false })).toEqual({
      person: { name: "Al", nick: "al" },
      age: 18,
      tags: ["Al", "Al 2"],
    })
  })

  test("BEY-8 a schema without any value", () => {
    const endless = { $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } } }
    expect(sampleJson({ ...endless, $ref: "#/$defs/a" }, words)).toBeUndefined()
    expect(sampleJson({ $ref: "#/$defs/missing" }, words)).toBeUndefined()
  })
})
