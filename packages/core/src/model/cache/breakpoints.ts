/**
 * Where a request asks for its prefix to be cached. At most four places:
 *
 * 1. the end of the system prompt, with the tools before it: other conversations share this part;
 * 2. the first block of the first message: a project's instructions, which stay when the conversation is compacted. Where the message has
 *    only one block, the end of the tools;
 * 3. the end of the previous request, where that one wrote its newest entry;
 * 4. the end of the last message, where this one writes its own.
 *
 * The server looks back only 20 blocks from a breakpoint, and a turn with many calls has more. The third place makes sure that the previous
 * entry is found after any turn. A fork that must not write stops at the third: it reads what its parent wrote.
 *
 * Pure: the request it gets stays as it was, except for a list of bare messages. Besides the marks, only plain strings change: they become blocks, because a string cannot carry
 * a mark. That happens in every message, so a message's bytes do not depend on whether it is the last.
 */
import type { CacheLifetime } from "../../base/vocabulary.ts"
import { type Block, hasBreakpoint, isDeferred, isText, toBlocks, withoutBreakpoint } from "../../messages/blocks.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { isAsReceived } from "../../messages/usable.ts"

export interface BreakpointOptions {
  /** Default true. */
  readonly writesCache?: boolean
  /**
   * For forks that make several requests: how many messages, from the first, are the parent's. Default: those before the last answer,
   * which is right for a fork that asks once.
   */
  readonly sharedMessages?: number
  /** The messages are in blocks without marks, as a view's are, and the list is the caller's own: it is changed in place. */
  readonly bare?: boolean
  /** How long the server keeps what it writes at each place. Default: five minutes. */
  readonly lifetime?: CacheLifetime
}

type Message = ModelRequest["messages"][number]

/** The place of a block among the messages. */
export interface Place {
  readonly message: number
  readonly block: number
}

const MARK = { cache_control: { type: "ephemeral" as const } } // five minutes, without naming them
const HOUR_MARK = { cache_control: { type: "ephemeral" as const, ttl: "1h" as const } }
type Mark = typeof MARK | typeof HOUR_MARK

/** The server refuses an hour after five minutes, so the prompt never lives shorter than the messages. */
const marksOf = (lifetime: CacheLifetime = "5m"): { readonly prompt: Mark; readonly messages: Mark } => ({
  prompt: lifetime === "5m" ? MARK : HOUR_MARK,
  messages: lifetime === "1h" ? HOUR_MARK : MARK,
})

/** Kinds that can be marked, besides results of server tools. Thinking is cached as part of a prefix, but cannot be marked. */
const MARKABLE = new Set([
  ...["text", "image", "document", "search_result", "tool_use", "tool_result", "container_upload"],
  ...["server_tool_use", "mcp_tool_use", "compaction"],
])

/** Where the marks are: which tool, which system block (-1 for none), which blocks among the messages. */
export interface Breakpoints {
  readonly tool: number
  readonly system: number
  /** Lives as long as the prompt. */
  readonly preamble?: Place | undefined
  readonly places: readonly Place[]
}

/** The places that `placeBreakpoints` marks; with automatic caching the one that the server marks. */
export function breakpointsIn(request: ModelRequest, options: BreakpointOptions = {}): Breakpoints {
  const { tools = [], system = "", messages } = request
  if (request.cache_control) {
    const last = lastPlace(messages)
    return { tool: -1, system: -1, places: last ? [last] : [] }
  }
  const preamble = preambleIn(request)
  return {
    tool: preamble ? -1 : lastTool(tools),
    system: lastSystemBlock(toBlocks(system)),
    preamble,
    places: placesIn(messages, options),
  }
}

/** The first of several blocks. It needs a place of its own only where the system prompt's covers the tools. */
function preambleIn({ system = "", messages }: ModelRequest): Place | undefined {
  const [first, ...others] = messages[0] ? blocksOf(messages[0]) : []
  const hasPreamble = first && others.length > 0 && isMarkable(first) && lastSystemBlock(toBlocks(system)) >= 0
  return hasPreamble ? { message: 0, block: 0 } : undefined
}

