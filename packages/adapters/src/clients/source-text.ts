/**
 * The original texts of bodies and messages. Replacements are spliced into them, so that everything Strata did not change is sent with the
 * original bytes.
 */
import { listMembers, respell } from "@strata/core/messages"
import type { ApiBody } from "./plan.ts"

interface BodyText {
  /** The body with an empty list of messages. */
  readonly text: string
  /** Text between the last message and the end of the list. */
  readonly after: string
}

interface MessageText {
  /** Text between the previous message, or the start of the list, and this one. */
  readonly before: string
  /** `undefined`: as `JSON.stringify` writes it. */
  readonly text: string | undefined
}

interface BodySource extends BodyText {
  readonly body: ApiBody
}

const bodies = new WeakMap<ApiBody, BodySource>()
const messages = new WeakMap<object, MessageText>()
const DEFAULT_TEXT: MessageText = { before: ",", text: undefined }

export function keepBodyText(body: ApiBody, text: BodyText): void {
  bodies.set(body, { ...text, body })
}

export function keepMessageText(message: object, text: MessageText): void {
  if (text.before !== DEFAULT_TEXT.before || text.text !== undefined) messages.set(message, text)
}

/** Gives `next`, which was derived from `body`, the same source text. */
export function withSourceOf<T extends ApiBody>(body: ApiBody, next: T): T {
  const source = bodies.get(body)
  if (source) bodies.set(next, source)
  return next
}

/** Whether the original text of the body is known. */
export const hasSourceText = (body: ApiBody): boolean => bodies.has(body)

/** The text that the client wrote for a message. */
export const clientText = (message: object): string => messages.get(message)?.text ?? JSON.stringify(message)

/** The text that the client wrote between the previous message and this one. */
export const textBefore = (message: object): string => (messages.get(message) ?? DEFAULT_TEXT).before

/** The text before and after the messages of a body. `undefined` if the body has no source text. */
export function textAround(
  body: ApiBody,
): { readonly front: string; readonly after: string; readonly end: string } | undefined {
  const source = bodies.get(body)
  if (!source) return undefined
  const text = respell(source.text, { ...source.body, messages: [] }, { ...body, messages: [] })
  const { start } = listMembers(text).find(({ key }) => key === "messages")!
  return { front: text.slice(0, start + 1), after: source.after, end: text.slice(start + 1) }
}
