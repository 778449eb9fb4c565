/**
 * What a program of the AI SDK sent and the Messages API has no place for, kept on blocks so that it comes back as it was sent: options of
 * providers, ids that the API does not take, kinds of results, parts without a counterpart.
 */
import { type Block, resultBlocks, type ToolResult, type ToolUse, textOf } from "../../messages/blocks.ts"
import { doorOf } from "../../messages/caller-key.ts"
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
export interface Kept {
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

export const keptOn = (item: object): Kept => doorOf(item)

/** Says so where a result that was denied gives no reason. The words are those of the AI SDK. */
export const DENIED = "Tool call execution denied."

/** How the AI SDK knows a call. Another provider's ids and names may not be such as the API takes. */
export interface NamedCall {
  readonly toolCallId: string
  readonly toolName: string
}

export function namedCall(call: ToolUse): NamedCall {
  const { toolCallId = call.id, toolName = call.name } = (keptOn(call).part ?? {}) as Partial<NamedCall>
  return { toolCallId, toolName }
}

/** The part in whose place the block is. */
export function asSent(block: Block): SentPart | undefined {
  const { whole, part } = keptOn(block)
  if (whole) return withOptions(revived(whole), block)
  const { source } = block as { source?: { type: string; data?: string; url?: string } }
  // version 3 has kinds of its own for files in results
  if (!source || typeof part?.type !== "string") return undefined
  return { ...part, ...(source.type === "url" ? { url: source.url } : { data: source.data }) } as unknown as SentPart
}

function withOptions({ providerOptions, ...part }: Fields & { readonly type: string }, block: Block): SentPart {
  const isOnMessage = markIn(keptOn(block).message?.providerOptions) !== undefined && !markIn(providerOptions)
  return { ...part, ...withMark(providerOptions, isOnMessage ? undefined : markOf(block)) }
}

/** The parts of a message with those that say nothing. */
export function withSilent<T>(parts: readonly T[], blocks: readonly Block[]): readonly T[] {
  const silent = blocks.flatMap((block) => keptOn(block).silent ?? [])
  return silent.reduce((all, { at, part }) => all.toSpliced(at, 0, revived(part) as T), [...parts])
}

/** Addresses are texts in the journal. */
function revived(part: SentPart): SentPart {
  const { data } = part as { data?: { type?: string; url?: string } }
  return data?.type === "url" ? { ...part, data: { ...data, url: new URL(data.url!) } } : part
}

type AnthropicOptions = Readonly<Record<string, unknown>>

/** Where Claude's options have the mark, under either of its names. */
export function markIn(options: ProviderOptions | undefined): object | undefined {
  const { cacheControl, cache_control = cacheControl } = (options?.anthropic ?? {}) as AnthropicOptions
  return typeof cache_control === "object" && cache_control !== null ? cache_control : undefined
}

/** The options of a part: those that were sent, with the mark that the block has now. */
export function optionsOn(item: object, notes?: ProviderOptions): { providerOptions?: ProviderOptions } {
  const { part, message } = keptOn(item)
  const sent = part?.providerOptions ?? notes
  const isOnMessage = markIn(message?.providerOptions) !== undefined && markIn(sent) === undefined
  return withMark(sent, isOnMessage ? undefined : markOf(item))
}

/** A message with the fields that it was sent with, which its last block has kept. */
export function withMessageFields(message: PromptMessage, blocks: readonly Block[]): PromptMessage {
  const at = blocks.findLastIndex((block) => keptOn(block).message)
  if (at < 0) return message
  const { part, whole, message: fields } = keptOn(blocks[at]!)
  const { providerOptions, ...rest } = fields!
  const own = markIn(providerOptions)
  const isOnPart = markIn((part ?? whole)?.providerOptions as ProviderOptions | undefined) !== undefined
  const mark = own && markOf(blocks[at]!) ? (isOnPart ? own : markOf(blocks[at]!)) : undefined
  return { ...message, ...rest, ...withMark(providerOptions, mark) } as PromptMessage
}

const markOf = (item: object): object | undefined =>
  (item as { readonly cache_control?: object | null }).cache_control ?? undefined

function withMark(
  options: ProviderOptions | undefined,
  mark: object | undefined,
): { providerOptions?: ProviderOptions } {
  const before = markIn(options)
  if (before === mark || (before && mark && JSON.stringify(before) === JSON.stringify(mark)))
    return options ? { providerOptions: options } : {}
  const { cacheControl: _, cache_control: __, ...others } = (options?.anthropic ?? {}) as AnthropicOptions
  const anthropic = mark ? { ...others, cacheControl: mark } : others
  const { anthropic: ___, ...rest } = options ?? {}
  const all = { ...rest, ...(Object.keys(anthropic).length > 0 ? { anthropic } : {}) }
  return Object.keys(all).length > 0 ? { providerOptions: all as ProviderOptions } : {}
}

/** A body with the marks that the program placed, and no others: for providers whose caches are not marked. */
export function withOwnMarks<T extends Readonly<Record<string, unknown>>>(body: T): T {
  const { system, tools, messages } = body
  const inMessage = (message: { readonly content: unknown }) => ({ ...message, content: asPlaced(message.content) })
  return {
    ...body,
    ...(system === undefined ? {} : { system: asPlaced(system) }),
    ...(Array.isArray(tools) ? { tools: tools.map(unmarked) } : {}),
    messages: (messages as { content: unknown }[]).map(inMessage),
  }
}

function asPlaced(items: unknown): unknown {
  if (!Array.isArray(items)) return items
  return items.map((item: object) => {
    const { part, whole, message } = keptOn(item)
    const options = [part, whole, message].map((fields) => fields?.providerOptions as ProviderOptions | undefined)
    const mark = options.map(markIn).find((each) => each !== undefined)
    return { ...unmarked(item), ...(mark ? { cache_control: mark } : {}) }
  })
}

function unmarked(item: object): object {
  const { cache_control: _, ...rest } = item as { cache_control?: unknown }
  return rest
}

/** The output of a result in the kind it was sent in, as far as the content still is of that kind. */
export function keptOutput(result: ToolResult, partOf: (block: Block) => object): ToolOutput | undefined {
  const { output } = keptOn(result)
  if (!output) return undefined
  const blocks = resultBlocks(result)
  if (output.type === "content") return { ...output, value: blocks.map(partOf) } as ToolOutput
  const text = textOf(blocks)
  if (output.type === "execution-denied")
    return { ...output, ...(text === DENIED ? {} : { reason: text }) } as ToolOutput
  const isJson = output.type === "json" || output.type === "error-json"
  const value = isJson ? parsed(text) : { value: text }
  const plain = result.is_error ? "error-text" : "text" // it was cleared, or put aside
  return (value ? { ...output, ...value } : { type: plain, value: text }) as ToolOutput
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
