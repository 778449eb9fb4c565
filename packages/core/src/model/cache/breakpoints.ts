/**
 * Places the cache breakpoints of a request, at most four:
 *
 * 1. the end of the system prompt, with the tools before it: other conversations share this part;
 * 2. the first block of the first message: a project's instructions, which survive a compaction. If the message has only one block,
 * the end of the tools;
 * 3. the end of the previous request, where that request wrote its newest entry;
 * 4. the end of the last message, where this request writes its own.
 *
 * The server looks back only 20 blocks from a breakpoint, and a turn with many calls has more. The third breakpoint makes sure that the
 * previous entry is found after any turn. A fork that must not write stops at the third: it reads what its parent wrote.
 *
 * The given request is not modified, except for a list of bare messages. Apart from breakpoints, only plain strings change: they become
 * blocks, because a string cannot have a breakpoint. That happens in every message, so a message's bytes do not depend on its position.
 */
import type { CacheLifetime } from "../../base/enums.ts"
import { type Block, hasBreakpoint, isDeferred, isText, toBlocks, withoutBreakpoint } from "../../messages/blocks.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { isAsReceived } from "../../messages/usable.ts"

export interface BreakpointOptions {
  /** Whether the request writes to the cache. Default true. */
  readonly writesCache?: boolean
  /**
   * For forks that make several requests: how many leading messages are the parent's. Default: those before the last response, which is
   * right for a fork with a single request.
   */
  readonly sharedMessages?: number
  /** The messages are blocks without breakpoints, as in a view, and the caller owns the list: it is changed in place. */
  readonly bare?: boolean
  /** How long the server caches what it writes at each breakpoint. Default: five minutes. */
  readonly lifetime?: CacheLifetime
}

type Message = ModelRequest["messages"][number]

/** The position of a block among the messages. */
export interface BlockPosition {
  readonly message: number
  readonly block: number
}

const FIVE_MINUTES = { cache_control: { type: "ephemeral" as const } } // five minutes is the server's default
const ONE_HOUR = { cache_control: { type: "ephemeral" as const, ttl: "1h" as const } }
type CacheControl = typeof FIVE_MINUTES | typeof ONE_HOUR

/** The server refuses a longer lifetime after a shorter one, so the prompt never has the shorter one. */
const cacheControls = (
  lifetime: CacheLifetime = "5m",
): { readonly prompt: CacheControl; readonly messages: CacheControl } => ({
  prompt: lifetime === "5m" ? FIVE_MINUTES : ONE_HOUR,
  messages: lifetime === "1h" ? ONE_HOUR : FIVE_MINUTES,
})

/**
 * Block types that can have a breakpoint, in addition to results of server tools. Thinking is cached as part of a prefix but cannot have
 * one.
 */
const CACHEABLE_TYPES = new Set([
  ...["text", "image", "document", "search_result", "tool_use", "tool_result", "container_upload"],
  ...["server_tool_use", "mcp_tool_use", "compaction"],
])

/** Positions of the breakpoints: which tool, which system block (-1 for none), which blocks of the messages. */
export interface Breakpoints {
  readonly tool: number
  readonly system: number
  /** Has the same lifetime as the prompt. */
  readonly preamble?: BlockPosition | undefined
  readonly positions: readonly BlockPosition[]
}

/** The positions that `placeBreakpoints` uses. With automatic caching, the position that the server uses. */
export function findBreakpoints(request: ModelRequest, options: BreakpointOptions = {}): Breakpoints {
  const { tools = [], system = "", messages } = request
  if (request.cache_control) {
    const last = lastCacheableBlock(messages)
    return { tool: -1, system: -1, positions: last ? [last] : [] }
  }
  const preamble = preamblePosition(request)
  return {
    tool: preamble ? -1 : lastTool(tools),
    system: lastSystemBlock(toBlocks(system)),
    preamble,
    positions: breakpointPositions(messages, options),
  }
}

/** The first block, if there are several. It gets a breakpoint only if the system prompt's covers the tools. */
function preamblePosition({ system = "", messages }: ModelRequest): BlockPosition | undefined {
  const [first, ...others] = messages[0] ? blocksOf(messages[0]) : []
  const hasPreamble = first && others.length > 0 && isCacheable(first) && lastSystemBlock(toBlocks(system)) >= 0
  return hasPreamble ? { message: 0, block: 0 } : undefined
}

