/**
 * The chain: what stands before a thinking block, as a hash that grows block by block. Thinking itself is not part of it
 * (it may be removed); each thinking block knows the one before it instead.
 */
import { readCompactionSeal } from "../context-management/compaction.ts"
import { isThinking } from "../conversation.ts"
import { canonicalDigest, digest } from "../seal.ts"
import type { Block, MessagesBody, Role } from "../wire.ts"

export const EMPTY_CHAIN = ""

/** The chain with one block more. A compaction block takes the place of the messages it was made from. */
export function extendChain(chain: string, role: Role, block: Block): string {
  if (isThinking(block) || block.type === "cache_edits") return chain
  if (block.type === "compaction") {
    if (block.content == null) return chain // a compaction that failed stands for nothing
    return readCompactionSeal(block.signature ?? block.encrypted_content)?.chain ?? digest(`${block.content}`)
  }
  return digest(chain, role, canonicalDigest(comparable(block)))
}

/** Fields that mean the same present or absent. */
const comparable = (block: Block) =>
  Object.fromEntries(
    Object.entries(block).filter(([key, value]) => value !== null && key !== "caller" && key !== "inputText"),
  )

/** What thinking is bound to besides the messages. */
export interface PromptHead {
  readonly system: string
  readonly tools: string
}

/** Tools count as a set, and those that are loaded later do not count. */
export function promptHead({ system, tools = [] }: Pick<MessagesBody, "system" | "tools">): PromptHead {
  const definitions = tools.filter((tool) => !("defer_loading" in tool && tool.defer_loading)).map(canonicalDigest)
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : (system ?? [])
  return { system: canonicalDigest(blocks), tools: digest(...definitions.sort()) }
}
