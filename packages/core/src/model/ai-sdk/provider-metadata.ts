/**
 * Data of AI SDK prompts that the Messages API has no field for: provider options, ids that the API does not accept, kinds of results,
 * parts without a counterpart. It is stored in a field of the block, so that a prompt can be restored exactly.
 */
import { type Block, resultBlocks, type ToolResult, type ToolUse, textOf } from "../../messages/blocks.ts"
import { providerFields } from "../../messages/message-identity.ts"
import type { AiSdkToolOutput, PromptMessage, ProviderOptions } from "./interface.ts"

/** A part of a prompt, of any version of the interface. */
export interface SentPart {
  readonly type: string
  readonly [field: string]: unknown
}

interface Fields {
  readonly providerOptions?: ProviderOptions
  readonly [field: string]: unknown
}

/** Metadata stored on a block. The property names are those on disk. */
export interface ProviderMetadata {
  /** Fields of the part that the block does not express. */
  readonly part?: Fields
  /** The original part, if the block is only a text placeholder. */
  readonly whole?: SentPart
  /** On the last block of a message: fields of the message. */
  readonly message?: Fields
  /** Parts of the message without visible content, and their positions among the parts. */
  readonly silent?: readonly { readonly at: number; readonly part: SentPart }[]
  /** On a result: the kind of its output, if the content does not imply it. */
  readonly output?: Pick<AiSdkToolOutput, "type"> & { readonly providerOptions?: ProviderOptions }
  /** A text file that was sent as bytes. */
  readonly bytes?: true
}

export const providerMetadataOf = (item: object): ProviderMetadata => providerFields(item)

/** The content of a denied result without a reason, worded as in the AI SDK. */
export const DENIED = "Tool call execution denied."

/** A call's id and tool name in the AI SDK. The API may not accept those of other providers. */
export interface NamedCall {
  readonly toolCallId: string
  readonly toolName: string
}

export function namedCall(call: ToolUse): NamedCall {
  const { toolCallId = call.id, toolName = call.name } = (providerMetadataOf(call).part ?? {}) as Partial<NamedCall>
  return { toolCallId, toolName }
}

/** The part that the block stands for, if the block is a placeholder or a version 3 file. */
export function originalPart(block: Block): SentPart | undefined {
  const { whole, part } = providerMetadataOf(block)
  if (whole) return withOptions(reviveUrls(whole), block)
  const { source } = block as { source?: { type: string; data?: string; url?: string } }
  // version 3 has separate kinds for files in results
  if (!source || typeof part?.type !== "string") return undefined
  return { ...part, ...(source.type === "url" ? { url: source.url } : { data: source.data }) } as unknown as SentPart
}

function withOptions({ providerOptions, ...part }: Fields & { readonly type: string }, block: Block): SentPart {
  const isOnMessage =
    cacheControlIn(providerMetadataOf(block).message?.providerOptions) !== undefined && !cacheControlIn(providerOptions)
  return { ...part, ...withCacheControl(providerOptions, isOnMessage ? undefined : blockCacheControl(block)) }
}

/** The parts of a message, including those without visible content. */
export function withSilentParts<T>(parts: readonly T[], blocks: readonly Block[]): readonly T[] {
  const silent = blocks.flatMap((block) => providerMetadataOf(block).silent ?? [])
  return silent.reduce((all, { at, part }) => all.toSpliced(at, 0, reviveUrls(part) as T), [...parts])
}

/** URLs are stored as text in the journal. */
function reviveUrls(part: SentPart): SentPart {
  const { data } = part as { data?: { type?: string; url?: string } }
  return data?.type === "url" ? { ...part, data: { ...data, url: new URL(data.url!) } } : part
}

type AnthropicOptions = Readonly<Record<string, unknown>>

/** The cache control in Claude's options, under either of its names. */
export function cacheControlIn(options: ProviderOptions | undefined): object | undefined {
  const { cacheControl, cache_control = cacheControl } = (options?.anthropic ?? {}) as AnthropicOptions
  return typeof cache_control === "object" && cache_control !== null ? cache_control : undefined
}

/** The options of a part as sent, with the block's present cache control. */
export function optionsOn(item: object, notes?: ProviderOptions): { providerOptions?: ProviderOptions } {
  const { part, message } = providerMetadataOf(item)
  const sent = part?.providerOptions ?? notes
  const isOnMessage = cacheControlIn(message?.providerOptions) !== undefined && cacheControlIn(sent) === undefined
  return withCacheControl(sent, isOnMessage ? undefined : blockCacheControl(item))
}

/** Restores the fields of a message, which are stored on its last block. */
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

/** A body with only the breakpoints that the program placed, for providers to which Strata adds none. */
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

/** Restores the output of a result in its original kind, if the content still has that kind. */
export function restoreOutput(result: ToolResult, partOf: (block: Block) => object): AiSdkToolOutput | undefined {
  const { output } = providerMetadataOf(result)
  if (!output) return undefined
  const blocks = resultBlocks(result)
  if (output.type === "content") return { ...output, value: blocks.map(partOf) } as AiSdkToolOutput
  const text = textOf(blocks)
  if (output.type === "execution-denied")
    return { ...output, ...(text === DENIED ? {} : { reason: text }) } as AiSdkToolOutput
  const isJson = output.type === "json" || output.type === "error-json"
  const value = isJson ? tryParseJson(text) : { value: text }
  const plain = result.is_error ? "error-text" : "text" // the result was cleared or offloaded
  return (value ? { ...output, ...value } : { type: plain, value: text }) as AiSdkToolOutput
}

function tryParseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
