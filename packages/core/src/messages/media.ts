/**
 * Withholds images and documents that the API would reject. A text in their place describes them and says how to recall them, so a
 * single image never blocks a conversation.
 */
import { uuidKey } from "../base/text.ts"
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

// Handles: the short addresses that the model sees in place of a block. A handle names a message by ten hex digits, and may add the
// index of a block in it, and of a block inside a tool result: `3f09c1a2b4`, `3f09c1a2b4.0`, `3f09c1a2b4.0.2`. Wherever a handle is
// accepted, the complete uuid is accepted in place of the digits.

// The last digits of the key: some uuids start with the time, so messages of one moment would share the first ones.
// Among 100,000 messages, the probability that a given handle is ambiguous is about one in ten million.
const HANDLE_DIGITS = 10
const SHORT_HANDLE = new RegExp(`^[0-9a-f]{${HANDLE_DIGITS}}$`)

/** The handle of a message, or of one of its blocks. */
export const handleOf = (uuid: Uuid, ...blocks: readonly number[]): string =>
  [uuidKey(uuid).toString("hex").slice(-HANDLE_DIGITS), ...blocks].join(".")

/** The handle for the address of a block: `<uuid>.<block>`. */
export function handleFor(address: string): string {
  const [uuid, ...blocks] = address.split(".")
  return handleOf(uuid!, ...blocks.map(Number))
}

export interface Handle {
  /** The sub-agent that has the message. Absent: this conversation. */
  readonly agent?: string
  /** The ten digits, or the complete uuid. */
  readonly message: string
  /** Index of a block, and of a block inside it. Empty: the entire message. */
  readonly blocks: readonly number[]
}

/** Parses `<message>`, `<message>.<block>` and `<message>.<block>.<inner block>`, optionally after `<agent>/`. */
export function parseHandle(text: string): Handle | undefined {
  const [, agent, message, blocks = ""] = /^(?:([^./\s][^/\s]*)\/)?([^./\s]+)((?:\.\d+){0,2})$/.exec(text) ?? []
  if (message === undefined) return undefined
  return { ...(agent === undefined ? {} : { agent }), message, blocks: blocks.split(".").slice(1).map(Number) }
}

/** Whether these are the ten digits of a handle, and not a complete uuid. */
export const isShortHandle = (message: string): boolean => SHORT_HANDLE.test(message)

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
  /** Size of one image in bytes as it is sent, in base64. */
  readonly imageBytes: number
  readonly imagePixels: number
  /** In a request with more images than this, each is limited to `manyImagesPixels` per side. */
  readonly manyImages: number
  readonly manyImagesPixels: number
  readonly imagesPerRequest: number
  readonly documentBytes: number
  readonly documentPages: number
  /** Size of all media of a request together. Leaves room for text within the limit of the body. */
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

/** One image or document of a conversation with its measurements. */
export interface MediaItem {
  /** Its address: `<message uuid>.<block>` or `<message uuid>.<block>.<block inside a tool result>`. */
  readonly address: string
  readonly kind: "image" | "document"
  readonly mediaType: string
  /** Size as sent, in base64. 0 if it is sent by reference. */
  readonly bytes: number
  readonly pixels?: { readonly width: number; readonly height: number }
  /** Whether the bytes are not of the declared type. */
  readonly isUnreadable?: true
  readonly pages?: number
}

export interface WithheldMedia {
  readonly address: string
  readonly why: string
}

export function listMedia(message: Message): readonly MediaItem[] {
  if (message.type !== "user" && message.type !== "assistant") return []
  return contentOf(message).flatMap((block, at) => {
    const address = `${message.uuid}.${at}`
    if (isMedia(block)) return [measure(block, address)]
    if (!isToolResult(block)) return []
    return resultBlocks(block).flatMap((inner, i) => (isMedia(inner) ? [measure(inner, `${address}.${i}`)] : []))
  })
}

