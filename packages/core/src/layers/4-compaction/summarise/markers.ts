/**
 * Lines at the front of what a summariser reads, where that is not the beginning of the conversation. They are ours and not the user's:
 * meta messages that never reach the journal, so they borrow the time of the message after them.
 */
import { isSentToModel, type Message, type UserMessage } from "../../../messages/messages.ts"
import type { Round } from "../../../messages/rounds.ts"

/** Do not change it: other tools look for this text. */
export const TRUNCATED = "[earlier conversation truncated for compaction retry]"
const NOT_SHOWN = "[earlier conversation not shown here]"
const MARKER_UUID = "00000000-0000-4000-8000-000000000000"

/** The rounds, with the marker before them as a round of its own. */
export function marked(rounds: readonly Round[], text: string): readonly Round[] {
  const first = rounds[0]?.[0]
  return first ? [[marker(text, first)], ...rounds] : rounds
}

/** A conversation has to begin with the user: one that does not gets a marker. */
export function beginningWithUser(rounds: readonly Round[], text: string = NOT_SHOWN): readonly Round[] {
  const first = rounds.flat().find(isSentToModel)
  return first?.type === "assistant" ? marked(rounds, text) : rounds
}

export const partMarker = (part: number, parts: number) => `[conversation, part ${part} of ${parts}]`

export function withoutMarkers(rounds: readonly Round[]): readonly Round[] {
  return rounds
    .map((round) => (round.some(isMarker) ? round.filter((message) => !isMarker(message)) : round))
    .filter((round) => round.length > 0)
}

const isMarker = (message: Message) => message.uuid === MARKER_UUID

const marker = (text: string, { timestamp }: Message): UserMessage => ({
  type: "user",
  uuid: MARKER_UUID,
  parentUuid: null,
  timestamp,
  isMeta: true,
  message: { role: "user", content: [{ type: "text", text }] },
})
