/** Rules for everything in a request except its messages: fields, limits, thinking, tools, breakpoints. */
import { REQUEST_BYTES } from "../media-limits.ts"
import type { RequestRule, Violation } from "./rule.ts"

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
const SAMPLING_FIELDS = ["temperature", "top_p", "top_k"]
const MOST_MESSAGES = 100_000
const MOST_BREAKPOINTS = 4
const LEAST_BUDGET = 1_024

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
  rule("has-messages", ({ request }) =>
    request.messages?.length === 0 ? ["messages", "at least one message is required"] : undefined,
  ),
  rule("message-count", ({ request }) =>
    request.messages?.length > MOST_MESSAGES ? ["messages", `more than ${MOST_MESSAGES} messages`] : undefined,
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
    const texts = system === undefined ? [] : typeof system === "string" ? [] : system.map((block) => block.text)
    return texts.every((text) => text.trim() !== "")
      ? undefined
      : ["system", "a text must contain more than white space"]
  }),
  rule("thinking-budget-supported", ({ request, model }) =>
    request.thinking?.type === "enabled" && !model.accepts.thinkingBudget
      ? ["thinking", `${model.id} does not accept a thinking budget`]
      : undefined,
  ),
  rule("thinking-budget-range", ({ request: { thinking, max_tokens } }) =>
    thinking?.type === "enabled" && (thinking.budget_tokens < LEAST_BUDGET || thinking.budget_tokens >= max_tokens)
      ? ["thinking.budget_tokens", `must be at least ${LEAST_BUDGET} and less than max_tokens`]
      : undefined,
  ),
  {
    name: "tools-have-schemas",
    check: ({ request: { tools = [] } }) =>
      tools.flatMap((tool, i) => {
        const isOurs = !("type" in tool) || tool.type === undefined || tool.type === "custom"
        return isOurs && !("input_schema" in tool) ? [{ path: `tools.${i}`, message: "input_schema is required" }] : []
      }),
  },
  rule("thinking-off-supported", ({ request, model }) =>
    request.thinking?.type === "disabled" && !model.accepts.thinkingOff
      ? ["thinking", `${model.id} always thinks`]
      : undefined,
  ),
  rule("adaptive-thinking-supported", ({ request, model }) =>
    request.thinking?.type === "adaptive" && !model.accepts.adaptiveThinking
      ? ["thinking", `${model.id} does not support adaptive thinking`]
      : undefined,
  ),
  rule("forced-tools-supported", ({ request, model }) => {
    const forced = request.tool_choice?.type === "any" || request.tool_choice?.type === "tool"
    return forced && !model.accepts.forcedTools
      ? ["tool_choice", `${model.id} does not support forced tool use`]
      : undefined
  }),
  rule("breakpoint-count", ({ breakpoints, request }) => {
    const count = breakpoints.length + (request.cache_control ? 1 : 0) // automatic caching uses one
    return count <= MOST_BREAKPOINTS
      ? undefined
      : ["cache_control", `${count} breakpoints, at most ${MOST_BREAKPOINTS} are allowed`]
  }),
  rule("breakpoint-ttl-order", ({ breakpoints }) => {
    const firstShort = breakpoints.findIndex(({ ttl }) => ttl === "5m")
    const late = breakpoints.find(({ ttl }, i) => ttl === "1h" && firstShort >= 0 && i > firstShort)
    return late && [late.path, "a breakpoint of 1h cannot come after one of 5m"]
  }),
  rule("no-breakpoint-on-empty-text", ({ breakpoints }) => {
    const empty = breakpoints.find(({ onEmptyText }) => onEmptyText)
    return empty && [empty.path, "an empty text cannot have a breakpoint"]
  }),
]
