/**
 * Withholds images and documents that the API would reject. A text in their place says what they were and how to recall them,
 * so one image never blocks a conversation.
 */
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
import { handleFor } from "./handles.ts"
import { type ImageSize, readImageSize } from "./image-size.ts"
import { MEDIA_LIMITS, type MediaLimits } from "./media-limits.ts"
import { contentOf, type Message } from "./messages.ts"

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
  const most = item.kind === "image" ? limits.imageBytes : limits.documentBytes
  if (bytes > most) return [{ address, why: `more than ${most} bytes` }]
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
