/** Rules about images and PDFs: how many, their size in bytes and pixels, and whether they have the declared format. */

import { readImageSize } from "@strata/core/messages"
import { visitBlocks } from "../conversation.ts"
import type { Block } from "../wire.ts"
import type { Rule } from "./rule.ts"

const MAX_BASE64_BYTES = 5 * 1024 * 1024
const MAX_PIXELS = 8000 // on either side
const MANY_IMAGES = 20 // with more images than this, the smaller limit applies
const MAX_PIXELS_AMONG_MANY = 2000
const MAX_IMAGES = 100
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const PDF_HEAD = 1368 // characters of base64, 1,026 bytes: the signature of a PDF is in its first kilobyte

interface PlacedImage {
  readonly path: string
  readonly block: Block
  readonly data: string
}

export const MEDIA_RULES: readonly Rule[] = [
  {
    name: "at most 100 images",
    refuses: ({ body }) => {
      const images = visitBlocks(body).filter(({ block }) => block.type === "image").length
      return images > MAX_IMAGES ? `messages: too many images and documents: ${images} + 0 > ${MAX_IMAGES}` : undefined
    },
  },
  {
    name: "embedded media are base64",
    refuses: ({ body }) => {
      const bad = visitBlocks(body).find(
        ({ block: { source } }) => source?.type === "base64" && !isBase64(source.data ?? ""),
      )
      return bad && `${bad.path}.${bad.block.type}.source.base64.data: Invalid base64 data`
    },
  },
  {
    name: "PDFs can be read",
    refuses: ({ body }) => {
      const bad = visitBlocks(body).find(
        ({ block: { type, source } }) => type === "document" && source?.type === "base64" && !isPdf(source.data ?? ""),
      )
      return bad && `${bad.path}.document.source.base64.data: The PDF specified was not valid.`
    },
  },
  {
    name: "images of at most 5 MB",
    refuses: ({ body }) => {
      const large = embeddedImages(body).find(({ data }) => data.length > MAX_BASE64_BYTES)
      return (
        large &&
        `${large.path}.image.source.base64: image exceeds 5 MB maximum: ${large.data.length} bytes > ${MAX_BASE64_BYTES} bytes`
      )
    },
  },
  {
    name: "images can be read and are what they say",
    refuses: ({ body }) => {
      for (const { path, block, data } of embeddedImages(body)) {
        const size = readImageSize(data)
        if (!size) return `${path}.image.source.base64.data: Could not process image`
        if (size.mediaType !== block.source?.media_type) {
          return `${path}.image.source.base64.data: Image does not match the provided media type ${block.source?.media_type}`
        }
      }
      return undefined
    },
  },
  {
    name: "images of at most 8000 pixels, 2000 among many",
    refuses: ({ body }) => {
      const images = embeddedImages(body)
      const many = images.length > MANY_IMAGES
      const limit = many ? MAX_PIXELS_AMONG_MANY : MAX_PIXELS
      const large = images.find(({ block, data }) => {
        const size = readImageSize(data)
        const downsized = block.transformations?.oversized_image === "downsize"
        return size && !downsized && Math.max(size.width, size.height) > limit
      })
      return (
        large &&
        `${large.path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size${many ? " for many-image requests" : ""}: ${limit} pixels`
      )
    },
  },
]

const isBase64 = (data: string) => data.length % 4 === 0 && BASE64.test(data)
const isPdf = (data: string) => Buffer.from(data.slice(0, PDF_HEAD), "base64").includes("%PDF-")

function embeddedImages(body: Parameters<typeof visitBlocks>[0]): readonly PlacedImage[] {
  return visitBlocks(body).flatMap(({ path, block }) =>
    block.type === "image" && block.source?.type === "base64" ? [{ path, block, data: block.source.data ?? "" }] : [],
  )
}
