/** The shape of a tool in a request: your own tools, and those that the API defines. From the types of the SDK (1.8). */
import {
  bool,
  cacheControl,
  type FieldShapes,
  type Flaw,
  fields,
  integer,
  isRecord,
  json,
  listOf,
  maybe,
  oneOf,
  orNull,
  record,
  type Shape,
  text,
  wrong,
} from "../shapes/shapes.ts"

const NEWEST_KNOWN = 20_260_801 // the date in the newest type below; types of a later date are checked by the API only

const shared: FieldShapes = {
  allowed_callers: maybe(listOf(text())),
  cache_control: cacheControl,
  defer_loading: maybe(bool),
  strict: maybe(bool),
}
const withExamples: FieldShapes = { ...shared, input_examples: maybe(listOf(record)) }

const schema: Shape = (value) => {
  const flaw = record(value)
  if (flaw) return flaw
  const { type } = value as { readonly type?: unknown }
  return type === "object" ? undefined : wrong('"object"', "type")
}

const custom: FieldShapes = {
  ...withExamples,
  name: text({ pattern: /^[A-Za-z0-9_-]{1,128}$/ }),
  description: maybe(text()),
  input_schema: schema,
  eager_input_streaming: orNull(bool),
}

const display: FieldShapes = {
  display_width_px: integer(1),
  display_height_px: integer(1),
  display_number: orNull(integer(0)),
  enable_zoom: maybe(bool),
}
const web: FieldShapes = {
  ...shared,
  allowed_domains: orNull(listOf(text())),
  blocked_domains: orNull(listOf(text())),
  max_uses: orNull(integer(1)),
  response_inclusion: maybe(oneOf("full", "excluded")),
}
const search: FieldShapes = { ...web, name: oneOf("web_search"), user_location: orNull(record) }
const fetching: FieldShapes = {
  ...web,
  name: oneOf("web_fetch"),
  citations: orNull(fields({ enabled: maybe(bool) })),
  max_content_tokens: orNull(integer(1)),
  url_sources: orNull(record),
  use_cache: maybe(bool),
}
const editor = (name: string): FieldShapes => ({ ...withExamples, name: oneOf(name) })
const sized = { ...editor("str_replace_based_edit_tool"), max_characters: orNull(integer(1)) }
const named = (name: string, base = shared): FieldShapes => ({ ...base, name: oneOf(name) })
const toolset: FieldShapes = { cache_control: cacheControl, configs: orNull(json) }

const DEFINED: readonly (readonly [name: string, versions: readonly number[], shape: FieldShapes])[] = [
  ["bash", [20241022, 20250124], named("bash", withExamples)],
  ["memory", [20250818], named("memory", withExamples)],
  ["text_editor", [20241022, 20250124], editor("str_replace_editor")],
  ["text_editor", [20250429, 20250728], sized],
  ["computer", [20241022, 20250124, 20251124], { ...named("computer", withExamples), ...display }],
  ["web_search", [20250305, 20260209, 20260318], search],
  ["web_fetch", [20250910, 20260209, 20260309, 20260318], fetching],
  ["code_execution", [20250522, 20250825, 20260120, 20260521], named("code_execution")],
  ["tool_search_tool_bm25", [20251119], named("tool_search_tool_bm25")],
  ["tool_search_tool_regex", [20251119], named("tool_search_tool_regex")],
  ["browser_toolset", [20260801], toolset],
  ["computer_toolset", [20260801], { ...toolset, ...display }],
  [
    "advisor",
    [20260301],
    {
      ...named("advisor"),
      model: text({ min: 1 }),
      caching: cacheControl,
      max_tokens: orNull(integer()),
      max_uses: orNull(integer()),
    },
  ],
]

const withType = (type: string, shape: FieldShapes) => fields({ type: oneOf(type), ...shape })

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ...DEFINED.flatMap(([name, versions, shape]) =>
    versions.map((version) => [`${name}_${version}`, withType(`${name}_${version}`, shape)] as const),
  ),
  ...["tool_search_tool_bm25", "tool_search_tool_regex"].map(
    (name) => [name, withType(name, named(name))] as const, // these two also exist without a date
  ),
  [
    "mcp_toolset",
    withType("mcp_toolset", {
      ...toolset,
      mcp_server_name: text({ min: 1 }),
      default_config: maybe(json),
      tools: orNull(listOf(json)),
    }),
  ],
])

const CUSTOM = fields({ type: orNull(oneOf("custom")), ...custom })

/** The first flaw of a tool, if any. A type with a later date than those known here may have any shape. */
export function toolFlaw(tool: unknown): Flaw | undefined {
  if (!isRecord(tool)) return wrong("an object")
  const { type } = tool
  if (type === undefined || type === null || type === "custom") return CUSTOM(tool)
  if (typeof type !== "string") return wrong("a text", "type")
  const shape = SHAPES.get(type)
  if (shape) return shape(tool) ?? bothDomains(tool)
  return isNewer(type) ? json(tool) : wrong("a type of tool that the API has", "type")
}

const isNewer = (type: string) => Number(/^[a-z][a-z0-9_]*_(\d{8})$/.exec(type)?.[1] ?? 0) > NEWEST_KNOWN

function bothDomains({ allowed_domains, blocked_domains }: Readonly<Record<string, unknown>>): Flaw | undefined {
  const isBoth = Array.isArray(allowed_domains) && Array.isArray(blocked_domains)
  return isBoth ? wrong("left out where allowed_domains is there", "blocked_domains") : undefined
}
