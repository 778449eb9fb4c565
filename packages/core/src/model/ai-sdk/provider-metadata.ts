/**
 * What a program of the AI SDK sent and the Messages API has no place for, kept on blocks so that it comes back as it was sent: options of
 * providers, ids that the API does not take, kinds of results, parts without a counterpart.
 */
import { type Block, resultBlocks, type ToolResult, type ToolUse, textOf } from "../../messages/blocks.ts"
import { providerFields } from "../../messages/message-identity.ts"
import type { PromptMessage, ProviderOptions, ToolOutput } from "./interface.ts"

/** A part of a prompt, of any version of the interface. */
export interface SentPart {
  readonly type: string
  readonly [field: string]: unknown
}

interface Fields {
  readonly providerOptions?: ProviderOptions
  readonly [field: string]: unknown
}

/** What is kept on a block. */
export interface ProviderMetadata {
  /** Fields of the part that the block does not say. */
  readonly part?: Fields
  /** The part itself, where the block is only a text in its place. */
  readonly whole?: SentPart
  /** On the last block of a message: fields of the message. */
  readonly message?: Fields
  /** Parts of its message that say nothing, and where among the parts they were. */
  readonly silent?: readonly { readonly at: number; readonly part: SentPart }[]
  /** On a result: its kind, if the content does not say it. */
  readonly output?: Pick<ToolOutput, "type"> & { readonly providerOptions?: ProviderOptions }
  /** A text file that was sent as bytes. */
  readonly bytes?: true
}

export const providerMetadataOf = (item: object): ProviderMetadata => providerFields(item)

/** Says so where a result that was denied gives no reason. The words are those of the AI SDK. */
export const DENIED = "Tool call execution denied."

/** How the AI SDK knows a call. Another provider's ids and names may not be such as the API takes. */
export interface NamedCall {
  readonly toolCallId: string
  readonly toolName: string
}

export function namedCall(call: ToolUse): NamedCall {
  const { toolCallId = call.id, toolName = call.name } = (providerMetadataOf(call).part ?? {}) as Partial<NamedCall>
  return { toolCallId, toolName }
}

/** The part in whose place the block is. */
export function originalPart(block: Block): SentPart | undefined {
  const { whole, part } = providerMetadataOf(block)
  if (whole) return withOptions(reviveUrls(whole), block)
  const { source } = block as { source?: { type: string; data?: string; url?: string } }
  // version 3 has kinds of its own for files in results
  if (!source || typeof part?.type !== "string") return undefined
  return { ...part, ...(source.type === "url" ? { url: source.url } : { data: source.data }) } as unknown as SentPart
}

function withOptions({ providerOptions, ...part }: Fields & { readonly type: string }, block: Block): SentPart {
  const isOnMessage =
    cacheControlIn(providerMetadataOf(block).message?.providerOptions) !== undefined && !cacheControlIn(providerOptions)
  return { ...part, ...withCacheControl(providerOptions, isOnMessage ? undefined : blockCacheControl(block)) }
}

/** The parts of a message with those that say nothing. */
export function withSilentParts<T>(parts: readonly T[], blocks: readonly Block[]): readonly T[] {
  const silent = blocks.flatMap((block) => providerMetadataOf(block).silent ?? [])
  return silent.reduce((all, { at, part }) => all.toSpliced(at, 0, reviveUrls(part) as T), [...parts])
}

/** Addresses are texts in the journal. */
function reviveUrls(part: SentPart): SentPart {
  const { data } = part as { data?: { type?: string; url?: string } }
  return data?.type === "url" ? { ...part, data: { ...data, url: new URL(data.url!) } } : part
}

type AnthropicOptions = Readonly<Record<string, unknown>>

/** Where Claude's options have the mark, under either of its names. */
export function cacheControlIn(options: ProviderOptions | undefined): object | undefined {
  const { cacheControl, cache_control = cacheControl } = (options?.anthropic ?? {}) as AnthropicOptions
  return typeof cache_control === "object" && cache_control !== null ? cache_control : undefined
}

