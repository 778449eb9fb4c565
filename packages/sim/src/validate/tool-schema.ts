/** The schema of `tools`: the client's own (`custom`, also without a `type`) and those the API defines. */
import type { Dialect } from "../dialect.ts"
import { cacheControl, hasBetaLike } from "./content-schema.ts"
import {
  anything,
  boolean,
  dictionary,
  type Fields,
  integer,
  list,
  nullable,
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
  user_location: nullable(anything),
  citations: nullable(anything),
  max_content_tokens: nullable(integer({ min: 1 })),
  response_inclusion: optional(oneOf("full", "excluded")),
  url_sources: nullable(anything),
  use_cache: optional(boolean),
}

/** Tools with a date in their name. Versions differ in what they do, but are declared almost alike. */
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
  { name: "web_search", versions: ["20250305", "20260209", "20260318"], fields: named("web_search", web) },
  { name: "web_fetch", versions: ["20250910", "20260209", "20260309", "20260318"], fields: named("web_fetch", web) },
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
    fields: { cache_control: cacheControl, configs: nullable(anything) },
  },
  {
    name: "computer_toolset",
    versions: ["20260801"],
    fields: { ...display, cache_control: cacheControl, configs: nullable(anything) },
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
