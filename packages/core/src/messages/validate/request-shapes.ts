/** The shape of each field of a request, as far as it can be known here. Fields of betas are left to the API. */
import { cacheControl } from "../shapes/block-shapes.ts"
import {
  fields,
  flag,
  json,
  list,
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
} from "../shapes/shape.ts"

const systemText = tagged({
  text: { text: text(), citations: orNull(listOf(json)), cache_control: cacheControl },
})
const parallel = { disable_parallel_tool_use: maybe(flag) }
const shown = { display: orNull(oneOf("summarized", "omitted", "updates")), block_binding: orNull(record) }

const effort = orNull(oneOf("low", "medium", "high", "xhigh", "max"))
const container = textOr(fields({ id: orNull(text()), skills: orNull(listOf(json)) }))

export const REQUEST_SHAPES: Readonly<Record<string, Shape>> = {
  model: text({ least: 1, most: 256 }),
  messages: list,
  max_tokens: whole(0),
  system: textOr(listOf(systemText)),
  tools: list,
  tool_choice: tagged({ auto: parallel, any: parallel, tool: { name: text(), ...parallel }, none: {} }),
  thinking: tagged({
    enabled: { budget_tokens: whole(), ...shown },
    adaptive: shown,
    disabled: {},
    between_tools: {},
  }),
  stop_sequences: listOf(text()),
  stream: flag,
  metadata: fields({ user_id: orNull(text({ most: 512 })) }),
  service_tier: oneOf("auto", "standard_only"),
  cache_control: cacheControl.optional,
  output_config: fields({
    effort,
    format: orNull(tagged({ json_schema: { schema: record } })),
    task_budget: orNull(tagged({ tokens: { total: whole(1), remaining: orNull(whole(0)) } })),
  }),
  container: orNull(container).optional,
  diagnostics: orNull(fields({ previous_message_id: orNull(text()) })).optional,
  inference_geo: orNull(text()).optional,
  speed: orNull(oneOf("standard", "fast")).optional,
}

/** A message of the system between the others. */
export const SYSTEM_MESSAGE = fields({
  role: oneOf("system"),
  content: maybe(textOr(listOf(json, "a text or a list of blocks"))),
  clear_at: orNull(oneOf("next_user_message", "never")),
  output_config: orNull(fields({ effort })),
})
