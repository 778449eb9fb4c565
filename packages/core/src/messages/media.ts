/**
 * Withholds images and documents that the API would reject. A text in their place says what they were and how to recall them,
 * so one image never blocks a conversation.
 */
import { keyOf } from "../base/text.ts"
import {
  type Block,
  type Content,
  isMedia,
  isToolResult,
  type Media,
  resultBlocks,
  type TextBlock,
  toBlocks,
} from "./blocks.ts"
import { contentOf, type Message, type Uuid } from "./messages.ts"

// Handles: the short addresses that the model sees where a block was. A handle names a message by ten hex digits, and may add the number of
// a block in it, and of a block inside a tool result: `3f09c1a2b4`, `3f09c1a2b4.0`, `3f09c1a2b4.0.2`. Everything that takes a handle also
// takes the whole uuid in place of the digits.

// Of the end of the key: the beginning of some uuids is the time, and messages of one moment would share it.
// Among 100,000 messages a handle names two of them once in ten million times.
const DIGITS = 10
const SHORT = new RegExp(`^[0-9a-f]{${DIGITS}}$`)

/** The handle of a message, or of one of its blocks. */
export const handleOf = (uuid: Uuid, ...blocks: readonly number[]): string =>
  [keyOf(uuid).toString("hex").slice(-DIGITS), ...blocks].join(".")

/** The handle for the address of a block: `<uuid>.<block>`. */
export function handleFor(address: string): string {
  const [uuid, ...blocks] = address.split(".")
  return handleOf(uuid!, ...blocks.map(Number))
}

export interface Handle {
  /** The sub-agent whose conversation it is in. Absent: this one. */
  readonly agent?: string
  /** The digits, or the whole uuid. */
  readonly message: string
  /** The place of a block, and of a block in it. Empty: the whole message. */
  readonly blocks: readonly number[]
}

/** Reads `<message>`, `<message>.<block>` and `<message>.<block>.<inner block>`, also after `<agent>/`. */
export function parseHandle(text: string): Handle | undefined {
  const [, agent, message, blocks = ""] = /^(?:([^./\s][^/\s]*)\/)?([^./\s]+)((?:\.\d+){0,2})$/.exec(text) ?? []
  if (message === undefined) return undefined
  return { ...(agent === undefined ? {} : { agent }), message, blocks: blocks.split(".").slice(1).map(Number) }
}

/** Whether these are the digits of a handle, and not a whole uuid. */
export const isShort = (message: string): boolean => SHORT.test(message)

// The size of a PNG, GIF, WebP or JPEG image, from the first bytes of its file.
// Limits and token counts need only the header, so this reads no more.

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

/** The API's limits for images and documents, from its public documentation as of 2026-11. */
export interface MediaLimits {
  /** Bytes of one image as it is sent: in base64. */
  readonly imageBytes: number
  readonly imagePixels: number
  /** With more images than this in a request, each may only have `manyImagesPixels` per side. */
  readonly manyImages: number
  readonly manyImagesPixels: number
  readonly imagesPerRequest: number
  readonly documentBytes: number
  readonly documentPages: number
  /** All media of a request together. Leaves room for text below the limit of the body. */
  readonly bytesPerRequest: number
}

export const MEDIA_LIMITS: MediaLimits = {
  imageBytes: 5 * 1024 * 1024,
  imagePixels: 8_000, // each side
  manyImages: 20,
  manyImagesPixels: 2_000,
  imagesPerRequest: 100,
  documentBytes: 32 * 1024 * 1024,
  documentPages: 100,
  bytesPerRequest: 24 * 1024 * 1024,
}

/** The limit for the body of a request to the Messages API. */
export const REQUEST_BYTES = 32 * 1024 * 1024

/** One image or document of a conversation, measured. */
export interface MediaItem {
  /** Its address: `<message uuid>.<block>` or `<message uuid>.<block>.<block inside a tool result>`. */
  readonly address: string
  readonly kind: "image" | "document"
  readonly mediaType: string
  /** As sent, in base64. 0 if it is sent by reference. */
  readonly bytes: number
  readonly pixels?: { readonly width: number; readonly height: number }
  /** Its bytes are not of the kind that it says. */
  readonly isUnreadable?: true
  readonly pages?: number
}

export interface Withheld {
  readonly address: string
  readonly why: string
}

export function mediaIn(message: Message): readonly MediaItem[] {
  if (message.type !== "user" && message.type !== "assistant") return []
  return contentOf(message).flatMap((block, at) => {
    const address = `${message.uuid}.${at}`
    if (isMedia(block)) return [measure(block, address)]
    if (!isToolResult(block)) return []
    return resultBlocks(block).flatMap((inner, i) => (isMedia(inner) ? [measure(inner, `${address}.${i}`)] : []))
  })
}

