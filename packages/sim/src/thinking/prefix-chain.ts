/**
 * A hash chain over everything before a thinking block, extended block by block. It leaves out thinking, which a client may remove. Each
 * thinking block records the previous one instead.
 */
import { readCompactionSignature } from "../context-management/compaction.ts"
import { isThinking } from "../conversation.ts"
import { isDeferred, toolsLoadedBy } from "../deferred-tools.ts"
import { canonicalDigest, digest } from "../signature.ts"
import type { Block, MessagesBody, Role } from "../wire.ts"

export const EMPTY_CHAIN = ""

/**
 * The chain extended by one block and the definitions of the tools that it loads. A compaction block replaces the messages that it
 * summarises.
 */
export function extendChain(chain: string, role: Role, block: Block, tools?: MessagesBody["tools"]): string {
  if (isThinking(block) || block.type === "cache_edits") return chain
  if (block.type === "compaction") {
    if (block.content == null) return chain // a failed compaction replaces nothing
    return readCompactionSignature(block.signature ?? block.encrypted_content)?.chain ?? digest(`${block.content}`)
  }
  const loaded = toolsLoadedBy(block, tools).map(canonicalDigest)
  return digest(chain, role, canonicalDigest(comparable(block)), ...loaded)
}

/** Drops fields that mean the same when present or absent. */
const comparable = (block: Block) =>
  Object.fromEntries(
    Object.entries(block).filter(
      ([key, value]) =>
        value !== null && key !== "caller" && key !== "inputText" && !(key === "is_error" && value === false),
    ),
  )

/** The parts of the prompt besides the messages that thinking is bound to. */
export interface PromptHead {
  readonly system: string
  readonly tools: string
}

/** The order of tools does not matter, and tools that are loaded later are not included. */
export function promptHead({ system, tools = [] }: Pick<MessagesBody, "system" | "tools">): PromptHead {
  const definitions = tools.filter((tool) => !isDeferred(tool)).map(canonicalDigest)
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : (system ?? [])
  return { system: canonicalDigest(blocks), tools: digest(...definitions.sort()) }
}