export function placeBreakpoints(request: ModelRequest, options: BreakpointOptions = {}): ModelRequest {
  if (request.cache_control) return request // automatic caching: the caller leaves it to the server
  const messages = options.bare ? request.messages : request.messages.map(inBlocks)
  const { tools, system } = request
  const marks = marksOf(options.lifetime)
  const preamble = preambleIn(request)
  markPlaces(messages, { places: placesIn(messages, options), mark: marks.messages })
  if (preamble) markPlaces(messages, { places: [preamble], mark: marks.prompt })
  return {
    ...request,
    ...(tools ? { tools: markTools(tools, preamble ? undefined : marks.prompt) } : {}),
    ...(system === undefined ? {} : { system: markSystem(system, marks.prompt) }),
    messages,
  }
}

/** Messages with the marks that are left where someone else has marked the prompt: the end first, then the end of the request before. */
export function markedMessages(
  messages: readonly Message[],
  { max, ...options }: BreakpointOptions & { readonly max: number },
): Message[] {
  const marked = messages.map(inBlocks)
  const places = max > 0 ? placesIn(marked, options).slice(-max) : []
  markPlaces(marked, { places, mark: marksOf(options.lifetime).messages })
  return marked
}

function markTools(tools: readonly ToolDefinition[], mark: Mark | undefined): ToolDefinition[] {
  const bare = tools.map((tool) => withoutMark(tool))
  return mark ? markAt(bare, { at: lastTool(bare), mark }) : bare
}

/** A deferred tool is not part of the prompt until it is loaded, so it cannot end the cached part. */
const lastTool = (tools: readonly ToolDefinition[]): number => tools.findLastIndex((tool) => !isDeferred(tool))

function markSystem(system: NonNullable<ModelRequest["system"]>, mark: Mark): NonNullable<ModelRequest["system"]> {
  if (typeof system === "string" && system.trim() === "") return system
  const bare = (toBlocks(system) as { type: "text"; text: string }[]).map((block) => withoutMark(block))
  return markAt(bare, { at: lastSystemBlock(bare), mark })
}

const lastSystemBlock = (blocks: readonly Block[]): number =>
  blocks.findLastIndex((block) => isText(block) && block.text !== "")

function placesIn(messages: readonly Message[], { writesCache = true, sharedMessages }: BreakpointOptions): Place[] {
  const previous = (writesCache ? undefined : sharedMessages) ?? previousLength(messages)
  const previousEnd = lastPlace(messages, previous)
  const end = writesCache ? lastPlace(messages) : undefined
  return [previousEnd, end].filter((place) => place !== undefined)
}

/** How many messages the previous request had: those before the last answer. */
function previousLength(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ role }) => role === "assistant"),
  )
}

/** The last block that can be marked. */
function lastPlace(messages: readonly Message[], before = messages.length): Place | undefined {
  for (let message = before - 1; message >= 0; message--) {
    const block = blocksOf(messages[message]!).findLastIndex(isMarkable)
    if (block >= 0) return { message, block }
  }
  return undefined
}

function isMarkable(block: Block): boolean {
  if (isText(block)) return block.text !== ""
  return MARKABLE.has(block.type) || (block.type.endsWith("_tool_result") && !isAsReceived(block))
}

/** In place: a long list takes longer to copy than to mark. */
function markPlaces(
  messages: Message[],
  { places, mark }: { readonly places: readonly Place[]; readonly mark: Mark },
): void {
  for (const { message, block } of places) {
    const at = messages[message]!
    messages[message] = withContent(at, markAt(blocksOf(at), { at: block, mark }))
  }
}

const markAt = <T extends object>(
  items: readonly T[],
  { at, mark }: { readonly at: number; readonly mark: Mark },
): T[] => items.map((item, index) => (index === at ? { ...item, ...mark } : item))

/** A message in blocks, without marks of its own. Most messages already are, and stay the same object. */
function inBlocks(message: Message): Message {
  const { content } = message
  if (typeof content === "string") return content === "" ? message : withContent(message, toBlocks(content))
  return content.some(hasBreakpoint) ? withContent(message, content.map(withoutBreakpoint)) : message
}

function withoutMark<T extends object>(item: T): T {
  if (!("cache_control" in item)) return item
  const { cache_control: _, ...rest } = item
  return rest as T
}

const blocksOf = ({ content }: Message): readonly Block[] => toBlocks(content)

const withContent = (message: Message, content: readonly Block[]) => ({ ...message, content }) as Message
