/** What there is to clear: every clearable result that is still shown whole, oldest first, with its size and what stands around it. */
import { renderAttachment } from "../../conversation/attachments.ts"
import { type Block, isThinking, isToolResult, isToolUse, type ToolResult } from "../../conversation/blocks.ts"
import { contentOf, isSentToModel, type Message } from "../../conversation/messages.ts"
import { renderCleared } from "../../views/render-decisions.ts"
import type { Views } from "../../views/views.ts"

/** Their results can be had again by calling them again. */
export const READ_LIKE = ["Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch"] as const
/** Their results say little; what is large is their input. */
export const WRITE_LIKE = ["Edit", "Write"] as const

const CLEARABLE: ReadonlySet<string> = new Set([...READ_LIKE, ...WRITE_LIKE])

export interface ClearableResult {
  readonly toolUseId: string
  readonly tokens: number
  /** What clearing takes away: a marker stays. */
  readonly saving: number
  /** Tokens of the conversation that stand before it. */
  readonly before: number
}

export interface Survey {
  readonly results: readonly ClearableResult[]
  /** Thinking that is sent, in the order it stands. */
  readonly thinking: readonly { readonly tokens: number; readonly before: number }[]
  /** Tokens of the whole conversation. */
  readonly tokens: number
}

export function survey({ context, estimator }: Views): Survey {
  const tools = new Map<string, string>()
  const results = new Map<string, ClearableResult>()
  const thinking: { tokens: number; before: number }[] = []
  let before = 0
  for (const block of context.storedMessages().flatMap(blocksOf)) {
    const tokens = estimator.block(block)
    if (isToolUse(block)) tools.set(block.id, block.name)
    else if (isThinking(block)) thinking.push({ tokens, before })
    else if (isToolResult(block) && isClearable(block)) {
      const marker = renderCleared(block, context.resultAddress(block.tool_use_id) ?? "")
      const saving = tokens - estimator.block(marker)
      results.set(block.tool_use_id, { toolUseId: block.tool_use_id, tokens, saving, before })
    }
    before += tokens
  }
  return { results: [...results.values()], thinking, tokens: before }

  function isClearable({ tool_use_id: id }: ToolResult): boolean {
    return CLEARABLE.has(tools.get(id) ?? "") && !context.isCleared(id) && !results.has(id)
  }
}

function blocksOf(message: Message): readonly Block[] {
  if (!isSentToModel(message)) return []
  if (message.type === "attachment") return renderAttachment(message.attachment)
  return message.type === "user" || message.type === "assistant" ? contentOf(message) : []
}
