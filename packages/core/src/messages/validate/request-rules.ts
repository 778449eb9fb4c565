/** Rules for everything in a request except its messages: fields, limits, thinking, tools, breakpoints. */
import { isDeferred, toWellFormed } from "../blocks.ts"
import { MEDIA_LIMITS, REQUEST_BYTES } from "../media.ts"
import type { ModelRequest } from "../request.ts"
import {
  bool,
  cacheControl,
  describeFlaw,
  type Flaw,
  fields,
  integer,
  isRecord,
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
} from "../shapes/shapes.ts"
import type { CheckedBlock, CheckedMessage, RequestRule, Violation } from "./rule.ts"
import { toolFlaw } from "./tool-shapes.ts"

// The shape of each field of a request, as far as it is known. Fields of betas are checked by the API only.

const systemText = tagged({
  text: { text: text(), citations: orNull(listOf(json)), cache_control: cacheControl },
})
const parallel = { disable_parallel_tool_use: maybe(bool) }
const shown = { display: orNull(oneOf("summarized", "omitted", "updates")), block_binding: orNull(record) }

const effort = orNull(oneOf("low", "medium", "high", "xhigh", "max"))
const container = textOr(fields({ id: orNull(text()), skills: orNull(listOf(json)) }))

export const REQUEST_SHAPES: Readonly<Record<string, Shape>> = {
  model: text({ min: 1, max: 256 }),
  messages: list,
  max_tokens: integer(0),
  system: textOr(listOf(systemText)),
  tools: list,
  tool_choice: tagged({ auto: parallel, any: parallel, tool: { name: text(), ...parallel }, none: {} }),
  thinking: tagged({
    enabled: { budget_tokens: integer(), ...shown },
    adaptive: shown,
    disabled: {},
    between_tools: {},
  }),
  stop_sequences: listOf(text()),
  stream: bool,
  metadata: fields({ user_id: orNull(text({ max: 512 })) }),
  service_tier: oneOf("auto", "standard_only"),
  cache_control: cacheControl.optional,
  output_config: fields({
    effort,
    format: orNull(tagged({ json_schema: { schema: record } })),
    task_budget: orNull(tagged({ tokens: { total: integer(1), remaining: orNull(integer(0)) } })),
  }),
  container: orNull(container).optional,
  diagnostics: orNull(fields({ previous_message_id: orNull(text()) })).optional,
  inference_geo: orNull(text()).optional,
  speed: orNull(oneOf("standard", "fast")).optional,
}

/** The shape of a system message between the others. */
export const SYSTEM_MESSAGE = fields({
  role: oneOf("system"),
  content: maybe(textOr(listOf(json, "a text or a list of blocks"))),
  clear_at: orNull(oneOf("next_user_message", "never")),
  output_config: orNull(fields({ effort })),
})

const KNOWN_FIELDS = new Set([
  ...[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "stop_sequences",
  ],
  ...["stream", "metadata", "cache_control", "container", "diagnostics", "inference_geo", "service_tier", "speed"],
  ...["context_management", "compaction", "thread", "mcp_servers", "fallbacks", "fallback_credit_token", "betas"],
])
const SHAPES = Object.entries(REQUEST_SHAPES)
const SAMPLING_FIELDS = ["temperature", "top_p", "top_k"]
const MAX_MESSAGES = 100_000
const MAX_BREAKPOINTS = 4
const MIN_BUDGET = 1_024

const toolsOf = (tools: ModelRequest["tools"]) => (Array.isArray(tools) ? tools : []).filter((tool) => isRecord(tool))

const flawPath = (field: string, at: string) => (at === "" || at.startsWith("[") ? `${field}${at}` : `${field}.${at}`)

/** Describes a flaw without its field, because the path names it already. */
function describeAtPath(flaw: Flaw): string {
  if (flaw.kind === "missing") return "it is required"
  return flaw.kind === "extra" ? "it is not a field there" : `it ${describeFlaw({ ...flaw, at: "" })}`
}

