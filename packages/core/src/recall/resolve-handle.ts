/**
 * Resolves a handle or a range in one conversation, in the form that Recall quotes. The conversation may be a journal, or anything else
 * that finds its messages by handle and returns them in order.
 */

import { type Entry, isDecision, isMessage } from "../journal/entries.ts"
import type { Journal, JournalRange } from "../journal/store.ts"
import { type Block, isMedia, isToolResult, resultBlocks } from "../messages/blocks.ts"
import { handleOf, isShortHandle, parseHandle } from "../messages/media.ts"
import { type CompactMetadata, contentOf, isBoundary, type Message } from "../messages/messages.ts"
import type {
  RecalledItem,
  RecalledText,
  RecallFilter,
  RecallMatch,
  RecallRange,
} from "../tools/session/recall-source.ts"
import { blockAt } from "../views/record/decisions.ts"
import { BlockReader, type BlockText, plainText } from "./block-texts.ts"
import type { JournalSearchResult } from "./journal-search.ts"
import type { Passage } from "./passages/passage.ts"

/** Number of entries to read on both sides of a block. Most are decisions, which are not shown. */
const AROUND = 12

/** A conversation, with the prefix of its handles if it is not the current one. */
export interface ReadableConversation {
  readonly journal: Pick<Journal, "find" | "findByHandle" | "range">
  readonly prefix: string
}

/** Resolves a handle, newest match first. */
export async function resolveHandle(
  conversation: ReadableConversation,
  handle: string,
): Promise<readonly RecalledItem[]> {
  const found = await resolveMessages(conversation.journal, withoutPrefix(handle))
  return Promise.all(found.map((one) => recallItem(one, conversation)))
}

async function recallItem({ message, block, path }: ResolvedMessage, { journal, prefix }: ReadableConversation) {
  const texts = await textsAround(journal, message.uuid)
  const own = texts.filter(({ uuid }) => uuid === message.uuid)
  const first = own[0] ? texts.indexOf(own[0]) : -1
  const all = (some: readonly BlockText[]) => some.map((text) => toRecalledText(prefix, text))
  return {
    texts: block
      ? own
          .filter(({ blocks }) => blocks[0] === path[0])
          .map((text) => toRecalledText(prefix, innerText(text, path, block)))
      : all(own.length > 0 ? own : boundaryText(message)),
    media: (block ? mediaInBlock(block) : mediaInMessage(message)).filter(isEmbedded),
    before: all(first > 0 ? texts.slice(first - 1, first) : []),
    after: all(first < 0 ? [] : texts.slice(first + own.length, first + own.length + 1)),
  }
}

/** The range between two handles. Undefined if one of them does not resolve. */
export async function resolveRange(
  journal: ReadableConversation["journal"],
  { from, to }: Pick<RecallRange, "from" | "to">,
): Promise<JournalRange | undefined> {
  const [first] = await resolveMessages(journal, withoutPrefix(from))
  const last = to === undefined ? undefined : (await resolveMessages(journal, withoutPrefix(to), "to"))[0]
  if (!first || (to !== undefined && !last)) return undefined
  return { first: first.message.uuid, ...(last ? { last: last.message.uuid } : {}) }
}

export async function* textsIn(
  { journal, prefix }: ReadableConversation,
  { filter, ...range }: JournalRange & { readonly filter: RecallFilter },
): AsyncGenerator<RecalledText> {
  const reader = new BlockReader()
  for await (const entry of journal.range(range))
    for (const text of reader.take(entry))
      if (text.isSearchable && isWanted(text, filter)) yield toRecalledText(prefix, text)
}

/** Quotes a match together with the surrounding text that the index has. */
export function quoteMatch(found: JournalSearchResult["found"][number], prefix: string): RecallMatch {
  const { around, at, ...own } = found
  const { text, start } = around?.full ?? own
  const shownAs = (passage: Passage) => ({
    handle: handleAt(prefix, passage.uuid, passage.blocks === "" ? [] : passage.blocks.split(".").map(Number)),
    kind: passage.kind,
    ...(passage.label === undefined ? {} : { label: passage.label }),
    time: passage.time,
  })
  const from = own.start - start
  return {
    ...shownAs(own),
    ...{ text, at: from + at, matched: { from, to: from + own.text.length } },
    ...(text.length < own.length ? { start, length: own.length } : {}),
    ...(around?.before ? { before: { ...shownAs(around.before), text: around.before.text } } : {}),
    ...(around?.after ? { after: { ...shownAs(around.after), text: around.after.text } } : {}),
  }
}

