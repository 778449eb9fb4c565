import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { canEncode, decodeText, type Encoding, encodeText } from "./text-encoding.ts"

const ENCODINGS: readonly Encoding[] = ["utf-8", "utf-8 with BOM", "utf-16le", "utf-16be"]

describe("text and its bytes", () => {
  test.each(ENCODINGS)("%s comes back as it was", (encoding) => {
    const text = "zeile\r\n第二行\n🦀\n"
    expect(decodeText(encodeText({ text, encoding }))).toEqual({ text, encoding })
  })

  test("bytes that are not UTF-8 but look written are Latin-1", () => {
    const bytes = Buffer.from("Grüße\nan alle\n", "latin1")
    expect(decodeText(bytes)).toEqual({ text: "Grüße\nan alle\n", encoding: "latin1" })
    expect(canEncode("latin1", "Grüße\n")).toBe(true)
    expect(canEncode("latin1", "第")).toBe(false)
  })

  test("zero bytes and noise are not text", () => {
    expect(decodeText(Buffer.from("a\0b"))).toBeUndefined()
    expect(decodeText(Buffer.from([0xff, 0x01, 0x02, 0x03, 0x80]))).toBeUndefined()
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x41]))).toBeUndefined() // half of a UTF-16 code unit
  })

  test("all that is decoded is encoded to the same bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (given) => {
        const bytes = Buffer.from(given)
        const decoded = decodeText(bytes)
        if (decoded) expect(encodeText(decoded)).toEqual(bytes)
      }),
    )
  })
})
