import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isWhole } from "../../../../test/size.ts"
import { scratchDirectory } from "../../../../test/tool-context.ts"
import { BoundedOutput, safeText } from "./bounded-output.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("bounded output", () => {
  it("text that fits comes back whole, however it was cut into chunks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const output = new BoundedOutput({ characters: 2_000 })
        const all = bytes(text)
        for (let at = 0; at < all.length; at += size) output.append(all.slice(at, at + size))
        output.finish()
        expect(output.take()).toEqual({ text: safeText(text), omitted: 0 })
      }),
    )
  })

  it("of text that does not fit, beginning and end are kept, with how much is not", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 60 }), (chunks) => {
        const output = new BoundedOutput({ characters: 40 })
        for (const chunk of chunks) output.append(bytes(chunk))
        const { text, omitted } = output.take()
        expect(text.isWellFormed()).toBe(true)
        expect(text.length).toBeLessThanOrEqual(40 + (omitted > 0 ? 60 : 0))
      }),
    )
  })

  it.runIf(isWhole)("LOOP-3 however much comes, no more than beginning and end is held", () => {
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc") as () => void
    const held = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const output = new BoundedOutput({ characters: 30_000 })
    const chunk = bytes("x".repeat(64 * 1024))
    const before = held()
    for (let i = 0; i < 500; i++) output.append(chunk)
    expect(held() - before).toBeLessThan(4 * 1024 * 1024) // of 32 MB
    expect(output.take().omitted).toBe(500 * chunk.length - 30_000)
  })

  it("a piece begins where the last one ended", () => {
    const output = new BoundedOutput({ characters: 100 })
    output.append(bytes("one"))
    expect(output.take().text).toBe("one")
    output.append(bytes("two").slice(0, 2))
    expect(output.take().text).toBe("tw")
    output.append(Uint8Array.of(0xe2, 0x82))
    expect(output.take().text).toBe("")
    output.append(Uint8Array.of(0xac))
    expect(output.take().text).toBe("€")
  })

  it("writes each piece that was cut to a file of its own", () => {
    const directory = scratchDirectory()
    const output = new BoundedOutput({ characters: 10, directory, name: "x" })
    for (const letter of ["a", "b"]) {
      for (let i = 0; i < 10; i++) output.append(bytes(letter.repeat(5)))
      const { file, omitted } = output.take()
      expect(omitted).toBe(40)
      expect(readFileSync(file!, "utf8")).toBe(letter.repeat(50))
    }
  })

  it("LOOP-3 a file that is full says how much of the output it has", () => {
    const directory = scratchDirectory()
    const output = new BoundedOutput({ characters: 10, directory, fileCharacters: 30 })
    for (let i = 0; i < 10; i++) output.append(bytes("a".repeat(5)))
    const { file, text } = output.take()
    expect(readFileSync(file!, "utf8")).toHaveLength(30)
    expect(text).toContain("left out here; the first 30 characters of all are in ")
  })

  it("goes on without a file where none can be written", () => {
    const file = join(scratchDirectory(), "file")
    writeFileSync(file, "")
    const output = new BoundedOutput({ characters: 10, directory: join(file, "below") })
    output.append(bytes("a".repeat(50)))
    expect(output.take()).toMatchObject({ omitted: 40, text: "aaaaa\n[… 40 characters left out here …]\naaaaa" })
  })
})
