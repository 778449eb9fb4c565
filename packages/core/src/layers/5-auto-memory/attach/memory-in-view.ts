/** Memory that a conversation has already been shown: for the layer, so that nothing is recalled twice, and for a user who asks. */
import { utcDay } from "../../../base/clock.ts"
import { type Entry, isMessage } from "../../../journal/entries.ts"
import type { Memory, MemorySource } from "../../../memory/memory.ts"
import { userWording } from "../../../memory/user-quotes.ts"
import { fenced } from "../../../messages/attachment-texts.ts"
import type { Attachment, RecalledMemory } from "../../../messages/attachments.ts"
import { inline, textOf } from "../../../messages/blocks.ts"
import { contentOf, type UserMessage } from "../../../messages/messages.ts"
import type { MembershipTest } from "../../../recall/answer/ranking.ts"
import type { MemoryRecall, RecalledMatch } from "../../../recall/memory-recall.ts"
import type { Views } from "../../../views/views.ts"

const BETWEEN = "#" // a conversation and one of its messages

/** The path of a passage in a past conversation. */
export const passagePath = (conversation: string, message: string): string => `${conversation}${BETWEEN}${message}`

/**
 * Memories and passages in the messages since the last boundary, including folded and snipped ones. Read from the journal's views once, and
 * again after a boundary or a rewind.
 */
export class MemoryInView {
  readonly #views: Views
  readonly #boundaries: number
  /** Files of attached memories. */
  readonly files = new Set<string>()
  /** Uuids of attached messages of past conversations. */
  readonly #passages = new Set<string>()
  /** Uuids of the user's messages for which memory was searched. */
  readonly looked = new Set<string>()
  isStarted = false
  /** Uuids of the user's messages in this conversation, read on demand. */
  readonly #userMessages = new Set<string>()
  #readThrough = 0

  constructor(views: Views) {
    this.#views = views
    this.#boundaries = views.compactions.count
    for (const message of views.context.rawMessages) if (message.type === "attachment") this.add(message.attachment)
    for (const message of views.memories.looked) this.looked.add(message)
    this.isStarted ||= views.memories.isStarted
  }

  /** Whether the view still contains these messages. */
  holdsFor(views: Views): boolean {
    return views === this.#views && views.compactions.count === this.#boundaries
  }

