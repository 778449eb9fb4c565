/** Attaches memories and passages of past conversations that fit a message of the person: a few, each once, with age and source. */

import { dayOf } from "../../../base/clock.ts"
import type { Memory } from "../../../memory/memory.ts"
import { ownText } from "../../../memory/own-words.ts"
import { type Attachment, fenced } from "../../../messages/attachments.ts"
import { textOf } from "../../../messages/blocks.ts"
import { contentOf, type UserMessage } from "../../../messages/messages.ts"
import type { Holding } from "../../../recall/answer/ranking.ts"
import type { MemoryRecall, Recalled } from "../../../recall/memory-recall.ts"
import { ageOfDays, doubtPhrase, sourcePhrase } from "./age.ts"
import { passagePath } from "./shown.ts"

const CONTEXT_MESSAGES = 5 // of the person, before the one that is answered

interface RecallInput {
  readonly recall: Pick<MemoryRecall<Memory>, "recall">
  readonly conversation: string
  readonly message: UserMessage
  /** All that the person said here, the newest last. A conversation that this one was copied from has it too. */
  readonly said: readonly { readonly uuid: string; readonly text: string }[]
  /** Memories that were attached before, and the uuids of messages that were attached or said here. */
  readonly inView: { readonly files: ReadonlySet<string>; readonly messages: Holding }
  /** Whether a message of the conversation has this text in it. Spaces count once. */
  readonly shows: (text: string) => boolean
  readonly now: Date
  readonly limit: number
  /** Tokens of one memory. */
  readonly mostTokens: number
  readonly estimate: (text: string) => number
  /** The names in a memory that the code no longer has. */
  readonly gone: (memory: Memory) => Promise<readonly string[]>
}

export async function recallFor(input: RecallInput): Promise<readonly Attachment[]> {
  const { recall, message, said, inView, now, limit, conversation } = input
  const text = textOf(contentOf(message))
  if (limit === 0 || text.trim() === "") return []
  const found = await recall.recall({
    text,
    context: said
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
  const fresh = found.filter((one) => !isShown(one, input))
  return Promise.all(fresh.map((one) => attachmentOf(one, input)))
}

/** What the conversation has word for word, from a tool or from the person, is not shown again. */
function isShown(found: Recalled<Memory>, { shows }: RecallInput): boolean {
  const text = plain(found.kind === "memory" ? ownText(found.memory) : found.passage.text)
  return text !== "" && shows(text)
}

export const plain = (text: string) => text.replace(/\s+/gu, " ").trim()

async function attachmentOf(found: Recalled<Memory>, input: RecallInput): Promise<Attachment> {
  const { words, ageDays } = found
  const why = { message: input.message.uuid, words }
  const age = ageOfDays(ageDays)
  if (found.kind === "conversation") {
    const { source: conversation, uuid, kind, text } = found.passage
    const who = kind === "user" ? "said by the user" : "said by the agent"
    const source = `${who} on ${dayOf(found.passage.time)}`
    const path = passagePath(conversation, uuid)
    return { type: "memory", from: "conversation", path, content: fenced(cutTo(text, input)), age, source, why }
  }
  const memory = { ...found.memory, body: ownText(found.memory) }
  const gone = await input.gone(memory)
  const title = `${memory.name}${memory.failed ? " (this was tried and did not work)" : ""}`
  return {
    type: "memory",
    path: memory.file,
    content: cutTo(`${title}\n\n${memory.body}`, input),
    age,
    source: `${sourcePhrase(memory.source)}, ${dayOf(memory.confirmed)}${found.doubtedBy ? `; ${doubtPhrase(found.doubtedBy)}` : ""}`,
    ...(gone.length > 0 ? { gone } : {}),
    why,
  }
}

function cutTo(text: string, { mostTokens, estimate }: RecallInput): string {
  if (estimate(text) <= mostTokens) return text
  let low = 0
  let high = text.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (estimate(text.slice(0, middle)) <= mostTokens) low = middle
    else high = middle - 1
  }
  return `${text.slice(0, low).toWellFormed().trimEnd()}\n[cut here: the file has more]`
}