/** The block that automatic caching selects: the last one that can have a breakpoint. */
function lastCacheableBlock({ system, messages }: ModelRequest): CheckedBlock | undefined {
  const lists = [{ content: system }, ...(Array.isArray(messages) ? messages : [])]
  for (const raw of lists.toReversed()) {
    const last = toCheckedMessage(raw).content.findLast(
      ({ type, text }) => !/^(?:redacted_)?thinking$/.test(type) && !(type === "text" && text === ""),
    )
    if (last) return last
  }
  return undefined
}

const rule = (
  name: string,
  check: (subject: Parameters<RequestRule["check"]>[0]) => [path: string, message: string] | undefined,
): RequestRule => ({
  name,
  check: (subject) => {
    const found = check(subject)
    return found ? [{ path: found[0], message: found[1] }] : []
  },
})

const aboutPrompt: typeof rule = (name, check) => ({ ...rule(name, check), isAboutPrompt: true })

export const REQUEST_RULES: readonly RequestRule[] = [
  {
    name: "required-fields",
    check: ({ request }) =>
      (["model", "max_tokens", "messages"] as const)
        .filter((field) => request[field] === undefined)
        .map((field): Omit<Violation, "rule"> => ({ path: field, message: "is required" })),
  },
  {
    name: "no-sampling-parameters",
    check: ({ request }) =>
      SAMPLING_FIELDS.filter((field) => field in request).map((field) => ({
        path: field,
        message: "is no longer accepted by the API",
      })),
  },
  {
    name: "known-fields",
    check: ({ request }) =>
      Object.keys(request)
        .filter((field) => !KNOWN_FIELDS.has(field) && !SAMPLING_FIELDS.includes(field))
        .map((field) => ({ path: field, message: "is not a field of a request" })),
  },
  {
    name: "field-shapes",
    check: ({ request }) =>
      SHAPES.flatMap(([field, shape]) => {
        const value = (request as unknown as Readonly<Record<string, unknown>>)[field]
        const flaw = value === undefined ? undefined : shape(value)
        return flaw ? [{ path: flawPath(field, flaw.at), message: describeAtPath(flaw) }] : []
      }),
  },
  rule("has-messages", ({ request }) =>
    request.messages?.length === 0 ? ["messages", "at least one message is required"] : undefined,
  ),
  rule("message-count", ({ request }) =>
    request.messages?.length > MAX_MESSAGES ? ["messages", `more than ${MAX_MESSAGES} messages`] : undefined,
  ),
  rule("request-bytes", ({ messageBytes }) =>
    messageBytes <= REQUEST_BYTES
      ? undefined
      : ["messages", `${messageBytes} bytes, more than the ${REQUEST_BYTES} a request may have`],
  ),
  rule("input-fits-window", ({ inputTokens, model }) =>
    inputTokens === undefined || inputTokens <= model.window
      ? undefined
      : ["messages", `about ${inputTokens} tokens for a window of ${model.window}`],
  ),
  rule("output-fits-window", ({ inputTokens, request, model }) =>
    inputTokens !== undefined && !model.accepts.overflowingOutput && inputTokens + request.max_tokens > model.window
      ? [
          "max_tokens",
          `input and output together exceed the window: ${inputTokens} + ${request.max_tokens} > ${model.window}`,
        ]
      : undefined,
  ),
  rule("max-tokens-cap", ({ request, model }) =>
    request.max_tokens > model.maxOutput
      ? ["max_tokens", `${request.max_tokens} > ${model.maxOutput}, the maximum of ${model.id}`]
      : undefined,
  ),
  rule("system-text-not-empty", ({ request: { system } }) => {
    const texts = Array.isArray(system) ? system.map((block) => block?.text) : system === "" ? [] : [system]
    return texts.every((text) => typeof text !== "string" || text.trim() !== "")
      ? undefined
      : ["system", "a text must contain more than white space"]
  }),
  rule("thinking-budget-supported", ({ request, model }) =>
    request.thinking?.type === "enabled" && !model.accepts.thinkingBudget
      ? ["thinking", `${model.id} does not accept a thinking budget`]
      : undefined,
  ),
  rule("thinking-budget-range", ({ request: { thinking, max_tokens } }) =>
    thinking?.type === "enabled" && (thinking.budget_tokens < MIN_BUDGET || thinking.budget_tokens >= max_tokens)
      ? ["thinking.budget_tokens", `must be at least ${MIN_BUDGET} and less than max_tokens`]
      : undefined,
  ),
  {
    name: "tools-have-schemas",
    check: ({ request: { tools = [] } }) =>
      toolsOf(tools).flatMap((tool, i) => {
        const isOurs = !("type" in tool) || tool.type == null || tool.type === "custom"
        return isOurs && !("input_schema" in tool) ? [{ path: `tools.${i}`, message: "input_schema is required" }] : []
      }),
  },
  {
    name: "tool-shapes",
    isAboutPrompt: true,
    check: ({ request: { tools } }) =>
      (Array.isArray(tools) ? tools : []).flatMap((tool: unknown, i) => {
        const flaw = toolFlaw(tool)
        const hasOwnRule = flaw?.kind === "missing" && flaw.at === "input_schema"
        return flaw && !hasOwnRule ? [{ path: `tools.${i}`, message: `the tool ${describeFlaw(flaw)}` }] : []
      }),
  },
  aboutPrompt("unique-tool-names", ({ request: { tools } }) => {
    const names = toolsOf(tools).flatMap((tool) => ("name" in tool ? tool.name : []))
    const again = names.find((name, at) => names.indexOf(name) < at)
    return again === undefined ? undefined : ["tools", `two tools have the name ${again}`]
  }),
  aboutPrompt("some-tool-declared", ({ request: { tools } }) => {
    const offered = toolsOf(tools)
    return offered.length > 0 && offered.every(isDeferred) ? ["tools", "all tools are deferred"] : undefined
  }),
  rule("no-breakpoint-on-deferred-tool", ({ request: { tools } }) => {
    const at = toolsOf(tools).findIndex((tool) => isDeferred(tool) && "cache_control" in tool && tool.cache_control)
    return at < 0 ? undefined : [`tools.${at}`, "a deferred tool cannot have a breakpoint"]
  }),
  rule("tool-choice-exists", ({ request: { tools, tool_choice: choice } }) => {
    if (!choice) return undefined
    const offered = toolsOf(tools)
    if (offered.length === 0) return ["tool_choice", "there are no tools to choose from"]
    return choice.type !== "tool" || offered.some((tool) => "name" in tool && tool.name === choice.name)
      ? undefined
      : ["tool_choice", `there is no tool ${choice.name}`]
  }),
  rule("no-forced-tools-with-budget", ({ request: { thinking, tool_choice: choice } }) =>
    thinking?.type === "enabled" && (choice?.type === "any" || choice?.type === "tool")
      ? ["tool_choice", "a thinking budget does not go with forced tool use"]
      : undefined,
  ),
  rule("stop-sequences-not-empty", ({ request: { stop_sequences: stops } }) =>
    Array.isArray(stops) && stops.some((stop) => typeof stop === "string" && stop.trim() === "")
      ? ["stop_sequences", "a stop sequence must contain more than white space"]
      : undefined,
  ),
  rule("only-warming-without-output", ({ request }) => {
    if (request.max_tokens !== 0) return undefined
    const { stream, thinking, output_config, tool_choice } = request as typeof request & { readonly stream?: unknown }
    const forced = tool_choice?.type === "any" || tool_choice?.type === "tool"
    return stream || thinking?.type === "enabled" || output_config?.format || forced
      ? ["max_tokens", "0 does not go with streaming, a thinking budget, an output format or forced tool use"]
      : undefined
  }),
  rule("thinking-off-supported", ({ request, model }) =>
    request.thinking?.type === "disabled" && !model.accepts.thinkingOff
      ? ["thinking", `${model.id} always thinks`]
      : undefined,
  ),
  rule("adaptive-thinking-supported", ({ request, model }) =>
    /^(?:adaptive|between_tools)$/.test(request.thinking?.type ?? "") && !model.accepts.adaptiveThinking
      ? ["thinking", `${model.id} does not support adaptive thinking`]
      : undefined,
  ),
  rule("forced-tools-supported", ({ request, model }) => {
    const forced = request.tool_choice?.type === "any" || request.tool_choice?.type === "tool"
    return forced && !model.accepts.forcedTools
      ? ["tool_choice", `${model.id} does not support forced tool use`]
      : undefined
  }),
  rule("readable-images", ({ media: { images } }) => {
    const bad = images.find(({ longerSide, hasRightMediaType }) => longerSide === undefined || !hasRightMediaType)
    return (
      bad && [bad.path, bad.longerSide === undefined ? "the image cannot be read" : "the image has another media type"]
    )
  }),
  rule("readable-documents", ({ media: { unreadable } }) =>
    unreadable[0] === undefined ? undefined : [unreadable[0], "the document is not a PDF that can be read"],
  ),
  rule("image-bytes", ({ media: { images } }) => {
    const large = images.find(({ bytes }) => bytes > MEDIA_LIMITS.imageBytes)
    return large && [large.path, `${large.bytes} bytes, more than the ${MEDIA_LIMITS.imageBytes} of an image`]
  }),
  rule("image-pixels", ({ media: { images } }) => {
    const limit = images.length > MEDIA_LIMITS.manyImages ? MEDIA_LIMITS.manyImagesPixels : MEDIA_LIMITS.imagePixels
    const large = images.find(({ longerSide = 0 }) => longerSide > limit)
    return large && [large.path, `${large.longerSide} pixels on a side, more than ${limit}`]
  }),
  rule("image-count", ({ media: { imageCount } }) =>
    imageCount > MEDIA_LIMITS.imagesPerRequest
      ? ["messages", `${imageCount} images, more than ${MEDIA_LIMITS.imagesPerRequest}`]
      : undefined,
  ),
  aboutPrompt("whole-characters-in-prompt", ({ request: { system, tools } }) =>
    toWellFormed(system) === system && toWellFormed(tools) === tools
      ? undefined
      : ["system", "a text of the prompt ends or begins in the middle of a character"],
  ),
  rule("breakpoint-count", ({ breakpoints, request }) => {
    const count = breakpoints.length + (request.cache_control ? 1 : 0) // automatic caching uses one
    return count <= MAX_BREAKPOINTS
      ? undefined
      : ["cache_control", `${count} breakpoints, at most ${MAX_BREAKPOINTS} are allowed`]
  }),
  rule("breakpoint-ttl-order", ({ breakpoints }) => {
    const firstShort = breakpoints.findIndex(({ ttl }) => ttl === "5m")
    const isInside = (path: string) =>
      breakpoints.some((outer) => outer.ttl === "5m" && path.startsWith(`${outer.path}.`))
    const late = breakpoints.find(
      ({ ttl, path }, i) => ttl === "1h" && ((firstShort >= 0 && i > firstShort) || isInside(path)),
    )
    return late && [late.path, "a breakpoint of 1h cannot come after one of 5m"]
  }),
  rule("automatic-breakpoint-comes-last", ({ breakpoints, request }) =>
    request.cache_control?.ttl === "1h" && breakpoints.some(({ ttl }) => ttl === "5m")
      ? ["cache_control", "a breakpoint of 1h cannot come after one of 5m"]
      : undefined,
  ),
  rule("automatic-breakpoint-agrees", ({ request }) => {
    const automatic = request.cache_control
    if (!automatic) return undefined
    const breakpoint = lastCacheableBlock(request)?.cache_control
    return breakpoint && (breakpoint.ttl ?? "5m") !== (automatic.ttl ?? "5m")
      ? ["cache_control", "the last block has a breakpoint with another ttl"]
      : undefined
  }),
  rule("no-breakpoint-on-empty-text", ({ breakpoints }) => {
    const empty = breakpoints.find(({ onEmptyText }) => onEmptyText)
    return empty && [empty.path, "an empty text cannot have a breakpoint"]
  }),
]

/** Returns a message in a form that rules can check. Anything that is not a block becomes a block with an empty type. */
export function toCheckedMessage(raw: unknown): CheckedMessage {
  const { role, content } = (raw ?? {}) as { readonly role?: unknown; readonly content?: unknown }
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : []
  return { role: String(role), content: blocks.map(asBlock), raw }
}

function asBlock(value: unknown): CheckedBlock {
  const isBlock = typeof value === "object" && value !== null && typeof (value as CheckedBlock).type === "string"
  return isBlock ? (value as CheckedBlock) : { type: "" }
}