/** The options of a part: those that were sent, with the mark that the block has now. */
export function optionsOn(item: object, notes?: ProviderOptions): { providerOptions?: ProviderOptions } {
  const { part, message } = providerMetadataOf(item)
  const sent = part?.providerOptions ?? notes
  const isOnMessage = cacheControlIn(message?.providerOptions) !== undefined && cacheControlIn(sent) === undefined
  return withCacheControl(sent, isOnMessage ? undefined : blockCacheControl(item))
}

/** A message with the fields that it was sent with, which its last block has kept. */
export function withMessageFields(message: PromptMessage, blocks: readonly Block[]): PromptMessage {
  const at = blocks.findLastIndex((block) => providerMetadataOf(block).message)
  if (at < 0) return message
  const { part, whole, message: fields } = providerMetadataOf(blocks[at]!)
  const { providerOptions, ...rest } = fields!
  const own = cacheControlIn(providerOptions)
  const isOnPart = cacheControlIn((part ?? whole)?.providerOptions as ProviderOptions | undefined) !== undefined
  const mark = own && blockCacheControl(blocks[at]!) ? (isOnPart ? own : blockCacheControl(blocks[at]!)) : undefined
  return { ...message, ...rest, ...withCacheControl(providerOptions, mark) } as PromptMessage
}

const blockCacheControl = (item: object): object | undefined =>
  (item as { readonly cache_control?: object | null }).cache_control ?? undefined

function withCacheControl(
  options: ProviderOptions | undefined,
  mark: object | undefined,
): { providerOptions?: ProviderOptions } {
  const before = cacheControlIn(options)
  if (before === mark || (before && mark && JSON.stringify(before) === JSON.stringify(mark)))
    return options ? { providerOptions: options } : {}
  const { cacheControl: _, cache_control: __, ...others } = (options?.anthropic ?? {}) as AnthropicOptions
  const anthropic = mark ? { ...others, cacheControl: mark } : others
  const { anthropic: ___, ...rest } = options ?? {}
  const all = { ...rest, ...(Object.keys(anthropic).length > 0 ? { anthropic } : {}) }
  return Object.keys(all).length > 0 ? { providerOptions: all as ProviderOptions } : {}
}

/** A body with the marks that the program placed, and no others: for providers whose caches are not marked. */
export function withProgramBreakpoints<T extends Readonly<Record<string, unknown>>>(body: T): T {
  const { system, tools, messages } = body
  const inMessage = (message: { readonly content: unknown }) => ({
    ...message,
    content: withPlacedBreakpoints(message.content),
  })
  return {
    ...body,
    ...(system === undefined ? {} : { system: withPlacedBreakpoints(system) }),
    ...(Array.isArray(tools) ? { tools: tools.map(withoutCacheControl) } : {}),
    messages: (messages as { content: unknown }[]).map(inMessage),
  }
}

function withPlacedBreakpoints(items: unknown): unknown {
  if (!Array.isArray(items)) return items
  return items.map((item: object) => {
    const { part, whole, message } = providerMetadataOf(item)
    const options = [part, whole, message].map((fields) => fields?.providerOptions as ProviderOptions | undefined)
    const mark = options.map(cacheControlIn).find((each) => each !== undefined)
    return { ...withoutCacheControl(item), ...(mark ? { cache_control: mark } : {}) }
  })
}

function withoutCacheControl(item: object): object {
  const { cache_control: _, ...rest } = item as { cache_control?: unknown }
  return rest
}

/** The output of a result in the kind it was sent in, as far as the content still is of that kind. */
export function restoreOutput(result: ToolResult, partOf: (block: Block) => object): ToolOutput | undefined {
  const { output } = providerMetadataOf(result)
  if (!output) return undefined
  const blocks = resultBlocks(result)
  if (output.type === "content") return { ...output, value: blocks.map(partOf) } as ToolOutput
  const text = textOf(blocks)
  if (output.type === "execution-denied")
    return { ...output, ...(text === DENIED ? {} : { reason: text }) } as ToolOutput
  const isJson = output.type === "json" || output.type === "error-json"
  const value = isJson ? tryParseJson(text) : { value: text }
  const plain = result.is_error ? "error-text" : "text" // it was cleared, or put aside
  return (value ? { ...output, ...value } : { type: plain, value: text }) as ToolOutput
}

function tryParseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
