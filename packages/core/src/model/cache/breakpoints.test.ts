import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import type { Block } from "../../messages/blocks.ts"
import { exactInputOf, withExactInput } from "../../messages/exact-json.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { validateRequest } from "../../messages/validate/validator.ts"
import { findModel } from "../../tokens/models.ts"
import { serialiseRequest } from "../../views/context/request.ts"
import { placeBreakpoints } from "./breakpoints.ts"

type Message = ModelRequest["messages"][number]

const MODEL = "claude-opus-5"
const text = (words: string): Block => ({ type: "text", text: words })
const call = (id: string): Block => ({ type: "tool_use", id, name: "Read", input: {} })
const result = (id: string): Block => ({ type: "tool_result", tool_use_id: id, content: "…" })
const thinking: Block = { type: "thinking", thinking: "Hm.", signature: "s" }
const user = (...content: Block[]): Message => ({ role: "user", content })
const assistant = (...content: Block[]): Message => ({ role: "assistant", content })
const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: "object" as const }, ...more })

const request = (messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: MODEL,
  max_tokens: 100,
  tools: [tool("Read"), tool("Write")],
  system: [text("You help."), text("Be brief.")] as never,
  messages,
  ...more,
})

/** Paths of the breakpoints: `tools.1`, `messages.0.content.2`, … */
function breakpointsIn(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return []
  const here = "cache_control" in value && value.cache_control ? [path] : []
  return [
    ...here,
    ...Object.entries(value).flatMap(([key, item]) => breakpointsIn(item, path ? `${path}.${key}` : key)),
  ]
}
const withoutBreakpoints = (placed: ModelRequest) =>
  serialiseRequest(placed).replaceAll(/,"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}/g, "")

const TURN = [user(text("a")), assistant(thinking, call("toolu_1")), user(result("toolu_1"), text("b"))]

describe("CACHE-3 breakpoints", () => {
  test("tools, system, the end of the previous request, the end of this one", () => {
    expect(breakpointsIn(placeBreakpoints(request(TURN)))).toEqual([
      "tools.1",
      "system.1",
      "messages.0.content.0",
      "messages.2.content.1",
    ])
  })

  test("the first request has no previous one; without tools and system there are fewer", () => {
    const { tools: _, system: __, ...bare } = request([user(text("a"), text("b"))])
    expect(breakpointsIn(placeBreakpoints(bare))).toEqual(["messages.0.content.1"])
  })

  test("never on thinking, and not on a tool that is deferred", () => {
    const messages = [user(text("a")), assistant(text("b"), thinking)]
    const tools = [tool("Read"), tool("Rare", { defer_loading: true })] as never
    expect(breakpointsIn(placeBreakpoints(request(messages, { tools })))).toEqual([
      "tools.0",
      "system.1",
      "messages.0.content.0",
      "messages.1.content.0",
    ])
  })

  test("a fork stops where its parent's last request ended", () => {
    const fork = [...TURN, assistant(text("c")), user(text("Summarise all that."))]
    const breakpoints = ["tools.1", "system.1", "messages.2.content.1"]
    expect(breakpointsIn(placeBreakpoints(request(fork), { writesCache: false }))).toEqual(breakpoints)
    const further = [...fork, assistant(text("d")), user(text("More."))]
    const options = { writesCache: false, sharedMessages: TURN.length }
    expect(breakpointsIn(placeBreakpoints(request(further), options))).toEqual(breakpoints)
  })

  test("breakpoints that came with the content do not count, also nested ones", () => {
    const mark = { cache_control: { type: "ephemeral" as const } }
    const nested = { ...result("toolu_1"), content: [{ ...text("x"), ...mark }] } as Block
    const marked = [{ ...text("a"), ...mark } as Block, { ...text("b"), ...mark } as Block]
    const messages = [user(...marked), assistant(call("toolu_1")), user(nested, text("c"))]
    expect(breakpointsIn(placeBreakpoints(request(messages)))).toEqual([
      "system.1",
      "messages.0.content.0",
      "messages.0.content.1",
      "messages.2.content.1",
    ])
  })

  test("instructions before the first words have a place of their own, which the system prompt's leaves free", () => {
    const [, ...rest] = TURN
    const messages = [user(text("The project's instructions."), text("a")), ...rest]
    const breakpoints = ["messages.0.content.0", "messages.0.content.1", "messages.2.content.1"]
    expect(breakpointsIn(placeBreakpoints(request(messages)))).toEqual(["system.1", ...breakpoints])
    const { system: _, ...unsaid } = request(messages)
    expect(breakpointsIn(placeBreakpoints(unsaid))).toEqual(["tools.1", ...breakpoints.slice(1)])
  })

  test("strings become blocks everywhere, so that a message's bytes do not depend on its place", () => {
    const messages: Message[] = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ]
    const placed = placeBreakpoints(request(messages, { system: "You help." }))
    expect(withoutBreakpoints(placed)).toBe(
      serialiseRequest(
        request([user(text("a")), assistant(text("b")), user(text("c"))], { system: [text("You help.")] as never }),
      ),
    )
  })

  test("automatic caching is left to the server", () => {
    const automatic = request(TURN, { cache_control: { type: "ephemeral" } })
    expect(placeBreakpoints(automatic)).toBe(automatic)
  })

  test("a call keeps its spelling under a mark", () => {
    const exact = withExactInput(call("toolu_1") as { input: unknown }, '{"n":1.0}') as Block
    const placed = placeBreakpoints(request([user(text("a")), assistant(exact)]))
    expect(exactInputOf(placed.messages[1]!.content[0] as object)).toBe('{"n":1.0}')
    expect(breakpointsIn(placed)).toContain("messages.1.content.0")
  })
})

