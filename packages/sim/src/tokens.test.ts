/** Token counting: the rules, the shortcuts, and that a repeated prefix costs almost nothing. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, test } from "vitest"
import { countText, createTokenCounter, takeTokens } from "./tokens.ts"

const counter = createTokenCounter()
const size = (block: object) => counter.block(block as never).tokens

describe("BEY-8 tokens", () => {
  test("text is counted with o200k", () => {
    expect(countText("")).toBe(0)
    expect(countText("Hello world")).toBe(2)
    expect(size({ type: "text", text: "Hello world" })).toBe(2)
  })

  test("text that looks like a control token is text", () => {
    expect(countText("<|endoftext|>")).toBeGreaterThan(1)
  })

  test("long unbroken runs are counted in pieces, so the time does not grow with the square", () => {
    const run = "internationalisation".repeat(150)
    const pieces = countText(run.slice(0, 2_048)) + countText(run.slice(2_048))
    expect(countText(run)).toBe(pieces)
    expect(countTokens(run)).not.toBe(pieces) // counted as one chunk, the number would differ
    expect(countText("x".repeat(200_000))).toBeGreaterThan(1000)
    expect(countText("字".repeat(50_000))).toBeGreaterThan(1000)
  })

  test("half a surrogate pair does no harm", () => {
    expect(countText("\ud83e")).toBeGreaterThan(0)
    expect(countText("🪨".repeat(2049))).toBeGreaterThan(0)
  })

  test("other blocks add 8, tools 12", () => {
    expect(size({ type: "tool_result", tool_use_id: "t", content: "Hello world" })).toBe(8 + 2)
    expect(size({ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "Hello world" }] })).toBe(
      8 + 2,
    )
    expect(size({ type: "thinking", thinking: "Hello world", signature: "long" })).toBe(8 + 2)
    expect(size({ type: "tool_use", id: "t", name: "look", input: {} })).toBe(8 + countText("look") + countText("{}"))
    const tool = { name: "look", input_schema: { type: "object" } }
    expect(counter.tool(tool).tokens).toBe(12 + countText(JSON.stringify(tool)))
  })

  test("images by their pixels, at most 1,600; 1,600 if the size is unknown", () => {
    const png = Buffer.alloc(32)
    png.write("\x89PNG\r\n\x1a\n", 0, "latin1")
    png.write("IHDR", 12, "latin1")
    const image = (width: number, height: number) => {
      png.writeUInt32BE(width, 16)
      png.writeUInt32BE(height, 20)
      return { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } }
    }
    expect(size(image(750, 100))).toBe(8 + 100)
    expect(size(image(4000, 4000))).toBe(8 + 1600)
    expect(size({ type: "image", source: { type: "url", url: "http://localhost/a.png" } })).toBe(8 + 1600)
  })

  test("a PDF by its pages", () => {
    const data = Buffer.from("%PDF-1.4 /Type /Pages /Type /Page /Type /Page").toString("base64")
    expect(size({ type: "document", source: { type: "base64", media_type: "application/pdf", data } })).toBe(
      8 + 2 * 1500,
    )
  })

  test("cache breakpoints change neither hash nor size", () => {
    const block = { type: "text", text: "Hello" }
    expect(counter.block({ ...block, cache_control: { type: "ephemeral" } })).toEqual(counter.block(block))
  })

  test("the start of a text, by tokens", () => {
    expect(takeTokens("one two three four", 2)).toBe("one two")
    expect(takeTokens("one two", 9)).toBe("one two")
    const long = "stone ".repeat(3000).trim()
    expect(countText(takeTokens(long, 1000))).toBe(1000)
  })

  test("a block that was counted before is not counted again", () => {
    const fresh = createTokenCounter()
    const timesRead = () => {
      let times = 0
      const block = {
        type: "text",
        get text() {
          times++
          return "many words"
        },
      }
      expect(fresh.block(block as never).tokens).toBe(2)
      return times
    }
    expect(timesRead()).toBe(3) // once each for the outline, the hash and the count
    expect(timesRead()).toBe(1) // for the outline only
  })
})
