/** The shape of each field of a request, as far as it can be known here. Fields of betas are left to the API. */
import { cacheControl } from "../shapes/block-shapes.ts"
import {
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
  wrong,
} from "../shapes/shape.ts"

const systemText = tagged({
  text: { text: text(), citations: orNull(listOf(json)), cache_control: cacheControl },
})
const parallel = { disable_parallel_tool_use: maybe(flag) }
const shown = { display: orNull(oneOf("summarized", "omitted", "updates")), block_binding: orNull(record) }

export const REQUEST_SHAPES: Readonly<Record<string, Shape>> = {
  model: text({ least: 1, most: 256 }),
  messages: listOf(() => undefined),
  max_tokens: whole(0),
  system: textOr(listOf(systemText)),
  tools: listOf((tool) => (typeof tool === "object" && tool !== null ? undefined : wrong("a tool"))),
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
}

const schema: Shape = (value) => {
  const flaw = record(value)
  if (flaw) return flaw
  const { type } = value as { readonly type?: unknown }
  return type === "object" ? undefined : wrong('"object"', "type")
}

/** A tool that your program runs. Tools of the server are left to the API. */
export const customTool = fields({
  type: orNull(oneOf("custom")),
  name: text({ pattern: /^[A-Za-z0-9_-]{1,128}$/ }),
  description: maybe(text()),
  input_schema: schema,
  eager_input_streaming: orNull(flag),
  allowed_callers: maybe(listOf(text())),
  cache_control: cacheControl,
  defer_loading: maybe(flag),
  strict: maybe(flag),
  input_examples: maybe(listOf(record)),
})