export function placeBreakpoints(request: ModelRequest, options: BreakpointOptions = {}): ModelRequest {
  if (request.cache_control) return request // with automatic caching, the server chooses
  const messages = options.bare ? request.messages : request.messages.map(inBlocks)
  const { tools, system } = request
  const controls = cacheControls(options.lifetime)
  const preamble = preamblePosition(request)
  addBreakpoints(messages, { places: breakpointPositions(messages, options), mark: controls.messages })
  if (preamble) addBreakpoints(messages, { places: [preamble], mark: controls.prompt })
  return {
    ...request,
    ...(tools ? { tools: cacheTools(tools, preamble ? undefined : controls.prompt) } : {}),
    ...(system === undefined ? {} : { system: cacheSystem(system, controls.prompt) }),
    messages,
  }
}

/**
 * Adds the remaining breakpoints to messages if the client has placed its own in the prompt: first the end, then the end of the previous
 * request.
 */
export function withBreakpoints(
  messages: readonly Message[],
  { max, ...options }: BreakpointOptions & { readonly max: number },
): Message[] {
  const marked = messages.map(inBlocks)
  const places = max > 0 ? breakpointPositions(marked, options).slice(-max) : []
  addBreakpoints(marked, { places, mark: cacheControls(options.lifetime).messages })
  return marked
}

function cacheTools(tools: readonly ToolDefinition[], mark: CacheControl | undefined): ToolDefinition[] {
  const bare = tools.map((tool) => withoutCacheControl(tool))
  return mark ? setCacheControl(bare, { at: lastTool(bare), mark }) : bare
}

/** A deferred tool is not part of the prompt until it is loaded, so it cannot end the cached part. */
const lastTool = (tools: readonly ToolDefinition[]): number => tools.findLastIndex((tool) => !isDeferred(tool))

function cacheSystem(
  system: NonNullable<ModelRequest["system"]>,
  mark: CacheControl,
): NonNullable<ModelRequest["system"]> {
  if (typeof system === "string" && system.trim() === "") return system
  const bare = (toBlocks(system) as { type: "text"; text: string }[]).map((block) => withoutCacheControl(block))
  return setCacheControl(bare, { at: lastSystemBlock(bare), mark })
}

const lastSystemBlock = (blocks: readonly Block[]): number =>
  blocks.findLastIndex((block) => isText(block) && block.text !== "")

function breakpointPositions(
  messages: readonly Message[],
  { writesCache = true, sharedMessages }: BreakpointOptions,
): BlockPosition[] {
  const previous = (writesCache ? undefined : sharedMessages) ?? previousLength(messages)
  const previousEnd = lastCacheableBlock(messages, previous)
  const end = writesCache ? lastCacheableBlock(messages) : undefined
  return [previousEnd, end].filter((place) => place !== undefined)
}

/** Number of messages in the previous request: those before the last response. */
function previousLength(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ role }) => role === "assistant"),
  )
}

/** The last block that can have a breakpoint. */
function lastCacheableBlock(messages: readonly Message[], before = messages.length): BlockPosition | undefined {
  for (let message = before - 1; message >= 0; message--) {
    const block = blocksOf(messages[message]!).findLastIndex(isCacheable)
    if (block >= 0) return { message, block }
  }
  return undefined
}

function isCacheable(block: Block): boolean {
  if (isText(block)) return block.text !== ""
  return CACHEABLE_TYPES.has(block.type) || (block.type.endsWith("_tool_result") && !isAsReceived(block))
}

/** Changes the list in place, because copying a long list takes longer. */
function addBreakpoints(
  messages: Message[],
  { places, mark }: { readonly places: readonly BlockPosition[]; readonly mark: CacheControl },
): void {
  for (const { message, block } of places) {
    const at = messages[message]!
    messages[message] = withContent(at, setCacheControl(blocksOf(at), { at: block, mark }))
  }
}

const setCacheControl = <T extends object>(
  items: readonly T[],
  { at, mark }: { readonly at: number; readonly mark: CacheControl },
): T[] => items.map((item, index) => (index === at ? { ...item, ...mark } : item))

/** Converts a message to blocks without breakpoints. Most messages already are, and are returned unchanged. */
function inBlocks(message: Message): Message {
  const { content } = message
  if (typeof content === "string") return content === "" ? message : withContent(message, toBlocks(content))
  return content.some(hasBreakpoint) ? withContent(message, content.map(withoutBreakpoint)) : message
}

function withoutCacheControl<T extends object>(item: T): T {
  if (!("cache_control" in item)) return item
  const { cache_control: _, ...rest } = item
  return rest as T
}

const blocksOf = ({ content }: Message): readonly Block[] => toBlocks(content)

const withContent = (message: Message, content: readonly Block[]) => ({ ...message, content }) as Message
