/**
 * The server's copy of a request after the edits that the request asks for. The local conversation does not change, but the cost and the
 * cached prefix do.
 * Whether the server remembers what it cleared is not documented. `forgets`: it judges every request by itself, as the simulator does, and
 * clears more with every call unless the request lists what to keep. `keeps`: what it cleared stays cleared, and it clears again only when
 * the rest passes the trigger.
 */
import { isThinking, isToolResult, isToolUse, type ToolUse } from "@strata/core/messages"
import type { PromptItem } from "./cache-model.ts"

export interface SentMessage {
  readonly role: "user" | "assistant" | "system"
  readonly items: readonly PromptItem[]
}

export interface ServerEdit {
  readonly cleared: number
  readonly tokens: number
}

export type ServerMemory = "keeps" | "forgets"

interface ClearToolUses {
  readonly type: "clear_tool_uses_20250919"
  readonly trigger?: { readonly type: string; readonly value: number }
  readonly keep?: { readonly value: number }
  readonly clear_at_least?: { readonly value: number }
  readonly exclude_tools?: readonly string[]
  readonly clear_tool_inputs?: readonly string[] | boolean
}
interface ClearThinking {
  readonly type: "clear_thinking_20251015"
  readonly keep?: string | { readonly type: string; readonly value?: number }
}
type Edit = ClearToolUses | ClearThinking

const KEPT_USES = 3 // the API's default
const MARKER_TOKENS = 20 // rough size of a cleared result or call; the placeholder is not documented

export class ServerContext {
  readonly #memory: ServerMemory
  #cleared: ReadonlySet<string> = new Set()

  constructor(memory: ServerMemory) {
    this.#memory = memory
  }

  /** Returns the messages that the model receives, and what this request newly clears. */
  edit(
    messages: readonly SentMessage[],
    { edits, prompt }: { readonly edits: readonly unknown[]; readonly prompt: number },
  ): { readonly messages: readonly SentMessage[]; readonly edit: ServerEdit } {
    let left = messages
    let edit: ServerEdit = { cleared: 0, tokens: 0 }
    for (const each of edits as readonly Edit[]) {
      if (each.type === "clear_thinking_20251015") left = withoutThinking(left, turnsKept(each))
      else if (each.type === "clear_tool_uses_20250919") ({ messages: left, edit } = this.#clear(each, left, prompt))
    }
    return { messages: left, edit }
  }

  #clear(edit: ClearToolUses, messages: readonly SentMessage[], prompt: number) {
    const before = this.#cleared
    const remembered = this.#memory === "keeps" ? before : new Set<string>()
    const left = cleared(messages, remembered, edit)
    const total = prompt + tokensOf(left)
    const old = total > (edit.trigger?.value ?? 0) ? oldUses(left, edit, remembered) : []
    const after = cleared(messages, new Set([...remembered, ...old]), edit)
    const applies = old.length > 0 && tokensOf(left) - tokensOf(after) >= (edit.clear_at_least?.value ?? 0)
    this.#cleared = applies ? new Set([...remembered, ...old]) : remembered
    const result = applies ? after : left
    const fresh = [...this.#cleared].filter((id) => !before.has(id))
    const tokens = tokensOf(cleared(messages, before, edit)) - tokensOf(result)
    return { messages: result, edit: { cleared: fresh.length, tokens: fresh.length > 0 ? Math.max(0, tokens) : 0 } }
  }
}

function oldUses(messages: readonly SentMessage[], edit: ClearToolUses, done: ReadonlySet<string>): string[] {
  const excluded = new Set(edit.exclude_tools ?? [])
  const uses = messages.flatMap(({ items }) => items.flatMap(({ block }) => (block && isToolUse(block) ? block : [])))
  const isOpen = ({ name, id }: ToolUse) => !excluded.has(name) && !done.has(id)
  return uses
    .slice(0, Math.max(0, uses.length - (edit.keep?.value ?? KEPT_USES)))
    .flatMap((use) => (isOpen(use) ? use.id : []))
}

/** Clears results. A message in which nothing is cleared stays the same object. */
function cleared(
  messages: readonly SentMessage[],
  ids: ReadonlySet<string>,
  edit: ClearToolUses,
): readonly SentMessage[] {
  if (ids.size === 0) return messages
  const { clear_tool_inputs: inputs = false } = edit
  const isCleared = ({ block }: PromptItem) => {
    if (!block) return false
    if (isToolResult(block)) return ids.has(block.tool_use_id)
    return isToolUse(block) && ids.has(block.id) && (Array.isArray(inputs) ? inputs.includes(block.name) : inputs)
  }
  return messages.map((message) =>
    message.items.some(isCleared)
      ? { role: message.role, items: message.items.map((item) => (isCleared(item) ? emptied(item) : item)) }
      : message,
  )
}

const emptied = (item: PromptItem): PromptItem => ({
  ...item,
  tokens: Math.min(item.tokens, MARKER_TOKENS),
  isCleared: true,
})

function turnsKept({ keep }: ClearThinking): number {
  return typeof keep === "object" && keep.type === "thinking_turns"
    ? (keep.value ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY
}

function withoutThinking(messages: readonly SentMessage[], kept: number): readonly SentMessage[] {
  const thinks = ({ block }: PromptItem) => block !== undefined && isThinking(block)
  const thoughtful = messages.filter(({ items }) => items.some(thinks))
  const old = new Set(thoughtful.slice(0, Math.max(0, thoughtful.length - kept)))
  if (old.size === 0) return messages
  return messages.map((message) =>
    old.has(message) ? { role: message.role, items: message.items.filter((item) => !thinks(item)) } : message,
  )
}

export const tokensOf = (messages: readonly SentMessage[]) =>
  messages.reduce((sum, { items }) => items.reduce((all, { tokens }) => all + tokens, sum), 0)
