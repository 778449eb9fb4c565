/** Converts an MCP server's response to blocks of a tool result. Content that the API does not accept becomes a line of text. */
import { isDeepStrictEqual } from "node:util"
import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client"
import type { Block, Media } from "../../../messages/blocks.ts"
import type { ToolOutput } from "../../../tools/tool.ts"
import { safeText } from "../shell/bounded-output.ts"

type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp"
const IMAGE_TYPES: ReadonlySet<string> = new Set<ImageType>(["image/jpeg", "image/png", "image/gif", "image/webp"])

export function mcpOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const blocks = content.map(blockOf).filter((block) => block.type !== "text" || block.text !== "")
  if (structuredContent !== undefined && !repeatsContent(blocks, structuredContent))
    blocks.push(text(JSON.stringify(structuredContent)))
  if (blocks.length === 0) blocks.push(text("(no content)"))
  return { content: blocks, ...(isError ? { isError: true } : {}) }
}

/** Converts the contents of a resource, which may have several parts, such as the files of a directory. */
export function resourceOutput({ contents }: ReadResourceResult): ToolOutput {
  const blocks = contents.map(resource)
  return { content: blocks.length === 0 ? "(no content)" : blocks }
}

/** Whether the text repeats the structured content, as servers should for clients that do not support it. */
function repeatsContent(blocks: readonly Block[], structured: unknown): boolean {
  return blocks.some((block) => {
    if (block.type !== "text") return false
    try {
      return isDeepStrictEqual(JSON.parse(block.text), structured)
    } catch {
      return false
    }
  })
}

function blockOf(item: ContentBlock): Block {
  switch (item.type) {
    case "text":
      return text(item.text)
    case "image":
      return media(item.mimeType, item.data) ?? text(`[image: ${describe(item.mimeType, item.data)}, cannot be shown]`)
    case "audio":
      return text(`[audio: ${describe(item.mimeType, item.data)}, cannot be played]`)
    case "resource_link":
      return text(`[${item.title ?? item.name}](${item.uri})${item.description ? `: ${item.description}` : ""}`)
    case "resource":
      return resource(item.resource)
    default:
      return text(JSON.stringify(item)) // a type from a later protocol revision
  }
}

type Resource = Extract<ContentBlock, { type: "resource" }>["resource"]

function resource(given: Resource): Block {
  if ("text" in given) return text(`${given.uri}:\n${given.text}`)
  const type = given.mimeType ?? "unknown type"
  return media(type, given.blob) ?? text(`[resource ${given.uri}: ${describe(type, given.blob)}, not text]`)
}

/** Whether the data is base64. A single pattern for it would overflow the stack on some million characters. */
function isBase64(data: string): boolean {
  const digits = data.replace(/={1,2}$/, "")
  return digits !== "" && data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(digits)
}

/** Creates a media block. `undefined` for content that a request cannot contain: another type, or invalid base64. */
function media(type: string, data: string): Media | undefined {
  if (!isBase64(data)) return undefined
  if (IMAGE_TYPES.has(type)) return { type: "image", source: { type: "base64", media_type: type as ImageType, data } }
  if (type === "application/pdf") return { type: "document", source: { type: "base64", media_type: type, data } }
  return undefined
}

const text = (given: string): Block & { type: "text" } => ({ type: "text", text: safeText(given) })
const describe = (type: string, data: string) => `${type}, ${Math.floor((data.length * 3) / 4)} bytes`
