/** The address of an image or a document: where it is, or its bytes. */
import type { Media } from "@strata/core/messages"

export function mediaUrl({ source }: Media): string | undefined {
  if (source?.type === "url") return source.url
  return source?.type === "base64" ? `data:${source.media_type};base64,${source.data}` : undefined
}
