/** Where the conversation is before a request: what a compaction would interrupt there, and what it costs. */
import { isRequest } from "../../messages/messages.ts"
import { cacheState } from "../2-microcompact/cache-state.ts"
import type { LayerContext } from "../layer.ts"

/**
 * `pause`: the cache is gone, so everything is written again in any case. `request`: someone asks for something new. `task`: the agent is
 * at work on the last request.
 */
export type Opening = "pause" | "request" | "task"

export function openingOf(context: LayerContext): Opening {
  const cache = cacheState(context)
  if (cache.state === "cold" && cache.why !== "no response yet") return "pause"
  return beginsRequest(context) ? "request" : "task"
}

/** Whether a request came after the newest answer. */
function beginsRequest({ views }: LayerContext): boolean {
  const messages = views.context.journaledMessages()
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type === "assistant") return false
    if (isRequest(message)) return true
  }
  return false
}
