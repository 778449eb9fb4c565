import { describe, expect, it } from "vitest"
import { handleFor, handleOf } from "./handles.ts"

describe("BEY-1 handles", () => {
  it("are ten digits of the message and the numbers of the blocks", () => {
    const uuid = "0198f2f0-1b2c-7000-8000-00c3f09c1a2b"
    expect(handleOf(uuid)).toBe("c3f09c1a2b")
    expect(handleOf(uuid, 3)).toBe("c3f09c1a2b.3")
    expect(handleFor(`${uuid}.3.1`)).toBe("c3f09c1a2b.3.1")
  })

  it("are as short for an id of another form", () => {
    expect(handleOf("msg-1")).toMatch(/^[0-9a-f]{10}$/)
    expect(handleOf("msg-1")).not.toBe(handleOf("msg-2"))
  })
})