describe("CACHE-8 the lifetime of what is cached", () => {
  const ttlsIn = (placed: ModelRequest) =>
    [...JSON.stringify(placed).matchAll(/"cache_control":(\{[^}]*\})/g)].map(
      ([, mark]) => (JSON.parse(mark!) as { ttl?: string }).ttl ?? "5m",
    )

  test.each([
    ["5m", ["5m", "5m", "5m", "5m"]],
    ["1h", ["1h", "1h", "1h", "1h"]],
    ["prompt-1h", ["1h", "1h", "5m", "5m"]],
  ] as const)("%s: tools, system, then the messages; an hour never comes after five minutes", (lifetime, ttls) => {
    const placed = placeBreakpoints(request(TURN), { lifetime })
    expect(ttlsIn(placed)).toEqual(ttls)
    expect(validateRequest({ request: placed, model: findModel(MODEL).facts })).toEqual([])
  })

  test("the project's instructions live as long as the prompt", () => {
    const messages = [user(text("The project's instructions."), text("a")), assistant(text("b")), user(text("c"))]
    const placed = placeBreakpoints(request(messages), { lifetime: "prompt-1h" })
    expect(ttlsIn(placed)).toEqual(["1h", "1h", "5m", "5m"])
  })

  test("a fork asks for the same lifetime as its parent", () => {
    expect(ttlsIn(placeBreakpoints(request(TURN), { lifetime: "1h", writesCache: false }))).toEqual(["1h", "1h", "1h"])
  })
})

describe("CACHE-3 properties", () => {
  const blockCount = fc.integer({ min: 1, max: 30 })
  /** Turns as the API expects them: a response with thinking and calls, then their results and text. */
  const conversation = fc
    .array(fc.record({ calls: fc.integer({ min: 0, max: 30 }), words: blockCount, thinks: fc.boolean() }), {
      maxLength: 6,
    })
    .map((turns) => [
      user(text("Begin.")),
      ...turns.flatMap(({ calls, words, thinks }, turn) => {
        const ids = Array.from({ length: calls }, (_, i) => `toolu_${turn}_${i}`)
        const texts = Array.from({ length: words }, (_, i) => text(`${turn}.${i}`))
        return [
          assistant(...(thinks ? [thinking] : []), text("So."), ...ids.map(call)),
          user(...ids.map(result), ...texts),
        ]
      }),
    ])
  const given = { messages: conversation, preamble: fc.boolean(), tools: fc.boolean(), system: fc.boolean() }
  const requests = fc.record(given).map((given) => {
    const [first, ...later] = given.messages
    const opening = given.preamble ? user(text("Instructions."), ...(first!.content as Block[])) : first!
    const { tools, system, ...rest } = request([opening, ...later])
    return { ...rest, ...(given.tools ? { tools } : {}), ...(given.system ? { system } : {}) } as ModelRequest
  })
  const options = fc.record({ writesCache: fc.boolean(), lifetime: fc.constantFrom("5m", "1h", "prompt-1h") })

  test.runIf(isWhole)(
    "at most four, accepted by the validator, nothing changed but breakpoints, the input untouched",
    () => {
      fc.assert(
        fc.property(requests, options, (given, how) => {
          const before = serialiseRequest(given)
          const placed = placeBreakpoints(given, how)
          expect(breakpointsIn(placed).length).toBeLessThanOrEqual(4)
          expect(validateRequest({ request: placed, model: findModel(MODEL).facts })).toEqual([])
          expect(withoutBreakpoints(placed)).toBe(before)
          expect(serialiseRequest(given)).toBe(before)
        }),
      )
    },
  )

  test("a fork sets no mark that its parent did not set", () => {
    fc.assert(
      fc.property(requests, fc.boolean(), (parent, knowsParent) => {
        const messages = [...parent.messages, assistant(text("So.")), user(text("Now aside."))]
        const shared = knowsParent ? { sharedMessages: parent.messages.length } : {}
        const fork = placeBreakpoints({ ...parent, messages }, { writesCache: false, ...shared })
        const own = breakpointsIn(placeBreakpoints(parent))
        expect(own).toEqual(expect.arrayContaining(breakpointsIn(fork)))
        expect(breakpointsIn(fork)).toContain(own.at(-1))
      }),
    )
  })
})
