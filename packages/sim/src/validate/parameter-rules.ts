/** Rules about the fields next to the messages: output size, thinking, tools, pre-warming. */
import { nestedBlocks, pathOf } from "../conversation.ts"
import { isDeferred, referencesIn } from "../deferred-tools.ts"
import type { Block } from "../wire.ts"
import type { ParsedRequest, Rule } from "./rule.ts"

const MIN_TOP_P = 0.99 // accepted for older clients, and without effect

const forcesTool = ({ body }: ParsedRequest) => body.tool_choice?.type === "any" || body.tool_choice?.type === "tool"
const hasFormat = ({ body }: ParsedRequest) => Boolean(body.output_config?.format ?? body.output_format)

const isMixed = (block: Block) => {
  const references = referencesIn(block).length
  return references > 0 && references < nestedBlocks(block).blocks.length
}

export const PARAMETER_RULES: readonly Rule[] = [
  {
    name: "threads are not offered",
    refuses: ({ body }) =>
      body.thread
        ? {
            message:
              "thread: this server does not support message threads. Send the full conversation without `thread`.",
            code: "thread_unsupported_request",
            details: { unsupported: [] },
          }
        : undefined,
  },
  {
    name: "max_tokens within the model's limit",
    refuses: ({ body, model }) =>
      body.max_tokens > model.maxOutput
        ? `max_tokens: ${body.max_tokens} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${body.model}`
        : undefined,
  },
  {
    name: "pre-warming neither streams, thinks by budget, formats nor forces tools",
    refuses: (request) => {
      if (request.body.max_tokens !== 0) return undefined
      const unwanted = [
        request.body.stream && "`stream: true`",
        request.body.thinking?.type === "enabled" && '`thinking.type: "enabled"`',
        hasFormat(request) && "`output_config.format`",
        forcesTool(request) && '`tool_choice` of type "any" or "tool"',
      ].find(Boolean)
      return unwanted ? `max_tokens: 0 is not allowed with ${unwanted}.` : undefined
    },
  },
  {
    name: "thinking type is one the model has",
    refuses: ({ body, model }) => {
      const { thinkingBudget, thinkingOff, adaptiveThinking } = model.accepts
      switch (body.thinking?.type) {
        case "enabled":
          return thinkingBudget
            ? undefined
            : '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        case "disabled":
          return thinkingOff
            ? undefined
            : '"thinking.type.disabled" is not supported for this model. Use "output_config.effort" to control thinking behavior.'
        case "adaptive":
        case "between_tools":
          return adaptiveThinking ? undefined : "adaptive thinking is not supported on this model"
        default:
          return undefined
      }
    },
  },
  {
    name: "thinking budget below max_tokens",
    refuses: ({ body, endpoint }) =>
      endpoint === "messages" && body.thinking?.type === "enabled" && body.thinking.budget_tokens >= body.max_tokens
        ? "`max_tokens` must be greater than `thinking.budget_tokens`."
        : undefined,
  },
  {
    name: "no other temperature while thinking",
    refuses: ({ body }) =>
      body.thinking?.type === "enabled" && body.temperature !== undefined && body.temperature !== 1
        ? "`temperature` may only be set to 1 when thinking is enabled."
        : undefined,
  },
  {
    name: "no sampling parameters on models after Opus 4.6",
    refuses: ({ body: { temperature = 1, top_p = 1, top_k }, model }) => {
      if (model.accepts.thinkingBudget) return undefined // the models up to 4.6 are those that accept a budget
      const given = temperature !== 1 ? "temperature" : top_p < MIN_TOP_P ? "top_p" : top_k !== undefined && "top_k"
      return given ? `${given}: \`${given}\` is deprecated for this model.` : undefined
    },
  },
  {
    name: "effort only where the model has it",
    refuses: ({ body, model }) => {
      const asked = [body.output_config, ...body.messages.map(({ output_config }) => output_config)]
      const hasEffort = model.accepts.adaptiveThinking || model.id === "claude-opus-4-5" // the first model with effort
      return asked.some((config) => config?.effort) && !hasEffort
        ? "This model does not support the effort parameter."
        : undefined
    },
  },
  {
    name: "allowed or blocked domains, not both",
    refuses: ({ body: { tools = [] } }) => {
      const place = tools.findIndex(({ allowed_domains, blocked_domains }) => allowed_domains && blocked_domains)
      return place < 0
        ? undefined
        : `tools.${place}.${tools[place]?.type}: \`allowed_domains\` and \`blocked_domains\` cannot be used together.`
    },
  },
  {
    name: "forced tools only where the model takes them",
    refuses: (request) =>
      forcesTool(request) && !request.model.accepts.forcedTools
        ? 'tool_choice: type "tool" and "any" are not supported for this model.'
        : undefined,
  },
  {
    name: "no forced tools while thinking by budget",
    refuses: (request) =>
      forcesTool(request) && request.body.thinking?.type === "enabled"
        ? "Thinking may not be enabled when tool_choice forces tool use."
        : undefined,
  },
  {
    name: "tool_choice needs tools",
    refuses: ({ body }) =>
      body.tool_choice && !body.tools?.length
        ? "tool_choice: tool_choice may only be specified while providing tools."
        : undefined,
  },
  {
    name: "the chosen tool exists",
    refuses: ({ body }) =>
      body.tool_choice?.type === "tool" && !body.tools?.some(({ name }) => name === body.tool_choice?.name)
        ? `Tool '${body.tool_choice.name}' not found in provided tools`
        : undefined,
  },
  {
    name: "tool names are unique",
    refuses: ({ body }) => {
      const names = (body.tools ?? []).flatMap(({ name }) => name ?? [])
      return new Set(names).size < names.length ? "tools: Tool names must be unique." : undefined
    },
  },
  {
    name: "not every tool is deferred",
    refuses: ({ body: { tools = [] } }) =>
      tools.length > 0 && tools.every(isDeferred)
        ? "At least one tool must have defer_loading=false. All tools cannot be deferred."
        : undefined,
  },
  {
    name: "no cache_control on a deferred tool",
    refuses: ({ body: { tools = [] } }) => {
      const marked = tools.find((tool) => isDeferred(tool) && tool.cache_control)
      return (
        marked &&
        `Tool '${marked.name}' cannot have both defer_loading=true and cache_control set. ` +
          "Tools with defer_loading cannot use prompt caching."
      )
    },
  },
  {
    name: "deferred tools only where the model knows them",
    refuses: ({ body: { tools = [] }, model, turns }) => {
      const refers = turns.some(({ blocks }) => blocks.some(({ block }) => referencesIn(block).length > 0))
      return !model.accepts.toolReferences && (refers || tools.some(isDeferred))
        ? "tools: `defer_loading` and `tool_reference` are not supported on this model."
        : undefined
    },
  },
  {
    name: "every tool reference names a tool of the request",
    refuses: ({ body: { tools = [] }, turns }) => {
      const names = turns.flatMap(({ blocks }) => blocks.flatMap(({ block }) => referencesIn(block)))
      const missing = names.find((wanted) => !tools.some(({ name }) => name === wanted))
      return missing === undefined
        ? undefined
        : {
            message: `Tool reference '${missing}' not found in available tools`,
            code: "tool_reference_unresolved",
          }
    },
  },
  {
    name: "tool references are not mixed with other content",
    refuses: ({ turns }) =>
      turns.some(({ blocks }) => blocks.some(({ block }) => isMixed(block)))
        ? "Tool definitions/code execution functions cannot be mixed with other content"
        : undefined,
  },
  {
    name: "stop sequences have something to find",
    refuses: ({ body }) =>
      body.stop_sequences?.some((sequence) => sequence.trim() === "")
        ? "stop_sequences: each stop sequence must contain non-whitespace"
        : undefined,
  },
  {
    name: "context management only where the model has it",
    refuses: ({ body, model }) =>
      body.context_management?.edits?.length && !model.accepts.contextManagement
        ? "context_management: context management is not supported on this model."
        : undefined,
  },
  {
    name: "clear_thinking comes first",
    refuses: ({ body }) => {
      const place = body.context_management?.edits?.findIndex(({ type }) => type === "clear_thinking_20251015") ?? -1
      return place > 0
        ? "context_management.edits: `clear_thinking_20251015` strategy must be first in the list when multiple strategies are provided."
        : undefined
    },
  },
  {
    name: "on-demand compaction is not combined with other features",
    refuses: (request) => {
      const { body } = request
      if (!body.compaction || request.endpoint === "count_tokens") return undefined
      const unwanted = [
        body.context_management && "`context_management`",
        body.stop_sequences?.length && "`stop_sequences`",
        hasFormat(request) && "`output_config.format`",
        forcesTool(request) && '`tool_choice` of type "any" or "tool"',
        body.output_config?.task_budget?.remaining != null && "`output_config.task_budget.remaining`",
      ].find(Boolean)
      return unwanted ? `compaction: cannot be combined with ${unwanted}.` : undefined
    },
  },
]

/** Rules since 2026-10-21. The schema handles `temperature` and similar fields. */
export const VERSION_RULES: readonly Rule[] = [
  {
    name: "no document directly in an assistant message (2026-10-21)",
    refuses: ({ dialect, turns }) => {
      if (dialect.version === "2023-06-01") return undefined
      const found = turns
        .filter(({ role }) => role === "assistant")
        .flatMap(({ blocks }) => blocks)
        .find(({ block }) => block.type === "document")
      return found && `${pathOf(found)}: \`document\` blocks are not allowed in \`assistant\` messages`
    },
  },
  {
    name: "no citations in a user's text (2026-10-21)",
    refuses: ({ dialect, turns }) => {
      if (dialect.version === "2023-06-01") return undefined
      const found = turns
        .filter(({ role }) => role === "user")
        .flatMap(({ blocks }) => blocks)
        .find(({ block }) => block.type === "text" && Array.isArray(block.citations) && block.citations.length > 0)
      return found && `${pathOf(found)}.text.citations: citations are not allowed in \`user\` messages`
    },
  },
]
