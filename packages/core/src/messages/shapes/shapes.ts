/**
 * The shape of every content block that the API accepts, from the types of its SDK (1.8). The API refuses unknown fields, so a shape
 * lists all fields.
 */
// Shapes describe JSON values. A shape returns the first flaw of a value, or nothing. Paths are built only when there is a flaw, so
// checking a good value costs little.

export interface Flaw {
  /** Path in the value: `source.data`, `content[2].text`, or empty for the value itself. */
  readonly at: string
  /** `missing`: a required field is absent. `extra`: an unknown field. `wrong`: anything else. */
  readonly kind: "missing" | "extra" | "wrong"
  /** For `wrong`: the requirement, as in "must be a text". */
  readonly must: string
}

export type Shape = (value: unknown) => Flaw | undefined

export interface Optional {
  readonly optional: Shape
}

export type FieldShapes = Readonly<Record<string, Shape | Optional>>

export const wrong = (must: string, at = ""): Flaw => ({ at, kind: "wrong", must })

/** Deeper JSON is refused. Servers limit the depth too, and this limit is far below the one of the stack. */
export const MAX_DEPTH = 100 // levels

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export interface TextLimits {
  readonly pattern?: RegExp
  readonly min?: number
  readonly max?: number
}

export function text({ pattern, min = 0, max = Number.POSITIVE_INFINITY }: TextLimits = {}): Shape {
  return (value) => {
    if (typeof value !== "string") return wrong("a text")
    if (value.length < min) return wrong("a text that is not empty")
    if (value.length > max) return wrong(`a text of at most ${max} characters`)
    return pattern && !pattern.test(value) ? wrong(`a text that matches ${pattern.source}`) : undefined
  }
}

export const bool: Shape = (value) => (typeof value === "boolean" ? undefined : wrong("true or false"))

export const integer = (min = Number.MIN_SAFE_INTEGER): Shape => {
  const must = min === Number.MIN_SAFE_INTEGER ? "a whole number" : `a whole number of at least ${min}`
  return (value) => (Number.isInteger(value) && (value as number) >= min ? undefined : wrong(must))
}

export const oneOf = (...allowed: readonly string[]): Shape => {
  const must = allowed.length === 1 ? JSON.stringify(allowed[0]) : `one of ${allowed.join(", ")}`
  return (value) => (allowed.includes(value as string) ? undefined : wrong(must))
}

/** The field may be absent. */
export const maybe = (shape: Shape): Optional => ({ optional: shape })
/** The field may be absent or null. */
export const orNull = (shape: Shape): Optional => ({ optional: (value) => (value === null ? undefined : shape(value)) })

/** Any JSON value that is not nested too deeply. */
export const json: Shape = (value) =>
  isDeeperThan(MAX_DEPTH, value) ? wrong(`nested at most ${MAX_DEPTH} levels deep`) : undefined

export const record: Shape = (value) => (isRecord(value) ? json(value) : wrong("an object"))

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const key of Object.keys(value)) {
    if (isDeeperThan(levels - 1, (value as Record<string, unknown>)[key])) return true
  }
  return false
}

/** A list whose items are checked by rules of their own. */
export const list: Shape = (value) => (Array.isArray(value) ? undefined : wrong("a list"))

export const listOf =
  (shape: Shape, must = "a list"): Shape =>
  (value) => {
    if (!Array.isArray(value)) return wrong(must)
    for (const [index, item] of value.entries()) {
      const flaw = shape(item)
      if (flaw) return under(`[${index}]`, flaw)
    }
    return undefined
  }

/** A string, or a value of the shape. */
export const textOr =
  (shape: Shape): Shape =>
  (value) =>
    typeof value === "string" ? undefined : shape(value)

/** An object with these fields, and no others if it is closed. As in JSON, a field that is `undefined` counts as absent. */
export function fields(shapes: FieldShapes, extent: "closed" | "open" = "closed"): Shape {
  const known = Object.entries(shapes)
  return (value) => {
    if (!isRecord(value)) return wrong("an object")
    for (const [name, shape] of known) {
      const field = Object.hasOwn(value, name) ? value[name] : undefined
      if (field === undefined) {
        if (typeof shape === "function") return { at: name, kind: "missing", must: "" }
        continue
      }
      const flaw = typeof shape === "function" ? shape(field) : shape.optional(field)
      if (flaw) return under(name, flaw)
    }
    if (extent === "open") return undefined
    const extra = Object.keys(value).find((name) => !Object.hasOwn(shapes, name) && value[name] !== undefined)
    return extra === undefined ? undefined : { at: extra, kind: "extra", must: "" }
  }
}

/** A choice of objects by their `type`. */
export function tagged(variants: Readonly<Record<string, FieldShapes>>, extent?: "closed" | "open"): Shape {
  const shapes = new Map(
    Object.entries(variants).map(([type, shape]) => [type, fields({ type: oneOf(type), ...shape }, extent)]),
  )
  const types = oneOf(...shapes.keys())
  return (value) => {
    if (!isRecord(value)) return wrong("an object")
    if (value.type === undefined) return { at: "type", kind: "missing", must: "" }
    const shape = shapes.get(value.type as string)
    if (shape) return shape(value)
    return under("type", types(value.type) ?? wrong("a text"))
  }
}

function under(name: string, flaw: Flaw): Flaw {
  const at = flaw.at === "" || flaw.at.startsWith("[") ? `${name}${flaw.at}` : `${name}.${flaw.at}`
  return { ...flaw, at }
}

