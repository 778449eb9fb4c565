/**
 * Newer models return thinking without its text unless a request asks for a summary of it. The text costs the same either way. Without it a
 * journal holds empty thinking: no one can read or search it, and no summary can be checked against it.
 */
import type { ModelRequest } from "../messages/request.ts"
import type { ModelAccepts } from "../tokens/model-facts.ts"

type Thinking = ModelRequest["thinking"]

/** What a request should say about thinking, where the model leaves the text out and the request leaves it open. Switches no thinking on. */
export function summarizedThinking(asked: Thinking, accepts: ModelAccepts): Thinking {
  if (!accepts.omitsThinking) return asked
  if (!asked) return accepts.thinksUnasked ? { type: "adaptive", display: "summarized" } : asked
  const isOpen = (asked.type === "adaptive" || asked.type === "enabled") && !asked.display
  return isOpen ? { ...asked, display: "summarized" } : asked
}
