import { describe, expect, test } from "vitest"
import { handleFor, handleOf, isShortHandle, parseHandle } from "./media.ts"

describe("BEY-1 handles", () => {
  test("are ten digits of the message and the numbers of the blocks", () => {
    const uuid = "0198f2f0-1b2c-7000-8000-00c3f09c1a2b"
    expect(handleOf(uuid)).toBe("c3f09c1a2b")
    expect(handleOf(uuid, 3)).toBe("c3f09c1a2b.3")
    expect(handleFor(`${uuid}.3.1`)).toBe("c3f09c1a2b.3.1")
  })

  test("are as short for an id of another form", () => {
    expect(handleOf("msg-1")).toMatch(/^[0-9a-f]{10}$/)
    expect(handleOf("msg-1")).not.toBe(handleOf("msg-2"))
  })

  test.each([
    ["c3f09c1a2b", { message: "c3f09c1a2b", blocks: [] }],
    ["c3f09c1a2b.3", { message: "c3f09c1a2b", blocks: [3] }],
    ["c3f09c1a2b.3.1", { message: "c3f09c1a2b", blocks: [3, 1] }],
    ["3f09c1a2-b43f-809c-8a2b-c3f09c1a2b3f.0", { message: "3f09c1a2-b43f-809c-8a2b-c3f09c1a2b3f", blocks: [0] }],
    ["agent-1/c3f09c1a2b.0", { agent: "agent-1", message: "c3f09c1a2b", blocks: [0] }],
  ])("%s is read back", (text, handle) => {
    expect(parseHandle(text)).toEqual(handle)
  })

  test.each(["", " ", ".1", "u.", "u.x", "u.1.", "u.1.2.3", "u.-1", "u.1 ", "../u.1", "a/b/c", "a b"])(
    "%j is no handle",
    (text) => {
      expect(parseHandle(text)).toBeUndefined()
    },
  )

  test("only ten hex digits are a short one", () => {
    expect(["c3f09c1a2b", "c3f09c1a2", "C3F09C1A2B", "msg-1"].map(isShortHandle)).toEqual([true, false, false, false])
  })
})