/** Plans which items to withhold because the API would reject them. Skips those withheld before. */
export function planWithholding(
  items: readonly MediaItem[],
  withheld: ReadonlySet<string>,
  limits: MediaLimits,
): readonly WithheldMedia[] {
  const candidates = items.filter((item) => !withheld.has(item.address))
  const tooLarge = candidates.flatMap((item) => refusal(item, limits, limits.imagePixels))
  const refusedAddresses = new Set(tooLarge.map(({ address }) => address))
  let images = candidates.filter((item) => item.kind === "image" && !refusedAddresses.has(item.address))
  const excess = images.slice(0, Math.max(0, images.length - limits.imagesPerRequest)).map(({ address }) => ({
    address,
    why: `a request takes at most ${limits.imagesPerRequest} images`,
  }))
  images = images.slice(excess.length)
  const many =
    images.length > limits.manyImages ? images.flatMap((item) => refusal(item, limits, limits.manyImagesPixels)) : []
  const refused = [...tooLarge, ...excess, ...many]
  return [...refused, ...withholdOldest(candidates, new Set(refused.map(({ address }) => address)), limits)]
}

/** Withholds the oldest media until the rest fits into one request. */
function withholdOldest(
  items: readonly MediaItem[],
  refused: ReadonlySet<string>,
  limits: MediaLimits,
): WithheldMedia[] {
  const remaining = items.filter(({ address, bytes }) => bytes > 0 && !refused.has(address))
  let bytes = remaining.reduce((sum, item) => sum + item.bytes, 0)
  const withheld: WithheldMedia[] = []
  for (const item of remaining) {
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
export function withheldStub(item: MediaItem, reason: string): TextBlock {
  const size = item.pixels
    ? `, ${item.pixels.width}×${item.pixels.height} pixels`
    : item.pages
      ? `, ${item.pages} pages`
      : ""
  return {
    type: "text",
    text: `[${item.kind} withheld: ${item.mediaType}${size}, ${item.bytes} bytes: ${reason}. Recall: ${handleFor(item.address)}]`,
  }
}

function refusal(item: MediaItem, limits: MediaLimits, sidePixels: number): WithheldMedia[] {
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
    return source.type === "content" && !fitAnyRequest(source.content) ? { ...base, ...UNREADABLE } : base
  if (kind === "image") {
    const size = readImageSize(data)
    return size && hasArea(size)
      ? { ...base, pixels: { width: size.width, height: size.height } }
      : { ...base, ...UNREADABLE }
  }
  return isPdf(data) ? { ...base, pages: countPages(data) } : { ...base, ...UNREADABLE }
}

const UNREADABLE = { isUnreadable: true } as const
const hasArea = ({ width, height }: ImageSize): boolean => width > 0 && height > 0

/** Whether the images inside a document fit any request. They have no address of their own, so the document is withheld with them. */
function fitAnyRequest(content: unknown): boolean {
  return toBlocks(content as Content).every((block) => {
    if (block.type !== "image" || block.source.type !== "base64") return true
    const { data, media_type } = block.source
    const size = data.length > MEDIA_LIMITS.imageBytes ? undefined : readImageSize(data)
    if (size === undefined || !hasArea(size) || size.mediaType !== media_type) return false
    return Math.max(size.width, size.height) <= MEDIA_LIMITS.manyImagesPixels
  })
}

const PDF_HEAD = 1_368 // base64 characters: the `%PDF-` signature is in the first 1,024 bytes

/** Whether the first bytes have the signature of a PDF. */
export const isPdf = (data: string): boolean =>
  Buffer.from(data.slice(0, PDF_HEAD), "base64").toString("latin1").includes("%PDF-")

/** Counts the page objects of a PDF. Compressed object streams hide some, so the true number may be higher. */
function countPages(data: string): number {
  return (
    Buffer.from(data, "base64")
      .toString("latin1")
      .match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0
  )
}

/** Replaces the media at index `inner` of a tool result by the stub, or the entire block if there is no index. */
export function replaceMedia(block: Block, inner: number | undefined, stub: TextBlock): Block {
  if (inner === undefined || !isToolResult(block)) return stub
  const content = resultBlocks(block).map((item, i) => (i === inner ? stub : item))
  return { ...block, content } as Block
}
