/**
 * The messages that a caller gives `compactMessages`, as ours: in the shape of the Messages API, or lines of a transcript. Content that no request
 * could have is set aside, never refused: the caller's conversation must go on.
 */
import { uuidFrom } from "../../../base/clock.ts"
import { type Content, isText } from "../../../messages/blocks.ts"
import { contentOf, isContinuation, type Message, type Uuid } from "../../../messages/messages.ts"
import { usable } from "../../../messages/usable.ts"
import { withoutRecord } from "./earlier-record.ts"

/** A message in the shape of the Messages API. Fields that are not listed are left alone. */
export interface PlainMessage {
  readonly role: "user" | "assistant" | "system"
  readonly content: string | readonly unknown[]
  /** Its name in your program, so that a handle leads back to it. Default: made from its content. */
  readonly id?: string
  /** Your program wrote it, not the person. A message of the role `system` is never the person's. */
  readonly isMeta?: boolean
  /** The summary of an earlier compaction. */
  readonly isSummary?: boolean
}

/** What `compactMessages` takes: plain messages, or the messages of an imported or journaled conversation. */
export type CompactableMessage = PlainMessage | Message

/** A message as it was given, and as we read it. */
export interface InputMessage<M> {
  readonly from: M
  readonly message: Message
  /** The same for the same message in a later call. */
  readonly key: string
}

/** What our own text was, in an earlier call: it comes back as a message of the user. Empty where that call wrote none. */
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
  return messages.flatMap((from): readonly InputMessage<M>[] => {
    if (isStored(from)) return [{ from, message: usable(withoutItsRecord(from)), key: from.uuid }]
    const key = from.id ?? uuidFrom(`${from.role}:${JSON.stringify(from.content)}`)
    const nth = times.get(key) ?? 0
    times.set(key, nth + 1)
    const uuid = nth === 0 ? key : uuidFrom(`${key}:${nth}`)
    const message = usable({ ...asMessage(from, earlier), uuid, parentUuid, timestamp: BEGINNING } as Message)
    parentUuid = uuid
    return [{ from, message, key }]
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

/** The record of an earlier compaction is computed again, so it is no part of the summary. */
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