  /** Messages that the conversation already has: attached, or written by the user. Only new ones are read. */
  get messages(): MembershipTest {
    const { messages } = this.#views.words
    for (; this.#readThrough < messages.length; this.#readThrough++)
      this.#userMessages.add(messages[this.#readThrough]!.uuid)
    return { has: (uuid) => this.#passages.has(uuid) || this.#userMessages.has(uuid) }
  }

  add(attachment: Attachment): void {
    if (attachment.type === "standing_memory") {
      this.isStarted = true
      for (const file of attachment.files ?? []) this.files.add(file)
    } else if (attachment.type === "memory") this.#addRecalled(attachment)
  }

  #addRecalled({ from, path, why }: RecalledMemory): void {
    if (from === "conversation") this.#passages.add(path.slice(path.lastIndexOf(BETWEEN) + 1))
    else this.files.add(path)
    if (why) this.looked.add(why.message)
  }
}

/** A memory that was attached to a conversation. */
export interface AttachedMemory extends Pick<RecalledMemory, "age" | "source" | "gone"> {
  /** A file in the memory directory, or a message of a conversation: `conversation#message`. */
  readonly path: string
  readonly from: "start" | "memory" | "conversation"
  /** Time at which it was attached. */
  readonly at: string
  /** The user message that it was attached to, and the words in it that matched. Absent at the start. */
  readonly message?: string
  readonly words: readonly string[]
}

/** Attached memories in their order. For the start of a conversation: the rules and preferences that were shown in full. */
export function listAttachedMemories(entry: Entry): readonly AttachedMemory[] {
  if (!isMessage(entry) || entry.type !== "attachment") return []
  const { attachment, timestamp: at } = entry
  if (attachment.type === "standing_memory")
    return (attachment.files ?? []).map((path) => ({ path, from: "start", at, words: [] }))
  if (attachment.type !== "memory") return []
  const { path, from = "memory", age, source, gone, why } = attachment
  return [
    {
      ...{ path, from, at, words: why?.words ?? [] },
      ...(why ? { message: why.message } : {}),
      ...(age === undefined ? {} : { age }),
      ...(source === undefined ? {} : { source }),
      ...(gone === undefined ? {} : { gone }),
    },
  ]
}

// Describes the age and origin of a memory. The texts are journaled, so no later request depends on a clock.

const DAY = 86_400_000

export function describeAge(time: string, now: Date): string {
  const days = Math.floor((now.getTime() - Date.parse(time)) / DAY)
  return Number.isNaN(days) ? "of unknown age" : describeAgeInDays(Math.max(0, days))
}

export function describeAgeInDays(days: number): string {
  if (days === 0) return "today"
  if (days === 1) return "yesterday"
  if (days < 60) return `${days} days ago`
  return days < 730 ? `${Math.floor(days / 30)} months ago` : `${Math.floor(days / 365)} years ago`
}

/** Mentions a later memory that may contradict this one. */
export const doubtPhrase = ({ file, confirmed }: Pick<Memory, "file" | "confirmed">): string =>
  `a later memory may say otherwise: ${inline(file)}, ${utcDay(confirmed)}`

/**
 * Describes the origin of a memory for the model. External file and page names are omitted, because they could be chosen to look like an
 * instruction.
 */
export function sourcePhrase({ saidBy, conversation, outside, confirmed }: MemorySource): string {
  if (confirmed) return "confirmed by the user"
  if (saidBy === "user") return conversation === undefined ? "written by the user" : "said by the user"
  if (saidBy === "tool") return "from a tool's output, not confirmed"
  return `noted by the agent, not confirmed${outside === undefined ? "" : ", with content from outside in view"}`
}

// Attaches memories and passages of past conversations that match a user message: a few, each once, with age and source.

const CONTEXT_MESSAGES = 5 // of the user, before the one that is answered

interface RecallInput {
  readonly recall: Pick<MemoryRecall<Memory>, "recall">
  readonly conversation: string
  readonly message: UserMessage
  /** The user's messages in this conversation, newest last. A conversation that this one was copied from has them too. */
  readonly userMessages: readonly { readonly uuid: string; readonly text: string }[]
  /** Memories that were attached before, and the uuids of messages that were attached or written here. */
  readonly inView: { readonly files: ReadonlySet<string>; readonly messages: MembershipTest }
  /** Whether a message of the conversation contains this text, ignoring repeated spaces. */
  readonly shows: (text: string) => boolean
  readonly now: Date
  readonly limit: number
  /** Maximum tokens of one memory. */
  readonly maxTokens: number
  readonly estimate: (text: string) => number
  /** Returns the names in a memory that the code no longer contains. */
  readonly findMissingNames: (memory: Memory) => Promise<readonly string[]>
}

export async function recallFor(input: RecallInput): Promise<readonly Attachment[]> {
  const { recall, message, userMessages, inView, now, limit, conversation } = input
  const text = textOf(contentOf(message))
  if (limit === 0 || text.trim() === "") return []
  const found = await recall.recall({
    text,
    context: userMessages
      .slice(-CONTEXT_MESSAGES - 1)
      .filter(({ uuid }) => uuid !== message.uuid)
      .slice(-CONTEXT_MESSAGES)
      .map((one) => one.text),
    now,
    limit,
    exclude: {
      memories: inView.files,
      messages: inView.messages,
      conversations: new Set([conversation]),
    },
  })
  const newItems = found.filter((one) => !isShown(one, input))
  return Promise.all(newItems.map((one) => attachmentOf(one, input)))
}

/** Whether the conversation already contains the text verbatim, from a tool or from the user. */
function isShown(found: RecalledMatch<Memory>, { shows }: RecallInput): boolean {
  const text = plain(found.kind === "memory" ? userWording(found.memory) : found.passage.text)
  return text !== "" && shows(text)
}

export const plain = (text: string) => text.replace(/\s+/gu, " ").trim()

async function attachmentOf(found: RecalledMatch<Memory>, input: RecallInput): Promise<Attachment> {
  const { words, ageDays } = found
  const why = { message: input.message.uuid, words }
  const age = describeAgeInDays(ageDays)
  if (found.kind === "conversation") {
    const { source: conversation, uuid, kind, text } = found.passage
    const who = kind === "user" ? "said by the user" : "said by the agent"
    const source = `${who} on ${utcDay(found.passage.time)}`
    const path = passagePath(conversation, uuid)
    return { type: "memory", from: "conversation", path, content: fenced(cutTo(text, input)), age, source, why }
  }
  const memory = { ...found.memory, body: userWording(found.memory) }
  const gone = await input.findMissingNames(memory)
  const title = `${memory.name}${memory.failed ? " (this was tried and did not work)" : ""}`
  return {
    type: "memory",
    path: memory.file,
    content: cutTo(`${title}\n\n${memory.body}`, input),
    age,
    source: `${sourcePhrase(memory.source)}, ${utcDay(memory.confirmed)}${found.doubtedBy ? `; ${doubtPhrase(found.doubtedBy)}` : ""}`,
    ...(gone.length > 0 ? { gone } : {}),
    why,
  }
}

function cutTo(text: string, { maxTokens, estimate }: RecallInput): string {
  if (estimate(text) <= maxTokens) return text
  let low = 0
  let high = text.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (estimate(text.slice(0, middle)) <= maxTokens) low = middle
    else high = middle - 1
  }
  return `${text.slice(0, low).toWellFormed().trimEnd()}\n[cut here: the file has more]`
}
