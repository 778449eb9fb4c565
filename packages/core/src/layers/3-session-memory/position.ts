/** Where a conversation stands when notes are taken: up to which message they will tell it, and what has been done since the last time. */
import { isToolResult, isToolUse } from "../../conversation/blocks.ts"
import { type AssistantMessage, contentOf, type Message, type Uuid } from "../../conversation/messages.ts"
import type { WorkSinceLast } from "./triggers.ts"

export interface Position {
  /** The last message that is complete: while calls are open, the one before the turn that made them (L3-6). */
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

/** Counted from the last update; from the beginning where that is no longer among the messages. */
export function workSince(messages: readonly Message[], throughUuid: Uuid | undefined): WorkSinceLast {
  const from = messages.findIndex(({ uuid }) => uuid === throughUuid) + 1
  const toolCalls = messages
    .slice(from)
    .filter((message) => message.type === "assistant")
    .flatMap(callsIn).length
  return { toolCalls, isCalling: lastTurn(messages).pieces.some((piece) => callsIn(piece).length > 0) }
}

interface AssistantTurn {
  readonly pieces: readonly AssistantMessage[]
  /** Index of its first message. */
  readonly start: number
}

/** The last response, which may stand there in several pieces with results between them. */
function lastTurn(messages: readonly Message[]): AssistantTurn {
  const last = messages.findLast((message) => message.type === "assistant")
  if (!last) return { pieces: [], start: messages.length }
  const { id } = last.message
  const pieces = messages.filter(
    (message): message is AssistantMessage =>
      message.type === "assistant" && (message === last || (id !== undefined && message.message.id === id)),
  )
  return { pieces, start: messages.indexOf(pieces[0]!) }
}

const callsIn = (message: AssistantMessage): string[] =>
  contentOf(message)
    .filter(isToolUse)
    .map(({ id }) => id)
