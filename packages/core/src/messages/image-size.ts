/**
 * The size of a PNG, GIF, WebP or JPEG image, from the first bytes of its file.
 * Limits and token counts need only the header, so this reads no more.
 */

export interface ImageSize {
  readonly mediaType: "image/png" | "image/gif" | "image/webp" | "image/jpeg"
  readonly width: number
  readonly height: number
}

const HEAD_CHARACTERS = 88_000 // 66 KB decoded: a JPEG may start with a 64 KB segment (a thumbnail, a colour profile)

export function readImageSize(base64: string): ImageSize | undefined {
  const head = decode(base64.slice(0, HEAD_CHARACTERS))
  const size = readPng(head) ?? readGif(head) ?? readWebp(head) ?? readJpeg(head)
  if (size || base64.length <= HEAD_CHARACTERS) return size
  return readJpeg(decode(base64))
}

const decode = (base64: string) => Buffer.from(base64, "base64")
const ascii = (bytes: Buffer, from: number, to: number) => bytes.toString("latin1", from, to)

function readPng(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || ascii(bytes, 1, 4) !== "PNG" || ascii(bytes, 12, 16) !== "IHDR") return undefined
  return { mediaType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 10 || ascii(bytes, 0, 4) !== "GIF8") return undefined
  return { mediaType: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** WebP has three kinds of first chunk, each with the size in a different place. */
function readWebp(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || ascii(bytes, 0, 4) !== "RIFF" || ascii(bytes, 8, 12) !== "WEBP") return undefined
  const mediaType = "image/webp"
  switch (ascii(bytes, 12, 16)) {
    case "VP8 ":
      return { mediaType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case "VP8L": {
      const packed = bytes.readUInt32LE(21)
      return { mediaType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
    }
    case "VP8X":
      return { mediaType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** Walks the segments of a JPEG to its frame header, which has the size. */
function readJpeg(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number
    if (marker === 0xff) {
      at += 1 // a fill byte: any number of them may come before a marker
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) {
      return { mediaType: "image/jpeg", height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}
