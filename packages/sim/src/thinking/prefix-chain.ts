/**
 * The chain: everything before a thinking block, as a hash that grows block by block. It leaves out thinking, which a
 * client may remove. Each thinking block records the previous one instead.
 */
import { readCompactionSeal } from "../context-management/compaction.ts"
import { isThinking } from "../conversation.ts"
import { isDeferred, toolsLoadedBy } from "../deferred-tools.ts"
import { canonicalDigest, digest } from "../seal.ts"
import type { Block, MessagesBody, Role } from "../wire.ts"

export const EMPTY_CHAIN = ""

/** The chain with one more block, and the definitions of the tools that it loads. A compaction block replaces the messages it summarises. */
export function extendChain(chain: string, role: Role, block: Block, tools?: MessagesBody["tools"]): string {
  if (isThinking(block) || block.type === "cache_edits") return chain
  if (block.type === "compaction") {
    if (block.content == null) return chain // a failed compaction replaces nothing
    return readCompactionSeal(block.signature ?? block.encrypted_content)?.chain ?? digest(`${block.content}`)
  }
  const loaded = toolsLoadedBy(block, tools).map(canonicalDigest)
  return digest(chain, role, canonicalDigest(comparable(block)), ...loaded)
}

/** Leaves out fields that mean the same present or absent. */
const comparable = (block: Block) =>
  Object.fromEntries(
    Object.entries(block).filter(
      ([key, value]) =>
        value !== null && key !== "caller" && key !== "inputText" && !(key === "is_error" && value === false),
    ),
  )

/** What thinking is bound to besides the messages. */
export interface PromptHead {
  readonly system: string
  readonly tools: string
}

/** The order of tools does not matter, and tools that are loaded later do not count. */
export function promptHead({ system, tools = [] }: Pick<MessagesBody, "system" | "tools">): PromptHead {
  const definitions = tools.filter((tool) => !isDeferred(tool)).map(canonicalDigest)
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : (system ?? [])
  return { system: canonicalDigest(blocks), tools: digest(...definitions.sort()) }
}
