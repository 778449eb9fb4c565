/**
 * How a caller wrote its body and its messages. What is sent in the place of a body is spliced into the caller's own text: what we did not
 * decide on leaves as the bytes that came.
 */
import { listMembers, respell } from "@strata/core/messages"
import type { Body } from "./plan.ts"

interface BodyText {
  /** With an empty list of messages. */
  readonly text: string
  /** Between the last message and the end of the list. */
  readonly after: string
}

interface MessageText {
  /** What is between the message before, or the beginning of the list, and this one. */
  readonly before: string
  /** `undefined`: as `JSON.stringify` writes it. */
  readonly text: string | undefined
}

interface BodySource extends BodyText {
  readonly body: Body
}

const bodies = new WeakMap<Body, BodySource>()
const messages = new WeakMap<object, MessageText>()
const USUAL: MessageText = { before: ",", text: undefined }

export function keepBodyText(body: Body, text: BodyText): void {
  bodies.set(body, { ...text, body })
}

export function keepMessageText(message: object, text: MessageText): void {
  if (text.before !== USUAL.before || text.text !== undefined) messages.set(message, text)
}

/** `next` was made of `body`, and is written like it. */
export function writtenLike<T extends Body>(body: Body, next: T): T {
  const source = bodies.get(body)
  if (source) bodies.set(next, source)
  return next
}

/** Whether it came as a text. */
export const hasSourceText = (body: Body): boolean => bodies.has(body)

/** As its caller wrote it. */
export const callerText = (message: object): string => messages.get(message)?.text ?? JSON.stringify(message)

/** What its caller wrote between the message before and this one. */
export const textBefore = (message: object): string => (messages.get(message) ?? USUAL).before

/** What is before and after the messages of a body. `undefined` where it never was a text. */
export function textAround(
  body: Body,
): { readonly front: string; readonly after: string; readonly end: string } | undefined {
  const source = bodies.get(body)
  if (!source) return undefined
  const text = respell(source.text, { ...source.body, messages: [] }, { ...body, messages: [] })
  const { start } = listMembers(text).find(({ key }) => key === "messages")!
  return { front: text.slice(0, start + 1), after: source.after, end: text.slice(start + 1) }
}