/** Shortens a conversation's uuid to eight digits, which identify it well enough. */
export const shortConversationId = (id: string) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? id.slice(0, 8) : id)

export const withoutPrefix = (handle: string) => handle.slice(handle.indexOf("/") + 1)

const handleAt = (prefix: string, uuid: string, blocks: readonly number[]): string =>
  prefix === "" ? handleOf(uuid, ...blocks) : `${prefix}/${handleOf(uuid, ...blocks)}`

const toRecalledText = (prefix: string, { uuid, blocks, kind, label, time, text }: BlockText): RecalledText => ({
  handle: handleAt(prefix, uuid, blocks),
  kind,
  ...(label === undefined ? {} : { label }),
  time,
  text,
})

/** The texts of a message and of those around it, in order. */
async function textsAround(
  journal: ReadableConversation["journal"],
  uuid: string,
  around = AROUND,
): Promise<readonly BlockText[]> {
  const reader = new BlockReader()
  const texts: BlockText[] = []
  for await (const entry of journal.range({ first: uuid, last: uuid, around })) texts.push(...reader.take(entry))
  return texts.filter((text) => text.isSearchable || text.uuid === uuid)
}

/** The part of a block that a handle refers to. */
const innerText = (text: BlockText, path: readonly number[], block: Block): BlockText =>
  path.length < 2 ? text : { ...text, blocks: path, text: plainText(block) }

function isWanted({ kind, time }: BlockText, filter: RecallFilter): boolean {
  if (filter.kind !== undefined && kind !== filter.kind) return false
  const at = Date.parse(time)
  return !(filter.since && at < filter.since.getTime()) && !(filter.until && at >= filter.until.getTime())
}

function boundaryText(message: Message): readonly BlockText[] {
  if (!isMessage(message) || !isBoundary(message)) return []
  const { lastUuid, messagesSummarized } = message.compactMetadata ?? ({} as Partial<CompactMetadata>)
  const count = messagesSummarized === undefined ? "Messages were" : `${messagesSummarized} messages were`
  const last = typeof lastUuid === "string" ? ` The last of them is ${handleOf(lastUuid)}.` : ""
  const text = `A compaction. ${count} replaced by a summary.${last}`
  const { uuid, timestamp: time } = message
  return [{ uuid, time, blocks: [], kind: "note", label: "boundary", text, isSearchable: false, isDialogue: false }]
}

const mediaInBlock = (block: Block): readonly Block[] =>
  isMedia(block) ? [block] : isToolResult(block) ? resultBlocks(block).filter(isMedia) : []

const mediaInMessage = (message: Message): readonly Block[] =>
  message.type === "user" ? contentOf(message).filter(isMedia) : []

/** Whether a block contains media as bytes, not as a reference. Only these can be part of a result. */
const isEmbedded = (block: Block) => isMedia(block) && block.source.type === "base64"

export interface ResolvedMessage {
  readonly message: Message
  /** Absent if the handle refers to an entire message. */
  readonly block?: Block
  /** Indexes of the block. */
  readonly path: readonly number[]
}

type MessageFinder = Pick<Journal, "find" | "findByHandle">

/**
 * Everything with this handle, newest first. More than one match is rare: two messages whose digits are equal. The line of a folded
 * range represents its messages, so its handle resolves to one end of them.
 */
export async function resolveMessages(
  journal: MessageFinder,
  handle: string,
  end: "from" | "to" = "from",
): Promise<readonly ResolvedMessage[]> {
  const { message = "", blocks: path = [] } = parseHandle(handle) ?? {}
  const [block, inner] = path
  return (await findEntries(journal, message, end)).filter(isMessage).flatMap((entry): readonly ResolvedMessage[] => {
    if (block === undefined) return [{ message: entry, path }]
    const found = blockAt(entry, { uuid: entry.uuid, block, ...(inner === undefined ? {} : { inner }) })
    return found ? [{ message: entry, block: found, path }] : []
  })
}

async function findEntries(journal: MessageFinder, message: string, end: "from" | "to"): Promise<readonly Entry[]> {
  const named = isShortHandle(message) ? await journal.findByHandle(message) : []
  const found = named.length > 0 ? named : [message === "" ? undefined : await journal.find(message)]
  const entries = await Promise.all(
    found.map((entry) => (entry && isDecision(entry) && entry.subtype === "folded" ? journal.find(entry[end]) : entry)),
  )
  return entries.filter((entry) => entry !== undefined)
}
