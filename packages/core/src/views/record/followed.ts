/** What a caller that keeps its own list of messages has in it, as far as this conversation has followed: a trace of each message. */
import { isBoundaryEntry, isDecision } from "../../journal/entries.ts"
import { type CallerMessage, type MessageTrace, traceOf } from "../../messages/caller-key.ts"
import { isSyntheticError, type Message, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface FollowedMessage extends MessageTrace {
  readonly uuid: Uuid
  readonly role: string
}

export interface Followed {
  readonly messages: FollowedMessage[]
}

export const followed: Projection<Followed> = {
  name: "followed",
  scope: "path",
  start: () => ({ messages: [] }),
  apply(state, entry) {
    if (isDecision(entry))
      return entry.subtype === "thinking-dropped" ? withoutThinking(state, entry.inMessages) : state
    // the caller has begun a new list with a summary of its own
    if (isBoundaryEntry(entry)) return entry.compactMetadata?.byCaller ? { messages: [] } : state
    const message = ofCaller(entry)
    if (message) state.messages.push({ uuid: entry.uuid, role: message.role, ...traceOf(message) })
    return state
  },
}

function withoutThinking({ messages }: Followed, dropped?: readonly Uuid[]): Followed {
  const withoutIt = (message: FollowedMessage) => {
    if (!message.thinks || (dropped && !dropped.includes(message.uuid))) return message
    const { thinks: _, ...rest } = message
    return rest
  }
  return { messages: messages.map(withoutIt) }
}

/** The message as its caller has it. Ours are not in its list. */
function ofCaller(entry: Message): CallerMessage | undefined {
  if (entry.isSidechain || entry.isQueued) return undefined
  if (entry.type === "attachment")
    return entry.attachment.type === "system_message" ? entry.attachment.message : undefined
  if (entry.type !== "user" && entry.type !== "assistant") return undefined
  const isOurs = entry.isMeta || (entry.type === "user" && entry.isCompactSummary) || isSyntheticError(entry)
  return isOurs && !entry.asSent ? undefined : (entry.message as CallerMessage)
}
