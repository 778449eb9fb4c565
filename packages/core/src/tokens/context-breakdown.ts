/** Breaks down the context by content. Every token sent to the model belongs to exactly one class, so the classes add up to the total. */
import { apportion } from "../base/apportion.ts"
import { type CooperativeTask, runSync } from "../base/work.ts"
import { renderAttachment } from "../messages/attachment-texts.ts"
import { type Block, isText, isThinking, isToolResult, isToolUse } from "../messages/blocks.ts"
import type { FlatMessage } from "../messages/flatten.ts"
import { contentOf, isFromUser, isSentToModel, type Message } from "../messages/messages.ts"
import type { BlockTokens } from "./estimate.ts"
import type { ModelFacts } from "./models.ts"

/** Tokens in the context, by content. */
export interface ContextBreakdown {
  readonly total: number
  readonly human: number
  readonly assistant: number
  readonly thinking: number
  readonly commandOutput: number
  readonly toolRequests: Readonly<Record<string, number>>
  readonly toolResults: Readonly<Record<string, number>>
  readonly attachments: Readonly<Record<string, { readonly count: number; readonly tokens: number }>>
  readonly other: number
  /** Files that were read more than once. */
  readonly duplicateReads: readonly DuplicateRead[]
  /** Deferred tools. They are not part of the total. */
  readonly deferredTools?: DeferredAccount
}

/** Tools that the model does not see until it loads them. */
export interface DeferredAccount {
  readonly count: number
  /** Approximate tokens that declaring them would add to every request. */
  readonly tokens: number
}

/** A file that was read more than once. */
export interface DuplicateRead {
  readonly path: string
  readonly reads: number
  readonly tokens: number
  /** The tokens of all reads but one, at the average size. */
  readonly wasted: number
}

const COMMAND_OUTPUT = "local-command-stdout"
const READ_TOOLS = new Set(["Read", "read", "read_file", "view"])

export interface BreakdownOptions {
  /** The same messages, flattened: content that flattening drops is not counted, and content that it adds is. Default: all blocks count. */
  readonly sent?: readonly FlatMessage[]
}

/** `messages` must be the messages as sent: since the last boundary, with decisions applied. */
export const breakDownContext = (
  messages: readonly Message[],
  estimator: BlockTokens,
  options: BreakdownOptions = {},
): ContextBreakdown => runSync(breakdownTask(messages, estimator, options))

/** The same as a cooperative task, with one step per message. */
export function* breakdownTask(
  messages: readonly Message[],
  estimator: BlockTokens,
  { sent }: BreakdownOptions = {},
): CooperativeTask<ContextBreakdown> {
  const sentBlocks = sent && new Set(sent.flatMap(({ content }) => content))
  const own = new Set<Block>()
  const rendered = new Set<string>()
  const sums = new Map<string, number>()
  const attachmentCounts = new Map<string, number>()
  const calls = new Map<string, { tool: string; path: string | undefined }>()
  const reads = new Map<string, number[]>()
  const add = (key: string, tokens: number) => sums.set(key, (sums.get(key) ?? 0) + Math.round(tokens))

  for (const message of messages) {
    yield
    if (!isSentToModel(message)) continue
    if (message.type === "attachment") {
      const kind = message.attachment.type
      attachmentCounts.set(kind, (attachmentCounts.get(kind) ?? 0) + 1)
      const blocks = renderAttachment(message.attachment)
      for (const { text } of blocks) rendered.add(text)
      add(`attachment ${kind}`, estimator.blocks(blocks))
    } else if (message.type === "user" || message.type === "assistant") {
      for (const block of contentOf(message)) {
        if (sentBlocks && !sentBlocks.has(block)) continue
        own.add(block)
        const tokens = estimator.block(block)
        if (isToolUse(block)) calls.set(block.id, { tool: block.name, path: readPath(block.input) })
        const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
        if (call?.path !== undefined && READ_TOOLS.has(call.tool))
          reads.set(call.path, [...(reads.get(call.path) ?? []), tokens])
        add(breakdownClass(message, block, call?.tool), tokens)
      }
    }
  }

  // added by flattening: results of interrupted calls, a missing first message
  for (const block of sentBlocks ?? []) {
    if (own.has(block)) continue
    if (isToolResult(block)) add(`result ${calls.get(block.tool_use_id)?.tool ?? "unknown"}`, estimator.block(block))
    else if (!isText(block) || !rendered.has(block.text)) add("other", estimator.block(block))
  }

  return {
    total: [...sums.values()].reduce((sum, tokens) => sum + tokens, 0),
    human: sums.get("human") ?? 0,
    assistant: sums.get("assistant") ?? 0,
    thinking: sums.get("thinking") ?? 0,
    commandOutput: sums.get("commandOutput") ?? 0,
    toolRequests: withPrefix(sums, "request "),
    toolResults: withPrefix(sums, "result "),
    attachments: Object.fromEntries(
      [...attachmentCounts].map(([kind, count]) => [kind, { count, tokens: sums.get(`attachment ${kind}`) ?? 0 }]),
    ),
    other: sums.get("other") ?? 0,
    duplicateReads: [...reads]
      .filter(([, sizes]) => sizes.length > 1)
      .map(([path, sizes]) => duplicateRead(path, sizes)),
  }
}

