/** The schema of a complete request body, for each endpoint and dialect. */
import { BETA, type Dialect } from "../api-dialect.ts"
import { cacheControl, contentVariants, hasBetaLike, systemMessageContent, textBlock } from "./content-schema.ts"
import {
  anything,
  boolean,
  dictionary,
  type Fields,
  integer,
  isRecord,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  stringOr,
  tagged,
} from "./schema.ts"
import { toolSchema } from "./tool-schema.ts"

export type Endpoint = "messages" | "count_tokens"

const MAX_MESSAGES = 100_000
const MAX_COMPACTION_INSTRUCTIONS = 16_384 // characters
const MIN_COMPACTION_TRIGGER = 50_000 // tokens
const MIN_THINKING_BUDGET = 1024 // tokens

const EFFORT = oneOf("low", "medium", "high", "xhigh", "max")

/** Schemas by combination of headers, built once. Clients use few combinations. */
const built = new Map<string, Schema>()
const MAX_BUILT = 100

export function bodySchema(endpoint: Endpoint, dialect: Dialect): Schema {
  const key = JSON.stringify([
    ...[endpoint, dialect.version, dialect.cacheEdits, dialect.newBlockTypes],
    ...[...dialect.betas].sort(),
  ])
  const schema = built.get(key) ?? object(endpoint === "messages" ? messagesFields(dialect) : countFields(dialect))
  if (built.size >= MAX_BUILT) built.clear()
  built.set(key, schema)
  return schema
}

/** Fields that both endpoints accept. */
function countFields(dialect: Dialect): Fields {
  const has = (beta: string) => dialect.betas.has(beta)
  return {
    model: string({ min: 1, max: 256 }),
    messages: list(message(dialect), { max: MAX_MESSAGES }),
    system: optional(stringOr(list(textBlock))),
    tools: optional(list(toolSchema(dialect))),
    tool_choice: optional(toolChoice),
    thinking: optional(thinking(dialect)),
    output_config: optional(
      object({
        effort: nullable(EFFORT),
        format: nullable(tagged({ json_schema: { schema: dictionary() } })),
        ...(has(BETA.taskBudgets) && {
          task_budget: nullable(
            tagged({ tokens: { total: integer({ min: 1 }), remaining: nullable(integer({ min: 0 })) } }),
          ),
        }),
      }),
    ),
    cache_control: cacheControl,
    speed: nullable(oneOf("standard", "fast")),
    ...(hasBetaLike(dialect, "structured-outputs-") && {
      output_format: nullable(tagged({ json_schema: { schema: dictionary() } })),
    }),
    ...(hasBetaLike(dialect, "mcp-client-") && { mcp_servers: optional(list(mcpServer)) }),
    ...((has(BETA.contextManagement) || has(BETA.compactAtThreshold)) && {
      context_management: nullable(object({ edits: optional(list(edit(dialect))) })),
    }),
    ...(has(BETA.compactOnDemand) && {
      compaction: nullable(
        tagged({ summarize: { instructions: nullable(string({ max: MAX_COMPACTION_INSTRUCTIONS })) } }),
      ),
    }),
  }
}

function messagesFields(dialect: Dialect): Fields {
  const samplingAllowed = dialect.version === "2023-06-01"
  return {
    ...countFields(dialect),
    max_tokens: integer({ min: 0 }),
    metadata: optional(object({ user_id: nullable(string({ max: 512 })) })),
    stop_sequences: optional(list(string())),
    stream: optional(boolean),
    container: nullable(stringOr(object({ id: nullable(string()), skills: nullable(list(anything)) }))),
    diagnostics: nullable(object({ previous_message_id: nullable(string()) })),
    inference_geo: nullable(string()),
    service_tier: optional(oneOf("auto", "standard_only")),
    ...(samplingAllowed && {
      temperature: optional(number({ min: 0, max: 1 })),
      top_p: optional(number({ min: 0, max: 1 })),
      top_k: optional(integer({ min: 0 })),
    }),
    ...(dialect.betas.has(BETA.threads) && { thread: nullable(thread) }),
    ...(hasBetaLike(dialect, "server-side-fallback-") && { fallbacks: nullable(stringOr(list(fallback))) }),
    ...(hasBetaLike(dialect, "dangerous-tool-use-") && { safeguards: nullable(list(safeguard)) }),
    ...(hasBetaLike(dialect, "fallback-credit-") && { fallback_credit_token: nullable(anything) }),
  }
}

