/** Where a body asks the API to cache its prefix: explicit breakpoints on tools and blocks, and the one that automatic caching adds. */
import { isThinking, topLevelBlocks, type VisitedBlock, visitBlocks } from "../conversation.ts"
import type { Block, MessagesBody, Ttl } from "../wire.ts"

export interface Breakpoint {
  readonly path: string
  readonly ttl: Ttl
  /** The block that has the breakpoint. A tool appears as a block of type `tool`. */
  readonly block: Block
}

/** The breakpoints that the client set, in prompt order: tools, system, messages. Breakpoints on nested blocks are included. */
export function explicitBreakpoints(body: MessagesBody): readonly Breakpoint[] {
  const tools = (body.tools ?? []).map((tool, index) => ({
    path: `tools.${index}`,
    block: { type: "tool", name: tool.name, ...(tool.cache_control && { cache_control: tool.cache_control }) } as Block,
  }))
  return [...tools, ...visitBlocks(body)].flatMap(({ path, block }) =>
    block.cache_control ? [{ path, block, ttl: block.cache_control.ttl ?? "5m" }] : [],
  )
}

/** Thinking and empty text cannot have a breakpoint. */
export const isCacheable = (block: Block) => !isThinking(block) && !(block.type === "text" && block.text === "")

/** The block that top-level `cache_control` applies to: the last one in the prompt that can have a breakpoint. */
export const lastCacheable = (body: MessagesBody): VisitedBlock | undefined =>
  topLevelBlocks(body).findLast(({ block }) => isCacheable(block))