/** Each class as a whole percentage of the total; together 100. Empty if the total is 0. */
export function breakdownPercentages(accounting: ContextBreakdown): Readonly<Record<string, number>> {
  const { total } = accounting
  if (total === 0) return {}
  const flat: [string, number][] = [
    ...(["human", "assistant", "thinking", "commandOutput", "other"] as const).map((key): [string, number] => [
      key,
      accounting[key],
    ]),
    ...Object.entries(accounting.toolRequests).map(([tool, tokens]): [string, number] => [
      `toolRequests.${tool}`,
      tokens,
    ]),
    ...Object.entries(accounting.toolResults).map(([tool, tokens]): [string, number] => [
      `toolResults.${tool}`,
      tokens,
    ]),
    ...Object.entries(accounting.attachments).map(([kind, { tokens }]): [string, number] => [
      `attachments.${kind}`,
      tokens,
    ]),
  ]
  const percentages = apportion(
    flat.map(([, tokens]) => tokens),
    100,
  )
  return Object.fromEntries(flat.map(([key], i) => [key, percentages[i]!]))
}

/** A share of the context. */
export interface ContextShare {
  readonly tokens: number
  /** Rounded percentage of the total. */
  readonly percent: number
}

/** Shares of the context that tools use. */
export interface ContextShares {
  /** Calls and results of all tools together. */
  readonly tools: ContextShare
  /** Repeated reads of files: all reads of a file but one. */
  readonly repeatedReads: ContextShare
}

export function contextShares({ total, toolRequests, toolResults, duplicateReads }: ContextBreakdown): ContextShares {
  const share = (parts: readonly number[]): ContextShare => {
    const tokens = parts.reduce((sum, part) => sum + part, 0)
    return { tokens, percent: total === 0 ? 0 : Math.round((100 * tokens) / total) }
  }
  return {
    tools: share([...Object.values(toolRequests), ...Object.values(toolResults)]),
    repeatedReads: share(duplicateReads.map(({ wasted }) => wasted)),
  }
}

function breakdownClass(message: Message, block: Block, tool: string | undefined): string {
  if (isToolUse(block)) return `request ${block.name}`
  if (isToolResult(block)) return `result ${tool ?? "unknown"}`
  if (isThinking(block)) return "thinking"
  if (message.type === "assistant") return isText(block) ? "assistant" : "other"
  if (isText(block) && block.text.includes(COMMAND_OUTPUT)) return "commandOutput"
  return isFromUser(message) ? "human" : "other"
}

function withPrefix(sums: ReadonlyMap<string, number>, prefix: string): Record<string, number> {
  return Object.fromEntries(
    [...sums].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]),
  )
}

function duplicateRead(path: string, sizes: readonly number[]): DuplicateRead {
  const tokens = Math.round(sizes.reduce((sum, size) => sum + size, 0))
  return { path, reads: sizes.length, tokens, wasted: Math.floor(tokens / sizes.length) * (sizes.length - 1) }
}

function readPath(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined
  const { file_path, path } = input as { file_path?: unknown; path?: unknown }
  const found = file_path ?? path
  return typeof found === "string" ? found : undefined
}

// The cost of files that were read repeatedly, although the model already had their content.

/** The cost of repeated reads. */
export interface RepeatedReads {
  readonly files: number
  /** The tokens of all reads but one, for each file. */
  readonly tokens: number
  /** `undefined` if the model's price is unknown. */
  readonly dollars: number | undefined
  readonly counted: string
}

const COUNTED =
  "Each repeated read is counted as one cache write. The cache reads in every later request are not included."

export function repeatedReads(
  { duplicateReads }: Pick<ContextBreakdown, "duplicateReads">,
  facts: ModelFacts,
): RepeatedReads {
  const tokens = duplicateReads.reduce((sum, { wasted }) => sum + wasted, 0)
  const dollars = facts.price && (tokens * facts.price.cacheWrite5m) / 1_000_000
  return { files: duplicateReads.length, tokens, dollars, counted: COUNTED }
}
