/**
 * Long tool results in kept messages are shortened to their beginning and their end, with a handle between them. The decision holds lengths,
 * so the same bytes are sent every time. Results that are put aside or cleared are short already; those with images stay whole.
 */
import type { DecisionOf } from "../../journal/entries.ts"
import { isText, isToolResult, resultBlocks, type ToolResult } from "../../messages/blocks.ts"
import { contentOf, type Message } from "../../messages/messages.ts"
import { blocksOf, mapBlocks } from "../../views/context/changed-messages.ts"
import { previewedText, renderShortened } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import { aroundMiddle } from "./summarise/cut-middle.ts"

export type Shortened = DecisionOf<"tool-results-shortened">["results"][number]

export interface ShortenInput {
  readonly context: Views["context"]
  /** Characters that stay of a long result. */
  readonly limit: number
}

const WORTH_IT = 1.5 // times the limit: a result that is hardly longer stays whole
const UNREAD = 4 // times the limit for results that no response has followed yet: the model has not read them

export function shortenedIn(messages: readonly Message[], { context, limit }: ShortenInput): readonly Shortened[] {
  const unread = new Set(context.sinceResponse().map(({ uuid }) => uuid))
  return messages.flatMap((message) => {
    if (message.type !== "user") return []
    const most = unread.has(message.uuid) ? limit * UNREAD : limit
    return contentOf(message).flatMap((block, at) => {
      if (!isToolResult(block) || !context.isWhole(block.tool_use_id)) return []
      // of several results for one call only the first is shown by decisions
      const isShown = context.resultAddress(block.tool_use_id) === `${message.uuid}.${at}`
      return isShown ? (shorteningOf(block, most) ?? []) : []
    })
  })
}

function shorteningOf(result: ToolResult, limit: number): Shortened | undefined {
  if (!resultBlocks(result).every(isText)) return undefined
  const text = previewedText(result)
  if (text.length <= limit * WORTH_IT) return undefined
  return { toolUseId: result.tool_use_id, ...aroundMiddle(text, limit) }
}

/** The messages as they will be shown. */
export function withShortened(messages: readonly Message[], shortened: readonly Shortened[]): readonly Message[] {
  const waiting = new Map(shortened.map((each) => [each.toolUseId, each]))
  if (waiting.size === 0) return messages
  return messages.map((message) =>
    mapBlocks(message, (block) => {
      const lengths = isToolResult(block) ? waiting.get(block.tool_use_id) : undefined
      if (!lengths || !isToolResult(block)) return block
      waiting.delete(block.tool_use_id) // the first result of a call
      return renderShortened(block, lengths, `${message.uuid}.${blocksOf(message).indexOf(block)}`)
    }),
  )
}
