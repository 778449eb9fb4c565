import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { project } from "../projection.ts"
import { blockAt, blockIndex, parseAddress } from "./decisions.ts"

describe("BEY-1 the archive", () => {
  test("knows the address of every call and its result, and how many blocks there are", () => {
    const { messages } = conversation()
      .user("go")
      .respond([
        { type: "text", text: "both" },
        { type: "tool_use", id: "a", name: "Read", input: {} },
        { type: "tool_use", id: "b", name: "Read", input: {} },
      ])
      .user([
        { type: "tool_result", tool_use_id: "b", content: "B" },
        { type: "tool_result", tool_use_id: "a", content: "A" },
      ])
      .progress()
    const [, calls, results] = messages
    expect(project(blockIndex, messages)).toEqual({
      blocks: 6,
      messages: 4,
      calls: new Map([
        ["a", `${calls!.uuid}.1`],
        ["b", `${calls!.uuid}.2`],
      ]),
      results: new Map([
        ["b", `${results!.uuid}.0`],
        ["a", `${results!.uuid}.1`],
      ]),
    })
  })

  test("holds addresses since the last boundary only, but counts everything", () => {
    const { messages } = conversation().call("Read").result("x").boundary().call("Bash").result("y")
    const { blocks, messages: count, calls, results } = project(blockIndex, messages)
    expect({ blocks, count }).toEqual({ blocks: 4, count: 5 })
    expect([...calls.keys(), ...results.keys()]).toEqual(["toolu_1", "toolu_1"])
  })
})

describe("BEY-1 addresses", () => {
  test.each([
    ["u.0", { uuid: "u", block: 0 }],
    ["u.12.3", { uuid: "u", block: 12, inner: 3 }],
  ])("%s", (address, parsed) => {
    expect(parseAddress(address)).toEqual(parsed)
  })

  test.each(["", "u", "u.", ".1", "u.x", "u.1.", "u.1.2.3", "u.-1", "u.1 ", "../u.1"])(
    "%j is no address",
    (address) => {
      expect(parseAddress(address)).toBeUndefined()
    },
  )

  test("lead to the block itself, inside a result too; to nothing where there is nothing", () => {
    const inner = { type: "text" as const, text: "inner" }
    const result = { type: "tool_result" as const, tool_use_id: "a", content: [inner] }
    const [user, spoken, attached] = conversation()
      .user([result])
      .user("just text")
      .attach({ type: "memory", path: "m", content: "c" }).messages
    expect(blockAt(user!, { uuid: "", block: 0 })).toBe(result)
    expect(blockAt(user!, { uuid: "", block: 0, inner: 0 })).toBe(inner)
    expect(blockAt(user!, { uuid: "", block: 0, inner: 1 })).toBeUndefined()
    expect(blockAt(user!, { uuid: "", block: 1 })).toBeUndefined()
    expect(blockAt(spoken!, { uuid: "", block: 0 })).toEqual({ type: "text", text: "just text" })
    expect(blockAt(spoken!, { uuid: "", block: 0, inner: 0 })).toBeUndefined()
    expect(blockAt(attached!, { uuid: "", block: 0 })).toBeUndefined()
  })
})
