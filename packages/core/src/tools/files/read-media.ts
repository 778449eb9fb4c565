/** Images and PDFs as blocks for the model. If the API would refuse one, an error says why and what to do instead. */
import type { Block } from "../../messages/blocks.ts"
import { type MediaItem, mediaIn, planWithholding } from "../../messages/media.ts"
import { MEDIA_LIMITS } from "../../messages/media-limits.ts"
import { FileError } from "./file-error.ts"
import { type ImageType, sizeInWords } from "./file-kind.ts"

export interface MediaFile {
  readonly given: string
  readonly bytes: Buffer
}

export function imageBlocks({ given, bytes }: MediaFile, mediaType: ImageType): readonly Block[] {
  const source = { type: "base64", media_type: mediaType, data: bytes.toString("base64") } as const
  const block: Block = { type: "image", source }
  const { item, refusal } = judge(block)
  const advice = "Make a smaller copy with a command, for example `magick IN -resize 1600x1600 OUT.png`, and read that."
  if (item.pixels === undefined) {
    throw refused({
      given,
      bytes,
      what: mediaType,
      why: "its header is damaged, so the API would refuse it",
      advice: "",
    })
  }
  if (refusal !== undefined) throw refused({ given, bytes, what: mediaType, why: refusal, advice })
  return [{ type: "text", text: `${given}: ${mediaType}, ${item.pixels.width}×${item.pixels.height} pixels` }, block]
}

/** A PDF is sent whole: splitting it into pages needs a program made for that. */
export function documentBlocks({ given, bytes }: MediaFile): readonly Block[] {
  const source = { type: "base64", media_type: "application/pdf", data: bytes.toString("base64") } as const
  const block: Block = { type: "document", source }
  const { refusal } = judge(block)
  const advice = "Take its text with a command, for example `pdftotext -f 1 -l 20 IN.pdf -`."
  if (refusal !== undefined) throw refused({ given, bytes, what: "application/pdf", why: refusal, advice })
  return [{ type: "text", text: `${given}: PDF document, ${sizeInWords(bytes.length)}` }, block]
}

/** By the same rules that hold for every request. */
function judge(block: Block): { readonly item: MediaItem; readonly refusal: string | undefined } {
  const message = { role: "user" as const, content: [block] }
  const items = mediaIn({ type: "user", uuid: "read", parentUuid: null, timestamp: "", message })
  return { item: items[0]!, refusal: planWithholding(items, new Set(), MEDIA_LIMITS)[0]?.why }
}

interface Refusal extends MediaFile {
  readonly what: string
  readonly why: string
  readonly advice: string
}

function refused({ given, bytes, what, why, advice }: Refusal): FileError {
  return new FileError(`${given} (${what}, ${sizeInWords(bytes.length)}) cannot be shown: ${why}. ${advice}`.trimEnd())
}