function message(dialect: Dialect): Schema {
  const known = tagged(contentVariants(dialect))
  const content: Schema = (value, path) =>
    isRecord(value) && dialect.newBlockTypes.includes(value.type as string) ? anything(value, path) : known(value, path)
  const { betas } = dialect
  const config = { output_config: nullable(object({ effort: nullable(EFFORT) })) }
  const spoken = object({
    role: oneOf("user", "assistant", "system"),
    content: stringOr(list(content)),
    ...(betas.has(BETA.perTurnControl) && config),
  })
  const system = object({
    role: oneOf("system"),
    content: optional(systemMessageContent(dialect)),
    ...(betas.has(BETA.systemClearAt) && { clear_at: nullable(oneOf("next_user_message", "never")) }),
    ...((betas.has(BETA.systemOutputConfig) || betas.has(BETA.perTurnControl)) && config),
  })
  return (value, path) => (isRecord(value) && value.role === "system" ? system : spoken)(value, path)
}

const toolChoice = tagged({
  auto: { disable_parallel_tool_use: optional(boolean) },
  any: { disable_parallel_tool_use: optional(boolean) },
  tool: { name: string(), disable_parallel_tool_use: optional(boolean) },
  none: {},
})

function thinking(dialect: Dialect): Schema {
  const has = (beta: string) => dialect.betas.has(beta)
  const shown: Fields = {
    display: nullable(oneOf("summarized", "omitted", ...(has(BETA.thinkingUpdates) ? ["updates"] : []))),
    ...(has(BETA.thinkingBinding) && {
      block_binding: nullable(object({ prefix_mismatch_behavior: nullable(oneOf("error", "drop_block")) })),
    }),
  }
  return tagged({
    enabled: { budget_tokens: integer({ min: MIN_THINKING_BUDGET }), ...shown },
    adaptive: shown,
    disabled: {},
    between_tools: {},
  })
}

const inputTokens = (min: number) => tagged({ input_tokens: { value: integer({ min }) } })
const toolUses: Fields = { value: integer({ min: 0 }) }

function edit(dialect: Dialect): Schema {
  const clearing: Readonly<Record<string, Fields>> = {
    clear_thinking_20251015: {
      keep: optional((value, path) => (value === "all" ? undefined : thinkingKept(value, path))),
    },
    clear_tool_uses_20250919: {
      trigger: optional(tagged({ input_tokens: { value: integer({ min: 1 }) }, tool_uses: toolUses })),
      keep: optional(tagged({ tool_uses: toolUses })),
      clear_at_least: nullable(inputTokens(1)),
      exclude_tools: nullable(list(string())),
      clear_tool_inputs: nullable((value, path) => (Array.isArray(value) ? list(string()) : boolean)(value, path)),
    },
  }
  const compacting: Readonly<Record<string, Fields>> = {
    compact_20260112: {
      trigger: nullable(inputTokens(MIN_COMPACTION_TRIGGER)),
      pause_after_compaction: optional(boolean),
      instructions: nullable(string()),
    },
  }
  return tagged({
    ...(dialect.betas.has(BETA.contextManagement) && clearing),
    ...(dialect.betas.has(BETA.compactAtThreshold) && compacting),
  })
}
const thinkingKept = tagged({ all: {}, thinking_turns: { value: integer({ min: 1 }) } })

/** Claude Code's field for its automatic mode: a kind, and a context that only the server reads. */
const safeguard = tagged({ dangerous_tool_use: { classifier_context: nullable(anything) } })

/** A model to fall back to, with any parameters of its own. */
const fallback: Schema = (value, path) =>
  dictionary()(value, path) ?? string({ min: 1 })((value as { model?: unknown }).model, `${path}.model`)

const thread = tagged({ create: {}, continue: { previous_message_id: string() } })

const mcpServer = tagged({
  url: {
    name: string(),
    url: string(),
    authorization_token: nullable(string()),
    tool_configuration: nullable(anything),
  },
})
