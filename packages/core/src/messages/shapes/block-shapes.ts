/**
 * The shape of every content block that the API accepts, from the types of its SDK (1.8). The API refuses a field that it does not know,
 * so a shape lists all of them.
 */
import {
  type FieldShapes,
  type Flaw,
  fields,
  flag,
  json,
  listOf,
  maybe,
  oneOf,
  orNull,
  record,
  type Shape,
  tagged,
  text,
  textOr,
  whole,
} from "./shape.ts"

export const CALL_ID = /^[A-Za-z0-9_-]+$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const SERVER_TOOLS = [
  ...["advisor", "web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution"],
  ...["tool_search_tool_regex", "tool_search_tool_bm25"],
]

export const cacheControl = orNull(tagged({ ephemeral: { ttl: maybe(oneOf("5m", "1h")) } }))
/** Not of the API: see `messages/door.ts`. */
const kept: FieldShapes = { door: maybe(record) }
const marked: FieldShapes = { cache_control: cacheControl, ...kept }

const base64: Shape = (value) => {
  const flaw = text({ least: 1 })(value)
  if (flaw) return flaw
  return isBase64(value as string) ? undefined : { at: "", kind: "wrong", must: "base64 without a prefix or line ends" }
}

/** A long text in pieces, because a pattern over megabytes may exhaust the stack. */
function isBase64(data: string): boolean {
  const PIECE = 64 * 1024 // characters, a multiple of four
  for (let at = 0; at < data.length; at += PIECE) {
    const piece = data.slice(at, at + PIECE)
    const isLast = at + PIECE >= data.length
    if (!BASE64.test(piece) || (!isLast && piece.includes("="))) return false
  }
  return true
}

const cited: FieldShapes = {
  cited_text: text(),
  document_index: whole(),
  document_title: orNull(text()),
  file_id: orNull(text()),
}
const citation = tagged({
  char_location: { ...cited, start_char_index: whole(), end_char_index: whole() },
  page_location: { ...cited, start_page_number: whole(), end_page_number: whole() },
  content_block_location: { ...cited, start_block_index: whole(), end_block_index: whole() },
  search_result_location: {
    cited_text: text(),
    search_result_index: whole(),
    source: text(),
    title: orNull(text()),
    start_block_index: whole(),
    end_block_index: whole(),
  },
  web_search_result_location: { cited_text: text(), encrypted_index: text(), title: orNull(text()), url: text() },
})

const textFields: FieldShapes = { text: text(), citations: orNull(listOf(citation)), ...marked }

const byReference = { url: { url: text({ least: 1 }) }, file: { file_id: text({ least: 1 }) } }

const image: FieldShapes = {
  source: tagged({
    base64: { data: base64, media_type: oneOf("image/jpeg", "image/png", "image/gif", "image/webp") },
    ...byReference,
  }),
  transformations: orNull(fields({ oversized_image: maybe(oneOf("downsize", "error")) })),
  ...marked,
}

const citationsSwitch = fields({ enabled: maybe(flag) })

const document: FieldShapes = {
  source: tagged({
    base64: { data: base64, media_type: oneOf("application/pdf") },
    text: { data: text(), media_type: oneOf("text/plain") },
    content: { content: textOr(listOf(tagged({ text: textFields, image }))) },
    ...byReference,
  }),
  citations: orNull(citationsSwitch),
  context: orNull(text()),
  title: orNull(text()),
  ...marked,
}

const searchResult: FieldShapes = {
  content: listOf(tagged({ text: textFields })),
  source: text(),
  title: text(),
  citations: maybe(citationsSwitch),
  ...marked,
}

const codeExecution: FieldShapes = { tool_id: text() }
const caller = maybe(
  tagged({
    direct: {},
    code_execution_20250825: codeExecution,
    code_execution_20260120: codeExecution,
    code_execution_20260521: codeExecution,
  }),
)

const call: FieldShapes = {
  id: text({ pattern: CALL_ID }),
  name: text({ least: 1, most: 200 }),
  input: record,
  caller,
  toolset_name: orNull(text()),
  ...marked,
}
const serverResult: FieldShapes = { tool_use_id: text({ pattern: CALL_ID }), content: json, caller, ...marked }

/** Inside a tool result. */
const inResult: Readonly<Record<string, FieldShapes>> = {
  text: textFields,
  image,
  document,
  search_result: searchResult,
  tool_reference: { tool_name: text(), ...marked },
  browser_state: { tabs: listOf(json), state_changes: orNull(listOf(json)), ...marked },
}

const SHAPES: Readonly<Record<string, FieldShapes>> = {
  ...inResult,
  thinking: { thinking: text(), signature: text(), cache_control: maybe(json), ...kept }, // its own rule forbids the breakpoint
  redacted_thinking: { data: text(), cache_control: maybe(json), ...kept },
  tool_use: call,
  tool_result: {
    tool_use_id: text({ pattern: CALL_ID }),
    content: maybe(textOr(listOf(tagged(inResult), "a text or a list of blocks"))),
    is_error: maybe(flag),
    toolset_name: orNull(text()),
    cache_reference: maybe(text()),
    ...marked,
  },
  server_tool_use: { ...call, name: oneOf(...SERVER_TOOLS) },
  mcp_tool_use: { ...call, server_name: text() },
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  advisor_tool_result: serverResult,
  mcp_tool_result: { ...serverResult, content: maybe(json), is_error: maybe(flag) },
  mcp_tool_listing: { mcp_server_name: text(), tools: listOf(json) },
  container_upload: { file_id: text({ least: 1 }), ...marked },
  compaction: {
    content: orNull(text()).optional, // null, but there
    encrypted_content: orNull(text()),
    signature: orNull(text()),
    tool_changes: orNull(listOf(json)),
    ...marked,
  },
  fallback: { from: json, to: json },
  // known, so that they are not taken for blocks of a newer server: in messages of the system, and in caches that can be edited
  tool_addition: { tool: record, ...marked },
  tool_removal: { tool: record, ...marked },
  cache_edits: { edits: listOf(json) },
}

const CHECKS = new Map(Object.entries(SHAPES).map(([type, shape]) => [type, fields({ type: oneOf(type), ...shape })]))

export const isKnownType = (type: unknown): boolean => typeof type === "string" && CHECKS.has(type)

/** What is wrong with a block of a known type. Nothing for other types: who may send those is not a matter of shape. */
export function flawOf(block: object): Flaw | undefined {
  return CHECKS.get((block as { readonly type?: unknown }).type as string)?.(block)
}

/** Since 2026-10-21 the API refuses citations in a text of the user. */
export function hasCitations(block: object): boolean {
  const { type, citations } = block as { readonly type?: unknown; readonly citations?: unknown }
  return type === "text" && Array.isArray(citations) && citations.length > 0
}

/** Whether a block of this type can do without the field. */
export function isOptionalField(type: string, name: string): boolean {
  const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined
  return shape !== undefined && name !== "type" && typeof (Object.hasOwn(shape, name) ? shape[name] : {}) !== "function"
}
