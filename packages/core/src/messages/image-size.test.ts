import { describe, expect, test } from "vitest"
import { readImageSize } from "./media.ts"

const bytes = (length: number, fill: (buffer: Buffer) => void) => {
  const buffer = Buffer.alloc(length)
  fill(buffer)
  return buffer.toString("base64")
}
const webp = (chunk: string, fill: (buffer: Buffer) => void) =>
  bytes(40, (buffer) => {
    buffer.write("RIFF", 0, "latin1")
    buffer.write(`WEBP${chunk}`, 8, "latin1")
    fill(buffer)
  })
const withFillByte = bytes(40, (buffer) => {
  buffer.writeUInt16BE(0xffd8, 0)
  buffer.writeUInt16BE(0xffff, 2)
  buffer.writeUInt16BE(0xc000, 4)
  buffer.writeUInt16BE(480, 8)
  buffer.writeUInt16BE(640, 10)
})
const jpeg = (before: number) =>
  bytes(before + 40, (buffer) => {
    buffer.writeUInt16BE(0xffd8, 0)
    buffer.writeUInt16BE(0xffe1, 2) // an APP1 metadata segment comes first
    buffer.writeUInt16BE(before, 4)
    buffer.writeUInt16BE(0xffc0, 4 + before)
    buffer.writeUInt16BE(17, 6 + before)
    buffer.writeUInt16BE(480, 9 + before)
    buffer.writeUInt16BE(640, 11 + before)
  })

describe("BEY-8 image sizes from the header", () => {
  test.each([
    {
      format: "png",
      data: bytes(24, (buffer) => {
        buffer.write("\x89PNG\r\n\x1a\n", 0, "latin1")
        buffer.write("IHDR", 12, "latin1")
        buffer.writeUInt32BE(640, 16)
        buffer.writeUInt32BE(480, 20)
      }),
    },
    {
      format: "gif",
      data: bytes(10, (buffer) => {
        buffer.write("GIF89a", 0, "latin1")
        buffer.writeUInt16LE(640, 6)
        buffer.writeUInt16LE(480, 8)
      }),
    },
    {
      format: "webp",
      data: webp("VP8 ", (buffer) => {
        buffer.writeUInt16LE(640, 26)
        buffer.writeUInt16LE(480, 28)
      }),
    },
    { format: "webp", data: webp("VP8L", (buffer) => buffer.writeUInt32LE(639 | (479 << 14), 21)) },
    {
      format: "webp",
      data: webp("VP8X", (buffer) => {
        buffer.writeUIntLE(639, 24, 3)
        buffer.writeUIntLE(479, 27, 3)
      }),
    },
    { format: "jpeg", data: jpeg(60) },
    { format: "jpeg", data: jpeg(65_000) },
    { format: "jpeg", data: withFillByte },
  ])("$format", ({ format, data }) => {
    expect(readImageSize(data)).toEqual({ mediaType: `image/${format}`, width: 640, height: 480 })
  })

  test.each(["", "bm8gaW1hZ2U=", "/9j/", "not base64 at all"])("%j is not an image", (data) => {
    expect(readImageSize(data)).toBeUndefined()
  })
})