/** The items that cannot be sent. Skips those withheld before. */
export function planWithholding(
  items: readonly MediaItem[],
  withheld: ReadonlySet<string>,
  limits: MediaLimits,
): readonly Withheld[] {
  const candidates = items.filter((item) => !withheld.has(item.address))
  const tooLarge = candidates.flatMap((item) => refusal(item, limits, limits.imagePixels))
  const gone = new Set(tooLarge.map(({ address }) => address))
  let images = candidates.filter((item) => item.kind === "image" && !gone.has(item.address))
  const excess = images.slice(0, Math.max(0, images.length - limits.imagesPerRequest)).map(({ address }) => ({
    address,
    why: `a request takes at most ${limits.imagesPerRequest} images`,
  }))
  images = images.slice(excess.length)
  const many =
    images.length > limits.manyImages ? images.flatMap((item) => refusal(item, limits, limits.manyImagesPixels)) : []
  const refused = [...tooLarge, ...excess, ...many]
  return [...refused, ...beyondBody(candidates, new Set(refused.map(({ address }) => address)), limits)]
}

/** The oldest media, until the rest fits into one request. */
function beyondBody(items: readonly MediaItem[], refused: ReadonlySet<string>, limits: MediaLimits): Withheld[] {
  const left = items.filter(({ address, bytes }) => bytes > 0 && !refused.has(address))
  let bytes = left.reduce((sum, item) => sum + item.bytes, 0)
  const withheld: Withheld[] = []
  for (const item of left) {
    if (bytes <= limits.bytesPerRequest) break
    withheld.push({
      address: item.address,
      why: `images and documents together are more than ${limits.bytesPerRequest} bytes`,
    })
    bytes -= item.bytes
  }
  return withheld
}

/** The text that replaces a withheld block. */
export function withheldStub(item: MediaItem, why: string): TextBlock {
  const size = item.pixels
    ? `, ${item.pixels.width}×${item.pixels.height} pixels`
    : item.pages
      ? `, ${item.pages} pages`
      : ""
  return {
    type: "text",
    text: `[${item.kind} withheld: ${item.mediaType}${size}, ${item.bytes} bytes: ${why}. Recall: ${handleFor(item.address)}]`,
  }
}

function refusal(item: MediaItem, limits: MediaLimits, sidePixels: number): Withheld[] {
  const { address, bytes, pixels, pages } = item
  if (item.isUnreadable)
    return [{ address, why: `it is not ${item.kind === "image" ? "an image" : "a document"} that the API can read` }]
  const max = item.kind === "image" ? limits.imageBytes : limits.documentBytes
  if (bytes > max) return [{ address, why: `more than ${max} bytes` }]
  if (pixels && Math.max(pixels.width, pixels.height) > sidePixels)
    return [{ address, why: `more than ${sidePixels} pixels on a side` }]
  if (pages !== undefined && pages > limits.documentPages)
    return [{ address, why: `more than ${limits.documentPages} pages` }]
  return []
}

function measure(block: Media, address: string): MediaItem {
  const source = block.source as { type: string; media_type?: string; data?: string; content?: unknown }
  const kind = block.type
  const data = source.type === "base64" && typeof source.data === "string" ? source.data : undefined
  const base = { address, kind, mediaType: source.media_type ?? source.type, bytes: data?.length ?? 0 }
  if (data === undefined)
    return source.type === "content" && !areSmall(source.content) ? { ...base, ...UNREADABLE } : base
  if (kind === "image") {
    const size = readImageSize(data)
    return size && isShown(size)
      ? { ...base, pixels: { width: size.width, height: size.height } }
      : { ...base, ...UNREADABLE }
  }
  return isPdf(data) ? { ...base, pages: pagesOf(data) } : { ...base, ...UNREADABLE }
}

const UNREADABLE = { isUnreadable: true } as const
const isShown = ({ width, height }: ImageSize): boolean => width > 0 && height > 0

/** Whether the images inside a document fit any request. They have no address of their own, so the document is withheld with them. */
function areSmall(content: unknown): boolean {
  return toBlocks(content as Content).every((block) => {
    if (block.type !== "image" || block.source.type !== "base64") return true
    const { data, media_type } = block.source
    const size = data.length > MEDIA_LIMITS.imageBytes ? undefined : readImageSize(data)
    if (size === undefined || !isShown(size) || size.mediaType !== media_type) return false
    return Math.max(size.width, size.height) <= MEDIA_LIMITS.manyImagesPixels
  })
}

const PDF_HEAD = 1_368 // characters of base64: the mark of a PDF is in its first 1,024 bytes

/** Whether the first bytes say that it is a PDF. */
export const isPdf = (data: string): boolean =>
  Buffer.from(data.slice(0, PDF_HEAD), "base64").toString("latin1").includes("%PDF-")

/** Counts the page objects of a PDF. Compressed object streams hide some, so the true number may be higher. */
function pagesOf(data: string): number {
  return (
    Buffer.from(data, "base64")
      .toString("latin1")
      .match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0
  )
}

/** Replaces the media at `inner` of a tool result by the stub, or the whole block. */
export function replaceMedia(block: Block, inner: number | undefined, stub: TextBlock): Block {
  if (inner === undefined || !isToolResult(block)) return stub
  const content = resultBlocks(block).map((item, i) => (i === inner ? stub : item))
  return { ...block, content } as Block
}
