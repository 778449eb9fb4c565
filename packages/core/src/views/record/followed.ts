/** What a caller that keeps its own list of messages has in it, as far as this conversation has followed: a trace of each message. */
import { isBoundaryEntry, isDecision } from "../../journal/entries.ts"
import { type Block, isText, isToolUse, toBlocks } from "../../messages/blocks.ts"
import { type CallerMessage, type MessageTrace, traceOf } from "../../messages/caller-key.ts"
import { type AssistantMessage, isSyntheticError, type Message, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface FollowedMessage extends MessageTrace {
  readonly uuid: Uuid
  readonly role: string
  /** Answers that asked only us. For the caller they are the beginning of this one. */
  readonly rounds?: readonly Uuid[]
  /** Its key without the words of those: a caller that wants JSON has only the last ones. */
  readonly shortKey?: string
}

export interface Followed {
  readonly messages: FollowedMessage[]
  /** The newest answer as the caller has it, while it may go on. */
  readonly open?: { readonly content: readonly Block[]; readonly uuids: readonly Uuid[] }
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
    if (entry.type === "assistant" && (entry.hiddenCalls || state.open)) return withAnswer(state, entry)
    const message = ofCaller(entry)
    if (!message) return state
    state.messages.push({ uuid: entry.uuid, role: message.role, ...traceOf(message) })
    return state.open ? { messages: state.messages } : state
  },
}

/** The caller has one answer, where we have one for each time that it asked us, and without those calls. */
function withAnswer({ messages, open }: Followed, entry: AssistantMessage): Followed {
  if (entry.isSidechain || isSyntheticError(entry)) return { messages, ...(open ? { open } : {}) }
  const { hiddenCalls = [] } = entry
  const seen = toBlocks(entry.message.content).filter((block) => !isToolUse(block) || !hiddenCalls.includes(block.id))
  const content = [...(open?.content ?? []), ...seen]
  const uuids = [...(open?.uuids ?? []), entry.uuid]
  if (open) messages.pop()
  const rounds = uuids.slice(0, -1)
  messages.push({
    uuid: entry.uuid,
    role: "assistant",
    ...traceOf({ role: "assistant", content }),
    ...(rounds.length > 0 ? { rounds, shortKey: shortKeyOf(open!.content, seen) } : {}),
  })
  return { messages, ...(hiddenCalls.length > 0 ? { open: { content, uuids } } : {}) }
}

const shortKeyOf = (before: readonly Block[], last: readonly Block[]): string =>
  traceOf({ role: "assistant", content: [...before.filter((block) => !isText(block)), ...last] }).key

function withoutThinking(state: Followed, dropped?: readonly Uuid[]): Followed {
  const withoutIt = (message: FollowedMessage) => {
    if (!message.thinks || (dropped && !dropped.includes(message.uuid))) return message
    const { thinks: _, ...rest } = message
    return rest
  }
  return { ...state, messages: state.messages.map(withoutIt) }
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
