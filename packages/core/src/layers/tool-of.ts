/** Which tool a call was for. The newest response nearly always says it; otherwise the journal does. */
import { type Block, isToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { blockAt, parseAddress } from "../views/record/archive.ts"
import type { LayerContext } from "./layer.ts"

const UNKNOWN_TOOL = "tool"

export async function toolOf(toolUseId: string, context: LayerContext): Promise<string> {
  const call = callInLastResponse(toolUseId, context) ?? (await callInJournal(toolUseId, context))
  return call && isToolUse(call) ? call.name : UNKNOWN_TOOL
}

function callInLastResponse(toolUseId: string, { views }: LayerContext): Block | undefined {
  const last = views.context.lastResponse
  return last && contentOf(last).find((block) => isToolUse(block) && block.id === toolUseId)
}

/** Where a response came in pieces, its first calls are in an earlier message. */
async function callInJournal(toolUseId: string, { views, journal }: LayerContext): Promise<Block | undefined> {
  const address = parseAddress(views.archive.calls.get(toolUseId) ?? "")
  const entry = address && (await journal.find(address.uuid))
  return entry && blockAt(entry, address)
}
