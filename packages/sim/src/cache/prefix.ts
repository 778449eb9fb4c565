/**
 * A request's prefix as the cache sees it: its tools, system blocks and message blocks, each with hash, tokens and breakpoint.
 *
 * Some settings belong to the prompt although they are not blocks. `speed` and citations change the prefix from the system blocks on; tool
 * choice, images, thinking and effort change it from the messages on. These settings go into the hash of the first item of their level.
 */
import type { ModelFacts } from "@strata/core/tokens"
import { blocksOf, isServerToolResult, nestedBlocks, type Turn } from "../conversation.ts"
import { isDeferred, toolsLoadedBy, withDefinitions } from "../deferred-tools.ts"
import { thinkingMode } from "../thinking/mode.ts"
import {
  contentHash,
  MESSAGE_TOKENS,
  TAGGED_BLOCK_TOKENS,
  TOOL_INSTRUCTIONS_TOKENS,
  type TokenCounter,
} from "../tokens.ts"
import type { Block, CacheControl, MessagesBody, Ttl } from "../wire.ts"
import { explicitBreakpoints, isCacheable } from "./breakpoints.ts"
import type { PrefixItem } from "./prompt-cache.ts"

export type Level = "tools" | "system" | "messages"

export interface LeveledItem extends PrefixItem {
  readonly level: Level
}

export interface PromptParts {
  readonly body: MessagesBody
  readonly model: ModelFacts
  /** The turns the model gets: after merging, clearing and compaction. */
  readonly turns: readonly Turn[]
  readonly counter: TokenCounter
  /** Ids of tool calls whose results were deleted by cache edits. They keep their hash and lose their tokens. */
  readonly deleted?: ReadonlySet<string>
}

const DEFAULT_EFFORT = "high"
const DEFAULT_EFFORT_OF: Readonly<Record<string, string>> = { "claude-opus-5-5": "medium" }

export function toPrefix(parts: PromptParts): readonly LeveledItem[] {
  const { body, turns, counter, deleted } = parts
  const measure = (block: Block) =>
    deleted?.has(block.tool_use_id ?? "")
      ? { ...counter.block(block), tokens: TAGGED_BLOCK_TOKENS }
      : withDefinitions(counter.block(block), toolsLoadedBy(block, body.tools), counter)
  const declared = (body.tools ?? []).filter((tool) => !isDeferred(tool))
  const tools = declared.map((tool, index): LeveledItem => {
    const { hash, tokens } = counter.tool(tool)
    const instructions = index === 0 ? TOOL_INSTRUCTIONS_TOKENS : 0
    return { level: "tools", hash, tokens: tokens + instructions, ...marked(tool.cache_control) }
  })
  const system = blocksOf(body.system).map(
    (block): LeveledItem => ({ level: "system", ...counter.block(block), ...marked(markOf(block)) }),
  )
  const messages = turns.flatMap(({ role, blocks }) =>
    blocks.map(({ block }, index): LeveledItem => {
      const { hash, tokens } = measure(block)
      if (index > 0) return { level: "messages", hash, tokens, ...marked(markOf(block)) }
      return { level: "messages", hash: `${role}:${hash}`, tokens: tokens + MESSAGE_TOKENS, ...marked(markOf(block)) }
    }),
  )
  const withServerTools = markServerToolResults(body, messages, turns)
  const withAutomatic = markAutomatically(
    body,
    [...system, ...withServerTools],
    [...blocksOf(body.system), ...flat(turns)],
  )
  return foldSettings([...tools, ...withAutomatic], parts)
}

export const totalTokens = (items: readonly PrefixItem[]) => items.reduce((sum, { tokens }) => sum + tokens, 0)

const flat = (turns: readonly Turn[]) => turns.flatMap(({ blocks }) => blocks.map(({ block }) => block))

const marked = (mark: CacheControl | null | undefined): { breakpoint?: Ttl } =>
  mark ? { breakpoint: mark.ttl ?? "5m" } : {}

/** A breakpoint on a nested block applies to the block around it, because the cache has no finer position. */
function markOf(block: Block): CacheControl | undefined {
  if (block.cache_control) return block.cache_control
  return nestedBlocks(block).blocks.findLast(({ cache_control }) => cache_control)?.cache_control ?? undefined
}

/** If a request caches anything, the API also caches the results of server tools. */
function markServerToolResults(body: MessagesBody, items: readonly LeveledItem[], turns: readonly Turn[]) {
  if (!body.cache_control && explicitBreakpoints(body).length === 0) return items
  const blocks = flat(turns)
  return items.map((item, index) =>
    !item.breakpoint && isServerToolResult(blocks[index] as Block) ? { ...item, breakpoint: "5m" as const } : item,
  )
}

/** Top-level `cache_control` adds a breakpoint to the last block that can have one. */
function markAutomatically(body: MessagesBody, items: readonly LeveledItem[], blocks: readonly Block[]) {
  const last = body.cache_control ? blocks.findLastIndex(isCacheable) : -1
  return items.map((item, index) => (index === last ? { ...item, ...marked(body.cache_control) } : item))
}

function foldSettings(items: readonly LeveledItem[], { body, model, turns }: PromptParts): readonly LeveledItem[] {
  const toolChoice = body.tool_choice
  const system = [body.speed ?? "standard", flat(turns).some(asksForCitations)]
  const settingsOf: Partial<Record<Level, unknown>> = {
    system,
    messages: [
      ...system,
      [toolChoice?.type ?? "auto", toolChoice?.name ?? "", toolChoice?.disable_parallel_tool_use ?? false],
      flat(turns).some(holdsImage),
      thinkingMode(body, model),
      body.output_config?.effort ?? DEFAULT_EFFORT_OF[model.id] ?? DEFAULT_EFFORT,
    ],
  }
  const seen = new Set<Level>()
  return items.map((item) => {
    const isFirst = !seen.has(item.level)
    seen.add(item.level)
    const settings = settingsOf[item.level]
    return isFirst && settings ? { ...item, hash: `${item.hash}+${contentHash(settings)}` } : item
  })
}

function asksForCitations(block: Block): boolean {
  const { citations } = block as { readonly citations?: { readonly enabled?: boolean } | null }
  return citations?.enabled === true || nestedBlocks(block).blocks.some(asksForCitations)
}

const holdsImage = (block: Block): boolean => block.type === "image" || nestedBlocks(block).blocks.some(holdsImage)