/** Describes a flaw so that it continues "block 2 …": `needs "text"`. */
export function describeFlaw({ at, kind, must }: Flaw): string {
  if (kind === "missing") return `needs "${at}"`
  if (kind === "extra") return `has "${at}", which is not one of its fields`
  return at === "" ? `must be ${must}` : `has "${at}", which must be ${must}`
}

export const CALL_ID = /^[A-Za-z0-9_-]+$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const SERVER_TOOLS = [
  ...["advisor", "web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution"],
  ...["tool_search_tool_regex", "tool_search_tool_bm25"],
]

export const cacheControl = orNull(tagged({ ephemeral: { ttl: maybe(oneOf("5m", "1h")) } }))
/** Not part of the API: see `ProviderFields` in `message-identity.ts`. */
const providerFields: FieldShapes = { door: maybe(record) }
const blockFields: FieldShapes = { cache_control: cacheControl, ...providerFields }

const base64: Shape = (value) => {
  const flaw = text({ min: 1 })(value)
  if (flaw) return flaw
  return isBase64(value as string) ? undefined : { at: "", kind: "wrong", must: "base64 without a prefix or line ends" }
}

/** Checks a long text in chunks, because a pattern over megabytes may exhaust the stack. */
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
  document_index: integer(),
  document_title: orNull(text()),
  file_id: orNull(text()),
}
const citation = tagged({
  char_location: { ...cited, start_char_index: integer(), end_char_index: integer() },
  page_location: { ...cited, start_page_number: integer(), end_page_number: integer() },
  content_block_location: { ...cited, start_block_index: integer(), end_block_index: integer() },
  search_result_location: {
    cited_text: text(),
    search_result_index: integer(),
    source: text(),
    title: orNull(text()),
    start_block_index: integer(),
    end_block_index: integer(),
  },
  web_search_result_location: { cited_text: text(), encrypted_index: text(), title: orNull(text()), url: text() },
})

const textFields: FieldShapes = { text: text(), citations: orNull(listOf(citation)), ...blockFields }

const byReference = { url: { url: text({ min: 1 }) }, file: { file_id: text({ min: 1 }) } }

const image: FieldShapes = {
  source: tagged({
    base64: { data: base64, media_type: oneOf("image/jpeg", "image/png", "image/gif", "image/webp") },
    ...byReference,
  }),
  transformations: orNull(fields({ oversized_image: maybe(oneOf("downsize", "error")) })),
  ...blockFields,
}

const citationsSwitch = fields({ enabled: maybe(bool) })

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
  ...blockFields,
}

const searchResult: FieldShapes = {
  content: listOf(tagged({ text: textFields })),
  source: text(),
  title: text(),
  citations: maybe(citationsSwitch),
  ...blockFields,
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
  name: text({ min: 1, max: 200 }),
  input: record,
  caller,
  toolset_name: orNull(text()),
  ...blockFields,
}
const serverResult: FieldShapes = { tool_use_id: text({ pattern: CALL_ID }), content: json, caller, ...blockFields }

/** Blocks inside a tool result. */
const inResult: Readonly<Record<string, FieldShapes>> = {
  text: textFields,
  image,
  document,
  search_result: searchResult,
  tool_reference: { tool_name: text(), ...blockFields },
  browser_state: { tabs: listOf(json), state_changes: orNull(listOf(json)), ...blockFields },
}

const SHAPES: Readonly<Record<string, FieldShapes>> = {
  ...inResult,
  thinking: { thinking: text(), signature: text(), cache_control: maybe(json), ...providerFields }, // a separate rule forbids the breakpoint
  redacted_thinking: { data: text(), cache_control: maybe(json), ...providerFields },
  tool_use: call,
  tool_result: {
    tool_use_id: text({ pattern: CALL_ID }),
    content: maybe(textOr(listOf(tagged(inResult), "a text or a list of blocks"))),
    is_error: maybe(bool),
    toolset_name: orNull(text()),
    cache_reference: maybe(text()),
    ...blockFields,
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
  mcp_tool_result: { ...serverResult, content: maybe(json), is_error: maybe(bool) },
  mcp_tool_listing: { mcp_server_name: text(), tools: listOf(json) },
  container_upload: { file_id: text({ min: 1 }), ...blockFields },
  compaction: {
    content: orNull(text()).optional, // may be null, but not absent
    encrypted_content: orNull(text()),
    signature: orNull(text()),
    tool_changes: orNull(listOf(json)),
    ...blockFields,
  },
  fallback: { from: json, to: json },
  // known, so that they are not mistaken for blocks of a newer server: they occur in system messages and in editable caches
  tool_addition: { tool: record, ...blockFields },
  tool_removal: { tool: record, ...blockFields },
  cache_edits: { edits: listOf(json) },
}

const CHECKS = new Map(Object.entries(SHAPES).map(([type, shape]) => [type, fields({ type: oneOf(type), ...shape })]))

export const isKnownType = (type: unknown): boolean => typeof type === "string" && CHECKS.has(type)

/** The first flaw of a block of a known type. Nothing for other types: whether they are allowed is not a matter of shape. */
export function findFlaw(block: object): Flaw | undefined {
  return CHECKS.get((block as { readonly type?: unknown }).type as string)?.(block)
}

/** Whether a text has citations. Since 2026-10-21 the API refuses them in a user's text. */
export function hasCitations(block: object): boolean {
  const { type, citations } = block as { readonly type?: unknown; readonly citations?: unknown }
  return type === "text" && Array.isArray(citations) && citations.length > 0
}

/** Whether the field of a block of this type may be absent. */
export function isOptionalField(type: string, name: string): boolean {
  const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined
  return shape !== undefined && name !== "type" && typeof (Object.hasOwn(shape, name) ? shape[name] : {}) !== "function"
}
