/** Which calls' results are whole in the messages that are kept: what a file read showed there needs no second showing (L4-20). */
import { isText, isToolResult, resultBlocks, type ToolResult } from "../../../messages/blocks.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { CLEARED_MARKER } from "../../../views/context/render-decisions.ts"

const PERSISTED_TAG = "<persisted-output>"

/** `kept` as they are shown, so that a result which was cleared or put aside is seen as what stands in its place. */
export function wholeCalls(kept: readonly Message[]): ReadonlySet<string> {
  const results = kept.flatMap((message) => (message.type === "user" ? contentOf(message).filter(isToolResult) : []))
  return new Set(results.filter((result) => !isPutAway(result)).map(({ tool_use_id }) => tool_use_id))
}

/** A file's own text cannot look like this: its lines are numbered. */
function isPutAway(result: ToolResult): boolean {
  const [first] = resultBlocks(result)
  const text = first && isText(first) ? first.text : ""
  return text.startsWith(CLEARED_MARKER) || text.startsWith(PERSISTED_TAG)
}
