import type { Message } from "../../messages/messages.ts"
import { withoutBlocks, withoutThinking } from "./changed-messages.ts"
import type { Overlay } from "./overlay.ts"
import { renderClearedMemory } from "./render-decisions.ts"

/** The message without what decisions about whole messages take out of it. */
export function reduced(message: Message, overlay: Overlay): Message {
  if (message.type === "attachment")
    return overlay.isClearedMemory(message.uuid) ? renderClearedMemory(message) : message
  const taken = withoutBlocks(message, overlay.refusedBlocks(message))
  return overlay.isWithoutThinking(message) ? withoutThinking(taken) : taken
}
