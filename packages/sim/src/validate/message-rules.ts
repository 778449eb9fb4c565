/** Rules about messages and the blocks in them: roles, emptiness, prefill, system messages. */
import {
  blocksOf,
  isServerToolResult,
  isServerToolUse,
  isSpoken,
  isThinking,
  pathOf,
  type Turn,
} from "../conversation.ts"
import type { Block, MessageParam, Role } from "../wire.ts"
import type { ParsedRequest, Rule } from "./rule.ts"

const WHITESPACE_ONLY = /^\s+$/

/** Models to which Claude Code sends system messages, though the documentation does not list them. */
const SYSTEM_MESSAGES_OPEN: ReadonlySet<string> = new Set(["claude-sonnet-5", "claude-haiku-5-5"])

/** The roles a block is limited to. Other blocks may appear in every role. */
const ROLE_OF_BLOCK: ReadonlyMap<string, Role> = new Map([
  ["tool_use", "assistant"],
  ["server_tool_use", "assistant"],
  ["mcp_tool_use", "assistant"],
  ["thinking", "assistant"],
  ["redacted_thinking", "assistant"],
  ["compaction", "assistant"],
  ["tool_result", "user"],
  ["cache_edits", "user"],
])

export const MESSAGE_RULES: readonly Rule[] = [
  {
    name: "at least one message",
    refuses: ({ body }) => (body.messages.length === 0 ? "messages: at least one message is required" : undefined),
  },
  {
    name: "system messages only where the model takes them",
    refuses: ({ turns, model, dialect }) =>
      !model.accepts.systemMessages &&
      (dialect.strictSystemMessages || !SYSTEM_MESSAGES_OPEN.has(model.id)) &&
      turns.some(({ role }) => role === "system")
        ? 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
        : undefined,
  },
  {
    name: "first message from the user",
    refuses: ({ turns }) => {
      const first = turns[0]
      if (!first || first.role === "user" || first.blocks[0]?.block.type === "compaction") return undefined
      return 'messages: first message must use the "user" role'
    },
  },
  { name: "system messages are in allowed places", refuses: ({ turns }) => misplacedSystemMessage(turns) },
  { name: "no empty message", refuses: ({ body }) => emptyMessage(body.messages) },
  {
    name: "blocks in the right role",
    refuses: ({ turns }) => {
      for (const { role, blocks } of turns) {
        const stray = blocks.find(({ block }) => (ROLE_OF_BLOCK.get(block.type) ?? role) !== role)
        if (!stray) continue
        const { type } = stray.block
        return `${pathOf(stray)}: \`${type}\` blocks can only be in \`${ROLE_OF_BLOCK.get(type)}\` messages`
      }
      return undefined
    },
  },
  {
    name: "no empty text",
    refuses: ({ body, turns }) => {
      const blocks = turns.flatMap((turn) => turn.blocks.map(({ block }) => block))
      return emptyText("system", blocksOf(body.system)) ?? emptyText("messages", blocks)
    },
  },
  {
    name: "no prefill where the model has none",
    refuses: (request) =>
      endsInPrefill(request) && !request.model.accepts.prefill
        ? "This model does not support assistant message prefill. The conversation must end with a user message."
        : undefined,
  },
  {
    name: "prefill does not end in whitespace",
    refuses: (request) => {
      const last = request.turns.at(-1)?.blocks.at(-1)?.block
      return endsInPrefill(request) && last?.text !== undefined && /\s$/.test(last.text)
        ? "messages: final assistant content cannot end with trailing whitespace"
        : undefined
    },
  },
]

function emptyMessage(messages: readonly MessageParam[]): string | undefined {
  const index = messages.findIndex(
    ({ role, content, output_config }, place) =>
      (content === undefined || content.length === 0) &&
      !(role === "assistant" && place === messages.length - 1) &&
      !(role === "system" && output_config),
  )
  return index < 0
    ? undefined
    : `messages.${index}: all messages must have non-empty content except for the optional final assistant message`
}

/** Checks only a message's own blocks. Text inside a tool result may be empty. */
function emptyText(where: "system" | "messages", blocks: readonly Block[]): string | undefined {
  const texts = blocks.filter(({ type }) => type === "text")
  // the caching rules refuse an empty text with a breakpoint, with their own message
  if (texts.some(({ text, cache_control }) => text === "" && !cache_control)) {
    return `${where}: text content blocks must be non-empty`
  }
  return texts.some(({ text }) => WHITESPACE_ONLY.test(text ?? ""))
    ? `${where}: text content blocks must contain non-whitespace text`
    : undefined
}

/** The last message is from the assistant and asks the model to continue it. Turns the API paused do not count. */
function endsInPrefill({ body, turns }: ParsedRequest): boolean {
  const last = turns.at(-1)
  if (last?.role !== "assistant" || body.compaction) return false
  const block = last.blocks.at(-1)?.block
  return !block || !(isServerToolUse(block) || isServerToolResult(block) || block.type === "compaction")
}

/**
 * A system message follows a user turn, or an assistant turn that ends in a server tool's result. It is either last or
 * followed by an assistant turn.
 */
function misplacedSystemMessage(turns: readonly Turn[]): string | undefined {
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== "system") continue
    const before = turns[index - 1]
    const after = turns[index + 1]
    const lastBefore = before?.blocks.at(-1)?.block
    const follows = before?.role === "user" || (lastBefore !== undefined && isServerToolResult(lastBefore))
    const place = `messages.${turn.blocks[0]?.message ?? index}`
    if (!follows) return `${place}: a \`system\` message must follow a \`user\` message or a server tool result.`
    if (after && after.role !== "assistant") {
      return `${place}: a \`system\` message must be last or be followed by an \`assistant\` message.`
    }
  }
  return undefined
}

/** In the old `enabled` mode, the assistant message that began the current round of tool calls must start with its thinking. */
export const THINKING_FIRST_RULE: Rule = {
  name: "thinking comes first in the current round of tool calls",
  refuses: ({ body, turns }) => {
    if (body.thinking?.type !== "enabled" || turns.at(-1)?.role !== "user") return undefined
    const lastSpoken = turns.findLastIndex(isSpoken)
    const opening = turns.slice(lastSpoken + 1).find(({ role }) => role === "assistant")
    // the server puts a compaction block before the thinking
    const first = opening?.blocks.find(({ block }) => block.type !== "compaction" && block.type !== "fallback")
    if (!first || isThinking(first.block)) return undefined
    return (
      `${pathOf(first)}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. ` +
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost " +
      "set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. " +
      "To avoid this requirement, disable `thinking`."
    )
  },
}
