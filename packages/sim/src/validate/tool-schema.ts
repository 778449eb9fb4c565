/** The schema of `tools`: the client's own (`custom`, also without a `type`) and those the API defines. */
import type { Dialect } from "../api-dialect.ts"
import { cacheControl, hasBetaLike } from "./content-schema.ts"
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
  tagged,
} from "./schema.ts"

const TOOL_NAME_PATTERN = "^[a-zA-Z0-9_-]{1,128}$"

/** Fields every tool may have. */
const shared: Fields = {
  allowed_callers: optional(list(string())),
  cache_control: cacheControl,
  defer_loading: optional(boolean),
  strict: optional(boolean),
}
const withExamples: Fields = { ...shared, input_examples: optional(list(dictionary())) }

const custom: Fields = {
  ...withExamples,
  name: string({ pattern: TOOL_NAME_PATTERN }),
  description: optional(string()),
  input_schema: inputSchema,
  eager_input_streaming: nullable(boolean),
}

function inputSchema(value: unknown, path: string) {
  const wrong = dictionary()(value, path)
  if (wrong) return wrong
  const { type } = value as { type?: unknown }
  if (type === undefined) return { path: `${path}.type`, message: "Field required" }
  return type === "object" ? undefined : { path: `${path}.type`, message: "Input should be 'object'" }
}

const named = (name: string, more: Fields = {}): Fields => ({ ...withExamples, name: oneOf(name), ...more })
const display: Fields = {
  display_width_px: integer({ min: 1 }),
  display_height_px: integer({ min: 1 }),
  display_number: nullable(integer({ min: 0 })),
  enable_zoom: optional(boolean),
}
const web: Fields = {
  allowed_domains: nullable(list(string())),
  blocked_domains: nullable(list(string())),
  max_uses: nullable(integer({ min: 1 })),
}
const webSearch: Fields = {
  ...web,
  user_location: nullable(
    tagged({
      approximate: {
        city: nullable(string()),
        country: nullable(string()),
        region: nullable(string()),
        timezone: nullable(string()),
      },
    }),
  ),
}
const toolReference = tagged({ tool_reference: { name: string({ min: 1 }) } })
const allOrNone = { all: {}, none: {} }
const toolFilter = optional(
  tagged({ ...allOrNone, only: { tools: list(toolReference) }, except: { tools: list(toolReference) } }),
)
const webFetch: Fields = {
  ...web,
  citations: nullable(object({ enabled: optional(boolean) })),
  max_content_tokens: nullable(integer({ min: 1 })),
  url_sources: nullable(
    object({
      user_input: optional(tagged(allOrNone)),
      client_tool_results: toolFilter,
      server_tool_results: toolFilter,
    }),
  ),
}
const responseInclusion: Fields = { response_inclusion: optional(oneOf("full", "excluded")) }
const useCache: Fields = { use_cache: optional(boolean) }

/** A toolset has no name and no size: its members are configured one by one. */
const toolset = (members: readonly string[]): Fields => {
  const config = nullable(object({ defer_loading: nullable(boolean), enabled: nullable(boolean) }))
  return {
    cache_control: cacheControl,
    configs: nullable(object(Object.fromEntries(members.map((member) => [member, config])))),
  }
}
const POINTER_MEMBERS = [
  ...["left_click", "right_click", "middle_click", "double_click", "triple_click", "left_click_drag"],
  ...[
    "left_mouse_down",
    "left_mouse_up",
    "mouse_move",
    "scroll",
    "screenshot",
    "zoom",
    "key",
    "hold_key",
    "type",
    "wait",
  ],
]
const COMPUTER_MEMBERS = [...POINTER_MEMBERS, "cursor_position"]
const BROWSER_MEMBERS = [
  ...POINTER_MEMBERS,
  ...["navigate", "list_tabs", "new_tab", "switch_tab", "close_tab", "read_page", "get_page_text", "read_console"],
  ...["read_network", "find", "form_input", "file_upload", "scroll_to", "hover", "javascript_exec"],
]

/** Tools with a date in their name. Versions behave differently, but are declared almost alike. */
const DATED: readonly { name: string; versions: readonly string[]; fields: Fields }[] = [
  { name: "bash", versions: ["20241022", "20250124"], fields: named("bash") },
  { name: "memory", versions: ["20250818"], fields: named("memory") },
  { name: "text_editor", versions: ["20241022", "20250124"], fields: named("str_replace_editor") },
  {
    name: "text_editor",
    versions: ["20250429", "20250728"],
    fields: named("str_replace_based_edit_tool", { max_characters: nullable(integer({ min: 1 })) }),
  },
  { name: "computer", versions: ["20241022", "20250124", "20251124"], fields: named("computer", display) },
  { name: "web_search", versions: ["20250305", "20260209"], fields: named("web_search", webSearch) },
  { name: "web_search", versions: ["20260318"], fields: named("web_search", { ...webSearch, ...responseInclusion }) },
  { name: "web_fetch", versions: ["20250910", "20260209"], fields: named("web_fetch", webFetch) },
  { name: "web_fetch", versions: ["20260309"], fields: named("web_fetch", { ...webFetch, ...useCache }) },
  {
    name: "web_fetch",
    versions: ["20260318"],
    fields: named("web_fetch", { ...webFetch, ...useCache, ...responseInclusion }),
  },
  {
    name: "code_execution",
    versions: ["20250522", "20250825", "20260120", "20260521"],
    fields: named("code_execution"),
  },
  { name: "tool_search_tool_bm25", versions: ["20251119"], fields: named("tool_search_tool_bm25") },
  { name: "tool_search_tool_regex", versions: ["20251119"], fields: named("tool_search_tool_regex") },
  {
    name: "browser_toolset",
    versions: ["20260801"],
    fields: toolset(BROWSER_MEMBERS),
  },
  {
    name: "computer_toolset",
    versions: ["20260801"],
    fields: toolset(COMPUTER_MEMBERS),
  },
]

const standard: Readonly<Record<string, Fields>> = Object.fromEntries([
  ["custom", custom],
  ...DATED.flatMap(({ name, versions, fields }) => versions.map((version) => [`${name}_${version}`, fields])),
  ...["tool_search_tool_bm25", "tool_search_tool_regex"].map((name) => [name, named(name)]), // also without a date
])

export function toolSchema(dialect: Dialect): Schema {
  const advisor = named("advisor", {
    model: string(),
    caching: cacheControl,
    max_tokens: nullable(integer()),
    max_uses: nullable(integer()),
  })
  const mcpToolset: Fields = {
    mcp_server_name: string(),
    cache_control: cacheControl,
    configs: nullable(anything),
    default_config: optional(anything),
    tools: nullable(list(anything)),
  }
  return tagged(
    {
      ...standard,
      ...(hasBetaLike(dialect, "advisor-tool-") && { advisor_20260301: advisor }),
      ...(hasBetaLike(dialect, "mcp-client-") && { mcp_toolset: mcpToolset }),
    },
    { fallback: "custom" },
  )
}
