/**
 * What is exact in tool results that the model no longer sees and that left nothing in their place: cleared in the server's copy or its
 * cache, or by an earlier version. The summariser gets it after its prompt, so the bytes before stay the ones in the cache.
 */
import { fenced } from "../../messages/attachments.ts"
import { isToolResult, isToolUse, type ToolUse } from "../../messages/blocks.ts"
import { handleFor } from "../../messages/handles.ts"
import { inline } from "../../messages/inline.ts"
import { contentOf } from "../../messages/messages.ts"
import { previewedText } from "../../views/context/render-decisions.ts"
import { tellingIn } from "../../views/record/telling.ts"
import type { Views } from "../../views/views.ts"

const LEAST_SHARE = 12 // tokens for one result; less would hold no name
const MOST_SHARE = 80 // tokens for one result, where there are few
const LONGEST_INPUT = 60 // characters of what a call was about
const TELLING_FIELDS = ["file_path", "path", "command", "pattern", "url", "query"] as const

export interface ExtractInput {
  readonly views: Views
  /** Tokens of all lines together. */
  readonly limit: number
}

/** Empty where every result is in view, or where nothing in those that are not is exact. */
export function clearedExtract({ views: { context, estimator }, limit }: ExtractInput): string {
  const lost = lostResults(context)
  if (lost.length === 0 || limit <= 0) return ""
  const share = Math.min(MOST_SHARE, Math.max(LEAST_SHARE, Math.floor(limit / lost.length)))
  const lines: string[] = []
  let left = limit
  for (const { call, address, text } of lost.toReversed()) {
    const name = `${handleFor(address)} ${inline(call.name)}${aboutOf(call)}: `
    const estimate = (piece: string) => estimator.text(piece)
    const telling = tellingIn({ text, room: share, estimate })
    if (telling === "") continue
    left -= estimate(`${name}${telling}\n`)
    if (left < 0) break
    lines.unshift(`${name}${telling}`)
  }
  return lines.length === 0 ? "" : fenced(lines.join("\n"))
}

/** In the order of their calls. */
function lostResults(context: Views["context"]) {
  const calls = new Map<string, ToolUse>()
  const lost: { readonly call: ToolUse; readonly address: string; readonly text: string }[] = []
  for (const message of context.storedMessages()) {
    if (message.type !== "user" && message.type !== "assistant") continue
    for (const block of contentOf(message)) {
      if (isToolUse(block)) calls.set(block.id, block)
      if (!isToolResult(block) || !context.isLostToView(block.tool_use_id)) continue
      const [call, result] = [calls.get(block.tool_use_id), context.originalResult(block.tool_use_id)]
      const address = context.resultAddress(block.tool_use_id)
      if (call && result && address) lost.push({ call, address, text: previewedText(result) })
    }
  }
  return lost
}

function aboutOf({ input }: ToolUse): string {
  const fields = input as Readonly<Record<string, unknown>> | null
  const found = TELLING_FIELDS.map((field) => fields?.[field]).find((value) => typeof value === "string")
  return typeof found === "string" ? ` ${inline(found.slice(0, LONGEST_INPUT).trim())}` : ""
}
