/** What is journaled of a caller's messages: each as it was sent, checked only for what no journal can hold. */
import { InvalidContentError } from "../../base/errors.ts"
import type { MessageDraft } from "../../journal/entries.ts"
import type { CallerSystemMessage } from "../../messages/attachments.ts"
import { type Content, isThinking, toBlocks } from "../../messages/blocks.ts"
import type { CallerMessage } from "../../messages/caller-key.ts"
import { DEEPEST, isRecord } from "../../messages/shapes/shape.ts"
import { asPlainJson } from "../incoming.ts"
import { ownShapeAsSent } from "../messages-of-others.ts"

/** Refuses what is no list of messages, before anything is done with it. */
export function callerMessages(given: unknown): readonly CallerMessage[] {
  if (!Array.isArray(given)) throw new InvalidContentError("follow() takes the list of messages of a request")
  return given.map((item, at) => {
    const message = ownShapeAsSent(item, `messages[${at}]`)
    const role: unknown = isRecord(message) ? message.role : undefined
    if (role !== "user" && role !== "assistant" && role !== "system")
      throw new InvalidContentError(`messages[${at}] has the role ${JSON.stringify(role)}`)
    const { content } = message as CallerMessage
    const isContent = typeof content === "string" || Array.isArray(content) || (role === "system" && content == null)
    if (!isContent) throw new InvalidContentError(`the content of messages[${at}] must be a text or a list of blocks`)
    return message as CallerMessage
  })
}

/** Messages that were found readable: a caller's never change. */
const readable = new WeakSet<object>()

/** Whether a list can be followed. What no one can make sense of is for the server to refuse. */
export const isReadableList = (given: readonly unknown[]): boolean => given.every(isReadable)

function isReadable(message: unknown): boolean {
  if (!isRecord(message)) return false
  if (readable.has(message)) return true
  const { role, content } = message
  const isKnown = role === "user" || role === "assistant" || role === "system"
  const isContent =
    typeof content === "string" ||
    (Array.isArray(content) && content.every(isTyped)) ||
    (role === "system" && content == null)
  if (!isKnown || !isContent || isDeeperThan(message, DEEPEST - 1)) return false
  readable.add(message)
  return true
}

const isTyped = (block: unknown): boolean => isRecord(block) && typeof block.type === "string" && block.type !== ""

/** Level by level: a stack would end long before some values do. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value]
  for (let left = levels; left > 0; left--) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return level.some((each) => typeof each === "object" && each !== null)
}

interface Drafting {
  /** The place of the first one in the caller's list. */
  readonly from: number
  /** Something else is before them than when the model thought: the API would refuse the thinking. */
  readonly isElsewhere: boolean
}

export function callerDrafts(
  messages: readonly CallerMessage[],
  { from, isElsewhere }: Drafting,
): readonly MessageDraft[] {
  return messages.map((given, at): MessageDraft => {
    const message = asPlainJson(given, `messages[${from + at}]`)
    if (message.role === "system") {
      const attachment = { type: "system_message", message: message as CallerSystemMessage["message"] } as const
      return { type: "attachment", attachment }
    }
    const content = message.content as Content
    if (message.role === "assistant") {
      const said = isElsewhere ? toBlocks(content).filter((block) => !isThinking(block)) : content
      return { type: "assistant", asSent: true, message: { role: "assistant", content: said } }
    }
    return { type: "user", asSent: true, message: { ...message, role: "user", content } }
  })
}
