/** Cleared results as their tools gave them, for a summariser that is sent the messages anyway. They take the room that is left, no more. */
import { isToolResult } from "../../../messages/blocks.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { mapBlocks } from "../../../views/context/changed-messages.ts"
import { previewedText } from "../../../views/context/render-decisions.ts"
import type { Views } from "../../../views/views.ts"
import { cutMiddle } from "./cut-middle.ts"
import { INPUT_LIMITS } from "./summary-input.ts"

const CHARACTERS_PER_TOKEN = 3 // fewer than usual, so that the estimate is on the safe side
const LEAST = 300 // characters of one result; less would say no more than its residue

export interface Originals {
  readonly context: Views["context"]
  /** Tokens that all of them may take. */
  readonly room: number
}

export function withOriginals(messages: readonly Message[], { context, room }: Originals): readonly Message[] {
  const cleared = new Set(
    messages.flatMap((message) =>
      message.type === "user"
        ? contentOf(message).flatMap((block) =>
            isToolResult(block) && context.isCleared(block.tool_use_id) ? block.tool_use_id : [],
          )
        : [],
    ),
  )
  const limit = Math.min(INPUT_LIMITS.result, Math.floor((room * CHARACTERS_PER_TOKEN) / Math.max(1, cleared.size)))
  if (cleared.size === 0 || limit < LEAST) return messages
  return messages.map((message) =>
    mapBlocks(message, (block) => {
      const original =
        isToolResult(block) && cleared.has(block.tool_use_id) && context.originalResult(block.tool_use_id)
      return original ? { ...original, content: cutMiddle(previewedText(original), limit) } : block
    }),
  )
}
