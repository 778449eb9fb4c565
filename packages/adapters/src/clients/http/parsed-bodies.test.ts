import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../../../core/test/size.ts"
import { ParsedBodies } from "./parsed-bodies.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? 100)
const PADDING = "x".repeat(70_000)

const message = fc.record({
  role: fc.constantFrom("user", "assistant", "system"),
  content: fc.oneof(
    fc.string(),
    fc.constantFrom('"', "\\", '\\"', "]}", ',"messages":[{', "ü🙂", "\u0000", "\\u006d"),
    fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }), { maxLength: 3 }),
  ),
})
const change = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), message }),
  fc.record({ kind: fc.constant("cut" as const), to: fc.nat(8) }),
  fc.record({ kind: fc.constant("edit" as const), at: fc.nat(8), message }),
  fc.record({ kind: fc.constant("break" as const), at: fc.nat(), byte: fc.constantFrom(...']},[{":1 x\\') }),
  fc.record({ kind: fc.constant("again" as const), key: fc.constantFrom('"messages"', '"\\u006dessages"', '"other"') }),
)

const outcome = (parse: () => unknown): unknown => {
  try {
    return { value: parse() }
  } catch {
    return "not JSON"
  }
}

describe("BEY-11: bodies that grow", () => {
  test.runIf(isWhole)("are parsed as JSON.parse parses them, whatever came before", () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 12 }),
        fc.constantFrom(0, 1),
        fc.boolean(),
        (changes, indent, isFirst) => {
          const bodies = new ParsedBodies(10_000_000)
          let messages: unknown[] = [{ role: "user", content: PADDING }]
          for (const each of changes) {
            if (each.kind === "add") messages = [...messages, each.message]
            if (each.kind === "cut") messages = messages.slice(0, 1 + each.to)
            if (each.kind === "edit" && messages.length > 1)
              messages = messages.with(1 + (each.at % (messages.length - 1)), each.message)
            const rest = { tools: [{ name: "a" }], stream: true }
            let text = JSON.stringify(
              isFirst ? { messages, ...rest } : { model: [1, "}"], n: -1, ...rest, messages },
              null,
              indent,
            )
            if (each.kind === "again") text = `${text.slice(0, -1)},${each.key}:[{"role":"user"}]}`
            if (each.kind === "break") {
              const at = text.length - 1 - (each.at % Math.min(text.length, 400))
              text = text.slice(0, at) + each.byte + text.slice(at + 1)
            }
            const bytes = Buffer.from(text)
            const [ours, plain] = [outcome(() => bodies.parse(bytes)), outcome(() => JSON.parse(bytes.toString()))]
            expect(isDeepStrictEqual(ours, plain), text.replace(PADDING, "…")).toBe(true)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  test("keep their known messages as the same objects", () => {
    const bodies = new ParsedBodies(10_000_000)
    const parse = (...contents: readonly string[]) => {
      const messages = contents.map((content) => ({ role: "user", content }))
      return (bodies.parse(Buffer.from(JSON.stringify({ model: "m", messages, tools: [] }))) as { messages: object[] })
        .messages
    }
    const first = parse(PADDING, "two", "three")
    const second = parse(PADDING, "two", "four", "five")
    expect([second[0] === first[0], second[1] === first[1]]).toEqual([true, true])
    expect(second[2]).toEqual({ role: "user", content: "four" })
    const other = parse(`y${PADDING}`, "two")
    const third = parse(PADDING, "two", "four", "five", "six")
    expect(third.slice(0, 4).every((message, at) => message === second[at])).toBe(true)
    expect(parse(`y${PADDING}`, "two", "new")[1]).toBe(other[1])
  })

  test("keep the rest of the body as the same objects while its text stays the same", () => {
    const bodies = new ParsedBodies(10_000_000)
    const parse = (contents: readonly string[], tool = "read", stream = true) => {
      const messages = [PADDING, ...contents].map((content) => ({ role: "user", content }))
      const text = JSON.stringify({ tools: [{ name: tool }], messages, metadata: { user: "one" }, stream })
      return bodies.parse(Buffer.from(text)) as { tools: object[]; metadata: object; stream: boolean }
    }
    const first = parse([])
    const second = parse(["two"])
    expect([second.tools === first.tools, second.metadata === first.metadata]).toEqual([true, true])
    expect(parse(["two", "three"], "read", false)).toMatchObject({ tools: [{ name: "read" }], stream: false })
    expect(parse(["two", "three"], "write").tools).toEqual([{ name: "write" }])
  })

  test.each(["[1,2]", '["a","ab"]', "[[1]]"])("a list of %s is parsed as a whole", (list) => {
    const bodies = new ParsedBodies(10_000_000)
    const text = (more: string) => `{"padding":"${PADDING}","messages":${list.slice(0, -1)}${more}]}`
    for (const more of ["", "3", ",4"])
      expect(outcome(() => bodies.parse(Buffer.from(text(more))))).toEqual(outcome(() => JSON.parse(text(more))))
  })

  test("only a limited number of bytes is cached", () => {
    const bodies = new ParsedBodies(150_000)
    const parse = (name: string) =>
      (bodies.parse(Buffer.from(JSON.stringify({ messages: [{ content: name + PADDING }] }))) as { messages: object[] })
        .messages[0]
    const [first, second] = [parse("a"), parse("b")]
    expect(parse("a")).toBe(first)
    parse("c")
    expect(parse("a")).toBe(first)
    expect(parse("b")).not.toBe(second)
  })
})
