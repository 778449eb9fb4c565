/** What a tool result holds: how much text, whether it is empty, and the files it is stored as. */
import { type Block, isMedia, isText, type Media, resultBlocks, type ToolResult } from "../../messages/blocks.ts"

/**
 * Characters that count against limits. Images do not count: their size in the context does not depend on the length of their encoding,
 * and the media limits apply to them.
 */
export function charactersOf(result: ToolResult): number {
  if (typeof result.content === "string") return result.content.length
  return resultBlocks(result).reduce((sum, block) => sum + blockCharacters(block), 0)
}

function blockCharacters(block: Block): number {
  if (isText(block)) return block.text.length
  if (!isMedia(block)) return JSON.stringify(block).length
  return block.source.type === "text" ? block.source.data.length : 0
}

export function isEmptyResult(result: ToolResult): boolean {
  return resultBlocks(result).every((block) => isText(block) && block.text.trim() === "")
}

export interface StoredFile {
  readonly name: string
  readonly data: string | Uint8Array
}

/** The whole result: text as it is, a list of blocks as JSON. */
export function wholeFile({ tool_use_id: id, content = "" }: ToolResult): StoredFile {
  return typeof content === "string"
    ? { name: `${id}.txt`, data: content }
    : { name: `${id}.json`, data: JSON.stringify(content) }
}

/** Its images and documents, each in its own format. */
export function mediaFiles(result: ToolResult): readonly (StoredFile & { readonly mediaType: string })[] {
  return resultBlocks(result)
    .filter(isMedia)
    .flatMap(({ source }: Media, at) => {
      if (source.type !== "base64") return []
      const name = `${result.tool_use_id}-${at + 1}.${extensionOf(source.media_type)}`
      return [{ name, data: Buffer.from(source.data, "base64"), mediaType: source.media_type }]
    })
}

const extensionOf = (mediaType: string) => mediaType.replace(/^.*\//, "").replace(/[^a-z0-9]/gi, "") || "bin"
