/** How far a conversation is complete: up to which message, and which calls are still open. */
import { isToolResult, isToolUse } from "../messages/blocks.ts"
import { type AssistantMessage, contentOf, type Message, type Uuid } from "../messages/messages.ts"

export interface Position {
  /** The last complete message. While calls are open: the one before the turn that made them. */
  readonly throughUuid: Uuid | undefined
  /** Calls of the last assistant turn that have no result yet. */
  readonly openCalls: readonly string[]
}

export function positionOf(messages: readonly Message[]): Position {
  const turn = lastTurn(messages)
  const answered = new Set(
    messages.slice(turn.start).flatMap((message) =>
      message.type === "user"
        ? contentOf(message)
            .filter(isToolResult)
            .map(({ tool_use_id }) => tool_use_id)
        : [],
    ),
  )
  const openCalls = turn.pieces.flatMap(callsIn).filter((id) => !answered.has(id))
  const last = openCalls.length > 0 ? messages[turn.start - 1] : messages.at(-1)
  return { throughUuid: last?.uuid, openCalls }
}

export interface AssistantTurn {
  readonly pieces: readonly AssistantMessage[]
  /** Index of its first message. */
  readonly start: number
}

/** The last response. It may be split into several messages with results between them. Nothing before it is read. */
export function lastTurn(messages: readonly Message[]): AssistantTurn {
  const pieces: AssistantMessage[] = []
  let start = messages.length
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type !== "assistant") continue
    const { id } = message.message
    if (pieces.length > 0 && (id === undefined || id !== pieces[0]!.message.id)) break
    pieces.unshift(message)
    start = at
  }
  return { pieces, start }
}

export const callsIn = (message: AssistantMessage): string[] =>
  contentOf(message)
    .filter(isToolUse)
    .map(({ id }) => id)
