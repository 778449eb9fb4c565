/**
 * Converts the messages that a caller passes to `compactMessages`: in the form of the Messages API, or lines of a transcript. Content that
 * no request could have is dropped instead of refused, because the caller's conversation must continue.
 */
import { uuidFrom } from "../../../base/clock.ts"
import { type Content, isText } from "../../../messages/blocks.ts"
import { contentOf, isContinuation, type Message, type Uuid } from "../../../messages/messages.ts"
import { usable } from "../../../messages/usable.ts"
import { withoutRecord } from "./earlier-record.ts"

/** A message in the form of the Messages API. Other fields are preserved. */
export interface PlainMessage {
  readonly role: "user" | "assistant" | "system"
  readonly content: string | readonly unknown[]
  /** Id of the message in your program, so that a handle refers to it. Default: derived from its content. */
  readonly id?: string
  /** Whether your program wrote the message instead of the user. A message with the role `system` never counts as the user's. */
  readonly isMeta?: boolean
  /** Whether the message is the summary of an earlier compaction. */
  readonly isSummary?: boolean
}

/** Input of `compactMessages`: plain messages, or messages of an imported or journaled conversation. */
export type CompactableMessage = PlainMessage | Message

/** A message as it was passed in, and its internal form. */
export interface InputMessage<M> {
  readonly original: M
  readonly message: Message
  /** Stable key: the same for the same message in a later call. */
  readonly key: string
}

/** Text that an earlier call produced and that comes back as a user message. Empty if that call produced none. */
export interface EarlierText {
  readonly text: string
  readonly summary: string
}

export function inputMessages<M extends CompactableMessage>(
  messages: readonly M[],
  earlier?: EarlierText,
): readonly InputMessage<M>[] {
  const times = new Map<string, number>()
  let parentUuid: Uuid | null = null
  return messages.flatMap((original): readonly InputMessage<M>[] => {
    if (isStored(original)) return [{ original, message: usable(withoutItsRecord(original)), key: original.uuid }]
    const key = original.id ?? uuidFrom(`${original.role}:${JSON.stringify(original.content)}`)
    const nth = times.get(key) ?? 0
    times.set(key, nth + 1)
    const uuid = nth === 0 ? key : uuidFrom(`${key}:${nth}`)
    const message = usable({ ...asMessage(original, earlier), uuid, parentUuid, timestamp: BEGINNING } as Message)
    parentUuid = uuid
    return [{ original, message, key }]
  })
}

const BEGINNING = "1970-01-01T00:00:00.000Z" // a plain message has no time, and the clock must not get into what is sent

const isStored = (message: CompactableMessage): message is Message => "uuid" in message && "type" in message

type MessageWithoutUuid = Pick<Message, "type"> & {
  readonly message: { readonly role: string; readonly content: Content }
}

function asMessage(
  { role, content, isMeta, isSummary }: PlainMessage,
  earlier: EarlierText | undefined,
): MessageWithoutUuid {
  if (role === "assistant") return { type: "assistant", message: { role, content: content as Content } }
  const text = textIn(content)
  if (earlier?.text && text.includes(earlier.text)) return summaryOf(earlier.summary)
  if (isSummary || isContinuation(text)) return summaryOf(withoutRecord(text))
  const meta = isMeta || role === "system" ? { isMeta: true } : {}
  return { type: "user", ...meta, message: { role: "user", content: content as Content } }
}

const summaryOf = (text: string) =>
  ({ type: "user", isCompactSummary: true, message: { role: "user", content: text } }) as const

/** Removes the record of an earlier compaction from a summary, because it is computed again. */
function withoutItsRecord(message: Message): Message {
  if (message.type !== "user" || !message.isCompactSummary) return message
  const content = contentOf(message).map((block) =>
    isText(block) ? { ...block, text: withoutRecord(block.text) } : block,
  )
  return { ...message, message: { ...message.message, content } }
}

export function textIn(content: PlainMessage["content"]): string {
  if (typeof content === "string") return content
  const texts = content.map((block) => Object(block).text).filter((text) => typeof text === "string")
  return texts.join("\n")
}
