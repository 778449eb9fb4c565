/** Finds the call of a result: nearly always in the newest response, otherwise in the journal. */
import { type Block, isToolUse, type ToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { blockAt, parseAddress } from "../views/record/decisions.ts"
import type { LayerContext } from "./layer.ts"

const UNKNOWN_TOOL = "tool"

export async function findToolName(toolUseId: string, context: LayerContext): Promise<string> {
  return (await findToolCall(toolUseId, context))?.name ?? UNKNOWN_TOOL
}

export async function findToolCall(toolUseId: string, context: LayerContext): Promise<ToolUse | undefined> {
  const call = callInLastResponse(toolUseId, context) ?? (await callInJournal(toolUseId, context))
  return call && isToolUse(call) ? call : undefined
}

function callInLastResponse(toolUseId: string, { views }: LayerContext): Block | undefined {
  const last = views.context.lastResponse
  return last && contentOf(last).find((block) => isToolUse(block) && block.id === toolUseId)
}

/** Finds the call in the journal. If a response was split, its first calls are in an earlier message. */
async function callInJournal(toolUseId: string, { views, journal }: LayerContext): Promise<Block | undefined> {
  const address = parseAddress(views.archive.calls.get(toolUseId) ?? "")
  const entry = address && (await journal.find(address.uuid))
  return entry && blockAt(entry, address)
}
