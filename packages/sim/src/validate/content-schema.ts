/** The schema of content blocks: one entry for each `type`, as the dialect allows it. */
import { BETA, type Dialect } from "../api-dialect.ts"
import {
  anything,
  boolean,
  dictionary,
  type Fields,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  stringOr,
  tagged,
} from "./schema.ts"

const TOOL_USE_ID_PATTERN = "^[a-zA-Z0-9_-]+$"
const SERVER_TOOLS = [
  "advisor",
  "web_search",
  "web_fetch",
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
]

export const cacheControl = nullable(tagged({ ephemeral: { ttl: optional(oneOf("5m", "1h")) } }))

const citationsConfig = object({ enabled: optional(boolean) })
const citation = tagged({
  char_location: {
    cited_text: string(),
    document_index: integer(),
    document_title: nullable(string()),
    file_id: nullable(string()),
    start_char_index: integer(),
    end_char_index: integer(),
  },
  page_location: {
    cited_text: string(),
    document_index: integer(),
    document_title: nullable(string()),
    file_id: nullable(string()),
    start_page_number: integer(),
    end_page_number: integer(),
  },
  content_block_location: {
    cited_text: string(),
    document_index: integer(),
    document_title: nullable(string()),
    file_id: nullable(string()),
    start_block_index: integer(),
    end_block_index: integer(),
  },
  search_result_location: {
    cited_text: string(),
    search_result_index: integer(),
    source: string(),
    title: nullable(string()),
    start_block_index: integer(),
    end_block_index: integer(),
  },
  web_search_result_location: {
    cited_text: string(),
    encrypted_index: string(),
    title: nullable(string()),
    url: string(),
  },
})

const text: Fields = { text: string(), cache_control: cacheControl, citations: nullable(list(citation)) }

const image: Fields = {
  source: tagged({
    base64: { data: string(), media_type: oneOf("image/jpeg", "image/png", "image/gif", "image/webp") },
    url: { url: string() },
    file: { file_id: string() },
  }),
  cache_control: cacheControl,
  transformations: nullable(object({ oversized_image: optional(oneOf("downsize", "error")) })),
}

const document: Fields = {
  source: tagged({
    base64: { data: string(), media_type: oneOf("application/pdf") },
    text: { data: string(), media_type: oneOf("text/plain") },
    content: { content: stringOr(list(tagged({ text, image }))) },
    url: { url: string() },
    file: { file_id: string() },
  }),
  cache_control: cacheControl,
  citations: nullable(citationsConfig),
  context: nullable(string()),
  title: nullable(string()),
}

const searchResult: Fields = {
  content: list(tagged({ text })),
  source: string(),
  title: string(),
  cache_control: cacheControl,
  citations: optional(citationsConfig),
}

const caller = optional(
  tagged({
    direct: {},
    code_execution_20250825: { tool_id: string() },
    code_execution_20260120: { tool_id: string() },
    code_execution_20260521: { tool_id: string() },
  }),
)

const toolUse: Fields = {
  id: string({ pattern: TOOL_USE_ID_PATTERN }),
  name: string({ min: 1, max: 200 }),
  input: dictionary(),
  caller,
  toolset_name: nullable(string()),
  cache_control: cacheControl,
}

/** The result of a tool that ran on the server. Clients and the simulator do not look inside. */
const serverToolResult: Fields = {
  tool_use_id: string({ pattern: TOOL_USE_ID_PATTERN }),
  content: anything,
  caller,
  cache_control: cacheControl,
}

const toolReference: Fields = { tool_name: string(), cache_control: cacheControl }
const browserState: Fields = {
  tabs: list(anything),
  state_changes: nullable(list(anything)),
  cache_control: cacheControl,
}

function toolResult(dialect: Dialect): Fields {
  return {
    tool_use_id: string({ pattern: TOOL_USE_ID_PATTERN }),
    content: optional(
      stringOr(
        list(
          tagged({
            text,
            image,
            document,
            search_result: searchResult,
            tool_reference: toolReference,
            browser_state: browserState,
          }),
        ),
      ),
    ),
    is_error: optional(boolean),
    toolset_name: nullable(string()),
    cache_control: cacheControl,
    ...(dialect.cacheEdits && { cache_reference: optional(string()) }),
  }
}

const compaction: Fields = {
  content: nullable(string()),
  encrypted_content: nullable(string()),
  signature: nullable(string()),
  tool_changes: nullable(list(anything)),
  cache_control: cacheControl,
}

const cacheEdits: Fields = {
  edits: list(tagged({ delete: { cache_reference: string({ min: 1 }) } })),
}

export const textBlock: Schema = tagged({ text })

/** The variants of message content in this dialect. */
export function contentVariants(dialect: Dialect): Readonly<Record<string, Fields>> {
  const has = (beta: string) => dialect.betas.has(beta)
  return {
    text,
    image,
    document,
    search_result: searchResult,
    thinking: { thinking: string(), signature: string() },
    redacted_thinking: { data: string() },
    tool_use: toolUse,
    tool_result: toolResult(dialect),
    server_tool_use: { ...toolUse, name: oneOf(...SERVER_TOOLS) },
    web_search_tool_result: serverToolResult,
    web_fetch_tool_result: serverToolResult,
    code_execution_tool_result: serverToolResult,
    bash_code_execution_tool_result: serverToolResult,
    text_editor_code_execution_tool_result: serverToolResult,
    tool_search_tool_result: serverToolResult,
    container_upload: { file_id: string(), cache_control: cacheControl },
    ...((has(BETA.compactAtThreshold) || has(BETA.compactOnDemand)) && { compaction }),
    ...(hasBetaLike(dialect, "mcp-client-") && {
      mcp_tool_use: { ...toolUse, server_name: string() },
      mcp_tool_result: { ...serverToolResult, content: optional(anything), is_error: optional(boolean) },
      mcp_tool_listing: { mcp_server_name: string(), tools: list(anything) },
    }),
    ...(hasBetaLike(dialect, "advisor-tool-") && { advisor_tool_result: serverToolResult }),
    ...(hasBetaLike(dialect, "server-side-fallback-") && {
      fallback: { from: anything, to: anything, trigger: nullable(anything) },
    }),
    ...(dialect.cacheEdits && { cache_edits: cacheEdits }),
  }
}

export const hasBetaLike = ({ betas }: Dialect, prefix: string) => [...betas].some((beta) => beta.startsWith(prefix))

/** What a `role: "system"` message may hold. */
export function systemMessageContent(dialect: Dialect): Schema {
  const changes = dialect.betas.has(BETA.toolChanges) || dialect.betas.has(BETA.inlineTools)
  const change: Fields = { tool: dictionary(), cache_control: cacheControl }
  return stringOr(list(tagged({ text, ...(changes && { tool_addition: change, tool_removal: change }) })))
}
