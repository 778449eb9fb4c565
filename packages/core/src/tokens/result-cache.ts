/**
 * Caches the measure of tool results by tool_use id, as long as the content stays the same. It compares content by length and
 * hash, so it keeps no text in memory.
 */
import type { ToolResult } from "../messages/blocks.ts"
import { type Measure, measureBlock } from "./measure.ts"

const REMEMBERED_RESULTS = 20_000 // about 5 MB; a conversation of a million tokens has fewer results

export type ResultMeter = (result: ToolResult) => Measure

export function createResultMeter(measure: ResultMeter = measureBlock): ResultMeter {
  const remembered = new Map<string, { readonly content: string; readonly measure: Measure }>()
  return (result) => {
    const content = fingerprint(result.content ?? "")
    const known = remembered.get(result.tool_use_id)
    if (known?.content === content) return known.measure
    const fresh = { content, measure: measure(result) }
    remembered.delete(result.tool_use_id)
    remembered.set(result.tool_use_id, fresh)
    if (remembered.size > REMEMBERED_RESULTS) forgetOldest(remembered)
    return fresh.measure
  }
}

function forgetOldest(remembered: Map<string, unknown>): void {
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest)
    return
  }
}

/** Length and FNV-1a. */
function fingerprint(content: NonNullable<ToolResult["content"]>): string {
  const text = typeof content === "string" ? content : JSON.stringify(content)
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return `${typeof content}:${text.length}:${hash}`
}
