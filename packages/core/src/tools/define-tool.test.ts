import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { z as z3 } from "zod-3"
import { call } from "../../test/tool-context.ts"
import { checkToolInput } from "../messages/tool-input.ts"
import { executeTool } from "./defaults.ts"
import { defineTool } from "./define-tool.ts"
import { toolDefinition } from "./definition/definition.ts"
import type { Tool } from "./tool.ts"

const about = { name: "weather", description: "Says what the weather is like." }

/** The same tool with the schemas of four libraries. Each `execute` compiles only if the types are inferred. */
const weather = {
  "zod 4": defineTool({
    ...about,
    inputSchema: z.object({ city: z.string().describe("Its name."), days: z.number().default(3) }),
    execute: async ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(0)}`,
  }),
  "zod 3": defineTool({
    ...about,
    inputSchema: z3.object({ city: z3.string().describe("Its name."), days: z3.number().default(3) }),
    execute: async ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(0)}`,
  }),
  valibot: defineTool({
    ...about,
    inputSchema: v.object({
      city: v.pipe(v.string(), v.description("Its name.")),
      days: v.optional(v.number(), 3),
    }),
    execute: async ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(0)}`,
  }),
  arktype: defineTool({
    ...about,
    inputSchema: type({ city: type("string").describe("Its name."), days: "number = 3" }),
    execute: async ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(0)}`,
  }),
} satisfies Record<string, Tool>

describe.each(Object.entries(weather) as [string, Tool][])("a tool with a schema of %s", (_, tool) => {
  test("has an input_schema with its descriptions", async () => {
    const { input_schema } = (await toolDefinition(tool)) as { input_schema: Record<string, unknown> }
    expect(input_schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string", description: "Its name." }, days: { type: "number" } },
      required: ["city"],
    })
    expect(input_schema).not.toHaveProperty("$schema")
  })

  test("runs with defaults filled in", async () => {
    expect(await call(tool, { city: "Rome" })).toEqual({ content: "ROME 3" })
  })

  test("says what is wrong with an input", async () => {
    expect(await checkToolInput(tool.inputSchema, { city: 5 })).toEqual({
      state: "invalid",
      reason: expect.stringMatching(/^city: .*(string|String|Its name)/),
    })
    expect(await checkToolInput(tool.inputSchema, {})).toEqual({
      state: "invalid",
      reason: expect.stringMatching(/city/),
    })
  })
})

describe("a tool with a plain JSON Schema", () => {
  const tool = defineTool({
    ...about,
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<unknown>()
      return { city, degrees: 20 }
    },
  })

  test("is sent as it is, and a missing property is named", async () => {
    expect((await toolDefinition(tool)) as unknown).toEqual({ ...about, input_schema: tool.inputSchema })
    expect(await checkToolInput(tool.inputSchema, {})).toMatchObject({ state: "invalid", reason: /^city: missing/ })
    expect(await checkToolInput(tool.inputSchema, "Rome")).toMatchObject({ state: "invalid" })
  })

  test("any JSON value it returns becomes text", async () => {
    expect(await call(tool, { city: "Rome" })).toEqual({ content: '{"city":"Rome","degrees":20}' })
  })
})

describe("types", () => {
  test("are those of the schema's output", () => {
    expectTypeOf(weather["zod 4"]).toEqualTypeOf<Tool<{ city: string; days: number }>>()
    expectTypeOf(weather["zod 3"]).toEqualTypeOf<Tool<{ city: string; days: number }>>()
    expectTypeOf(weather.valibot).toEqualTypeOf<Tool<{ city: string; days: number }>>()
    expectTypeOf(weather.arktype).toEqualTypeOf<Tool<{ city: string; days: number }>>()
    const list: readonly Tool[] = Object.values(weather)
    expect(list).toHaveLength(4)
  })
})

test("a schema may check asynchronously", async () => {
  const tool = defineTool({
    ...about,
    inputSchema: z.object({ city: z.string().refine(async (city) => city === "Rome", "unknown city") }),
    execute: ({ city }) => city,
  })
  expect(await call(tool, { city: "Rome" })).toEqual({ content: "Rome" })
  expect(await checkToolInput(tool.inputSchema, { city: "Atlantis" })).toEqual({
    state: "invalid",
    reason: "city: unknown city",
  })
})

describe("outputs", () => {
  const returning = (value: unknown) => defineTool({ ...about, inputSchema: z.object({}), execute: () => value })
  const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } }

  test.each([
    ["text", "text"],
    [
      { content: "failed", isError: true },
      { content: "failed", isError: true },
    ],
    [{ content: [image] }, { content: [image] }],
    [{ content: "an article", title: "x" }, '{"content":"an article","title":"x"}'],
    [{ content: [1, 2] }, '{"content":[1,2]}'],
    [[1, 2], "[1,2]"],
    [null, "null"],
    [undefined, ""],
  ])("%j", async (value, expected) => {
    const output = await executeTool(returning(value), {}, {} as never)
    expect(output).toEqual(typeof expected === "string" ? { content: expected } : expected)
  })
})

describe("what is missing or wrong is named", () => {
  const whole = { ...about, inputSchema: {}, execute: () => "" }
  test.each([
    [{ ...whole, name: "my tool" }, /`name`.*"my tool"/],
    [{ ...whole, name: undefined }, /`name`.*missing/],
    [{ ...whole, description: undefined }, /weather needs a `description`/],
    [{ ...whole, inputSchema: undefined }, /weather needs an `inputSchema`/],
    [{ ...whole, execute: undefined }, /weather needs `execute`/],
  ])("%j", (tool, message) => {
    expect(() => defineTool(tool as never)).toThrow(message)
  })
})
