/**
 * Converts parts of a message's content to blocks of the Messages API and back. Claude's own blocks are the same in both. A part without a
 * counterpart becomes a block of a special type, so that it is restored unchanged.
 */
import { type Dialect, type Fields, isRecord } from "./shapes.ts"

/** Type of blocks for parts that only their provider knows. */
const EXTERNAL_TYPE = "langchain_part"

/** Field for the original shape of an image, so that it is restored in the same shape. */
const SHAPE = "langchain"

/** The blocks that `ChatAnthropic` sends unchanged. */
const UNCHANGED_BLOCKS: ReadonlySet<string> = new Set([
  ...["text", "thinking", "redacted_thinking", "compaction", "search_result", "document", "container_upload"],
  ...["tool_result", "server_tool_use", "web_search_result", "web_search_tool_result"],
  ...["bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"],
  ...["tool_search_tool_bm25_tool_result", "tool_search_tool_regex_tool_result"],
])

export function blockOf(part: unknown, dialect: Dialect): Fields {
  if (typeof part === "string") return { type: "text", text: part }
  if (!isRecord(part)) return { type: EXTERNAL_TYPE, part }
  const picture = imageBlock(part)
  if (picture) return picture
  return (dialect === "anthropic" ? claudeBlock(part) : plainText(part)) ?? { type: EXTERNAL_TYPE, part }
}

/** Accepts plain text only. All other parts return to their provider unread. */
const plainText = (part: Fields): Fields | undefined =>
  part.type === "text" && typeof part.text === "string" ? part : undefined

/** The block that `ChatAnthropic` would send. */
function claudeBlock({ index: _, ...part }: Fields): Fields | undefined {
  const type = String(part.type)
  if (type === "text_delta") return { ...part, type: "text" }
  if (type === "reasoning" && typeof part.signature === "string")
    return { type: "thinking", thinking: part.reasoning ?? "", signature: part.signature }
  if (type === "non_standard" && isRecord(part.value)) return part.value
  return UNCHANGED_BLOCKS.has(type) ? part : undefined
}

/** Options for converting blocks to parts. */
export interface PartOptions {
  readonly dialect: Dialect
  /** Whether the provider supports cache breakpoints. */
  readonly keepsBreakpoints: boolean
}

export function partOf(block: Fields, { dialect, keepsBreakpoints }: PartOptions): unknown {
  if (block.type === EXTERNAL_TYPE) return block.part
  if (dialect === "anthropic") {
    const { [SHAPE]: _, ...own } = block
    return own
  }
  const own = keepsBreakpoints ? block : withoutBreakpoint(block)
  return own.type === "image" ? imagePart(own) : own
}

const withoutBreakpoint = ({ cache_control: _, ...block }: Fields): Fields => block

/** Source of an image: bytes or a URL. */
type ImageSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }

const DATA_URL = /^data:([\w.+/-]+);base64,(.*)$/s

function imageBlock(part: Fields): Fields | undefined {
  const { type, cache_control, ...rest } = part
  const mark = cache_control === undefined ? {} : { cache_control }
  const block = (source: ImageSource, shape: Fields) => ({ type: "image", source, [SHAPE]: shape, ...mark })
  if (type === "image_url") {
    const { image_url, ...more } = rest
    const isText = typeof image_url === "string"
    const { url, ...details } = isText ? { url: image_url } : isRecord(image_url) ? image_url : { url: undefined }
    const source = typeof url === "string" ? sourceOf(url) : undefined
    return source && block(source, { as: "image_url", isText, details, more })
  }
  if (type !== "image") return undefined
  if (isRecord(rest.source)) return { ...part, [SHAPE]: { as: "claude" } }
  const { data, url, mimeType, mime_type, source_type, ...more } = rest
  const written = { mimeType, mime_type, source_type }
  const isBytes = typeof data === "string" && url === undefined
  if (isBytes) {
    const media_type = String(mimeType ?? mime_type ?? "image/jpeg")
    return block({ type: "base64", media_type, data }, { as: "image", written: defined(written), more })
  }
  if (typeof url !== "string" || data !== undefined) return undefined
  return block({ type: "url", url }, { as: "image", written: defined(written), more })
}

const sourceOf = (url: string): ImageSource | undefined => {
  const [, media_type, data] = DATA_URL.exec(url) ?? []
  if (media_type !== undefined && data !== undefined) return { type: "base64", media_type, data }
  return URL.canParse(url) ? { type: "url", url } : undefined
}

/** An image in its original shape. Images added by Strata get the shape that most providers accept. */
function imagePart({ source, [SHAPE]: shape, ...block }: Fields): Fields {
  if (!isRecord(source)) return { ...block, source }
  const { as = "image_url", isText = false, details = {}, written = {}, more = {} } = isRecord(shape) ? shape : {}
  if (as === "claude") return { ...block, source }
  if (as === "image") {
    const where = source.type === "base64" ? { data: source.data } : { url: source.url }
    return { ...block, ...(more as Fields), ...(written as Fields), ...where }
  }
  const url = source.type === "base64" ? `data:${source.media_type};base64,${source.data}` : source.url
  return { ...block, type: "image_url", ...(more as Fields), image_url: isText ? url : { ...(details as Fields), url } }
}

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
