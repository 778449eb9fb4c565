/**
 * Checks what remains accessible at the end of the run: the user's messages and rules, changed files, tool results. With Strata, each is
 * searched in the model's context and then through Recall. Without it, only the newest messages that fit the window remain. Everything is
 * computed from the journal.
 */

import { relative } from "node:path"
import {
  type Agent,
  type AssistantMessage,
  type Block,
  contentOf,
  isMessage,
  isToolResult,
  resultText,
  type UserMessage,
} from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { fileFate } from "@strata/core/views"

export type FactKind = "messages" | "rules" | "changes" | "results"

/** Number of facts of a kind, and where they are at the end. */
export interface RetainedFacts {
  readonly kind: FactKind
  readonly all: number
  /** With Strata, in the model's context. */
  readonly inView: number
  /** With Strata, not in the context but found through Recall. */
  readonly recalled: number
  /** Without Strata, in the last window of messages. */
  readonly inLastWindow: number
}

type DialogueMessage = AssistantMessage | UserMessage
type Conversation = Agent["conversation"]

export interface RetentionOptions {
  readonly project: string
  /** Tokens of system prompt and tools, which every window contains. */
  readonly promptTokens: number
}

const MAX_MATCHES = 8 // search matches that are checked; the Recall tool shows more

/** Runs the check. Call it before the conversation is closed. */
export async function checkRetention(chat: Conversation, options: RetentionOptions): Promise<readonly RetainedFacts[]> {
  const { words, artifacts, context } = internalsOf(chat).views
  const messages = await messagesOf(chat)
  const shown = context.messages().messages.flatMap(({ content }) => content)
  const lastWindow = newestFitting(messages, {
    room: chat.thresholds.window - options.promptTokens,
    size: (block) => internalsOf(chat).views.estimator.block(block),
  })
  const changed = [...artifacts.files].filter(([, file]) => fileFate(file) !== "read")
  const places: SearchedBlocks = { chat, shown, lastWindow }
  return [
    await retainedTexts("messages", { texts: words.messages.map(({ text }) => text), ...places }),
    await retainedTexts("rules", { texts: words.messages.flatMap(({ rules }) => rules), ...places }),
    await retainedTexts("changes", {
      texts: changed.map(([path]) => relative(options.project, path)),
      ...places,
    }),
    await retainedResults(messages, places),
  ]
}

/** Messages of user, model and tools, without attachments and summaries. */
async function messagesOf(chat: Conversation): Promise<readonly DialogueMessage[]> {
  const messages: DialogueMessage[] = []
  for await (const entry of chat.entries()) {
    if (!isMessage(entry) || entry.isSidechain || entry.isMeta) continue
    if (entry.type === "assistant" || (entry.type === "user" && !entry.isCompactSummary)) messages.push(entry)
  }
  return messages
}

interface SearchedBlocks {
  readonly chat: Conversation
  /** Blocks in the model's context. */
  readonly shown: readonly Block[]
  /** Blocks of the newest messages. */
  readonly lastWindow: readonly Block[]
}

interface ContextWindow {
  readonly room: number
  readonly size: (block: Block) => number
}

/** Blocks of the newest messages that fit the window. */
export function newestFitting(messages: readonly DialogueMessage[], { room, size }: ContextWindow): readonly Block[] {
  let left = room
  const kept: Block[][] = []
  for (const message of messages.toReversed()) {
    const blocks = [...contentOf(message)]
    left -= blocks.reduce((sum, block) => sum + size(block), 0)
    if (left < 0) break
    kept.unshift(blocks)
  }
  return kept.flat()
}

interface TextFacts extends SearchedBlocks {
  readonly texts: readonly string[]
}

async function retainedTexts(kind: FactKind, { texts, chat, shown, lastWindow }: TextFacts): Promise<RetainedFacts> {
  const [view, last] = [dialogueText(shown), dialogueText(lastWindow)]
  const missing = texts.filter((text) => !view.includes(plain(text)))
  let recalled = 0
  for (const text of missing) if (await isFound(chat, text)) recalled++
  return {
    ...{ kind, all: texts.length, inView: texts.length - missing.length, recalled },
    inLastWindow: texts.filter((text) => last.includes(plain(text))).length,
  }
}

async function isFound(chat: Conversation, text: string): Promise<boolean> {
  const { found } = await internalsOf(chat).past.search({ text, in: "conversation", limit: MAX_MATCHES })
  return found.some((one) => plain(one.text).includes(plain(text)))
}

/** All text except tool results: a file name in a listing does not say that the file was changed. */
const dialogueText = (blocks: readonly Block[]): string =>
  plain(blocks.flatMap((block) => (isToolResult(block) ? [] : stringsIn(block))).join("\n"))

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

const plain = (text: string): string => text.replace(/\s+/g, " ").trim()

async function retainedResults(
  messages: readonly DialogueMessage[],
  { chat, shown, lastWindow }: SearchedBlocks,
): Promise<RetainedFacts> {
  const view = new Map(shown.filter(isToolResult).map((block) => [block.tool_use_id, resultText(block)]))
  const last = new Set(lastWindow.filter(isToolResult).map((block) => block.tool_use_id))
  const results = messages.flatMap((message) =>
    contentOf(message).flatMap((block, at) =>
      isToolResult(block) ? [{ block, handle: `${message.uuid}.${at}` }] : [],
    ),
  )
  const missing = results.filter(({ block }) => view.get(block.tool_use_id) !== resultText(block))
  let recalled = 0
  for (const { block, handle } of missing) {
    const found = await chat.recall(handle as `${string}.${number}`)
    if (found && isToolResult(found) && resultText(found) === resultText(block)) recalled++
  }
  return {
    ...{ kind: "results", all: results.length, inView: results.length - missing.length, recalled },
    inLastWindow: results.filter(({ block }) => last.has(block.tool_use_id)).length,
  }
}
