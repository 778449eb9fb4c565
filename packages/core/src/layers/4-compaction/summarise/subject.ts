/**
 * Step 3, summarise. What one call for a summary is about: a stretch of the conversation, or summaries of parts. It fits the room it was
 * given. Where the provider still finds it too long, it can be made smaller.
 */
import type { FlatMessage } from "../../../messages/flatten.ts"
import { isSentToModel, type Message, type UserMessage } from "../../../messages/messages.ts"
import type { Round } from "../../../messages/rounds.ts"
import { cutMiddle } from "../cut-text.ts"
import { fitted, limitsIn, type Room, roundSize, sizeOf } from "./fit.ts"

export interface Subject {
  readonly messages: readonly FlatMessage[]
  /** Rounds that were dropped to get here. */
  readonly dropped: number
  /** A smaller one; `undefined` where nothing is left to drop. */
  smaller(gap: number | undefined): Subject | undefined
}

const BLIND_CUT = 0.3 // of the size, where the error names no figures
const LEAST_ROOM = 200 // tokens; less is not worth a summary

export function conversationSubject(given: readonly Round[], room: Room, dropped = 0): Subject {
  const rounds = beginningWithUser(given)
  const messages = fitted(rounds.flat(), room)
  return {
    messages,
    dropped,
    smaller(gap) {
      const fewer = dropOldest(rounds, { gap, share: room.dropShare, estimate: (round) => roundSize(round, room) })
      if (fewer.kind === "dropped") {
        const next = conversationSubject(fewer.rounds, room, dropped + fewer.dropped)
        // a round may be shorter than the marker that replaces it: dropping it would gain nothing
        const isSmaller = sizeOf(next.messages, room.estimator) < sizeOf(messages, room.estimator)
        return isSmaller ? next : next.smaller(gap)
      }
      // one round that is too long on its own is cut harder
      const less = lessRoom(messages, room, gap)
      return less && conversationSubject(rounds, less, dropped)
    },
  }
}

/** Summaries of parts, each in a block of its own. */
export function partsSubject(parts: readonly string[], room: Room): Subject {
  const messages = joined(parts, room)
  return {
    messages,
    dropped: 0,
    smaller(gap) {
      const less = lessRoom(messages, room, gap)
      return less && partsSubject(parts, less)
    },
  }
}

function lessRoom(messages: readonly FlatMessage[], room: Room, gap: number | undefined): Room | undefined {
  const size = sizeOf(messages, room.estimator)
  const budget = Math.floor(Math.min(size * (1 - BLIND_CUT / 2), size - (gap ?? size * BLIND_CUT)))
  return budget < LEAST_ROOM ? undefined : { ...room, budget, limits: limitsIn(room) }
}

function joined(parts: readonly string[], { budget, estimator }: Room): readonly FlatMessage[] {
  const render = (texts: readonly string[]): readonly FlatMessage[] => [
    {
      role: "user",
      content: texts.map((text, at) => ({
        type: "text",
        text: `Summary of part ${at + 1} of ${texts.length} of the conversation:\n\n${text}`,
      })),
    },
  ]
  let texts = parts
  let messages = render(texts)
  for (let size = sizeOf(messages, estimator); size > budget; size = sizeOf(messages, estimator)) {
    const longest = Math.max(...texts.map(({ length }) => length))
    const shorter = texts.map((text) => cutMiddle(text, Math.floor(longest * Math.min(0.9, (0.95 * budget) / size))))
    if (shorter.every((text, at) => text.length >= texts[at]!.length)) return messages
    texts = shorter
    messages = render(texts)
  }
  return messages
}

/** Do not change it: other tools look for this text. */
export const TRUNCATED = "[earlier conversation truncated for compaction retry]"
const NOT_SHOWN = "[earlier conversation not shown here]"
const MARKER_UUID = "00000000-0000-4000-8000-000000000000"

/**
 * Lines at the front of what a summariser reads, where that is not the beginning of the conversation. They are ours and not the user's:
 * meta messages that never reach the journal, so they borrow the time of the message after them. The rounds, with the marker before them as
 * a round of its own.
 */
export function marked(rounds: readonly Round[], text: string): readonly Round[] {
  const first = rounds[0]?.[0]
  return first ? [[marker(text, first)], ...rounds] : rounds
}

/** A conversation has to begin with the user: one that does not gets a marker. */
function beginningWithUser(rounds: readonly Round[], text: string = NOT_SHOWN): readonly Round[] {
  const first = rounds.flat().find(isSentToModel)
  return first?.type === "assistant" ? marked(rounds, text) : rounds
}

export const partMarker = (part: number, parts: number) => `[conversation, part ${part} of ${parts}]`

function withoutMarkers(rounds: readonly Round[]): readonly Round[] {
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

const USUAL_SHARE = 0.2

interface DropOptions {
  /** By how many tokens the request was too long, where that is known. */
  readonly gap?: number | undefined
  /** Of the rounds, where it is not. Default a fifth. */
  readonly share?: number | undefined
  /** Tokens of a round, as it is sent. */
  readonly estimate: (round: Round) => number
}

type Dropped =
  | { readonly kind: "dropped"; readonly rounds: readonly Round[]; readonly dropped: number }
  /** At most one round is left: without it there would be nothing to summarise. */
  | { readonly kind: "nothing-left" }

/**
 * For a request for a summary that is itself too long: drops the oldest rounds, as many as the error asks for, or a share where it names no
 * figure. An earlier summary is dropped last, because it covers more than any round. Pure: every call leaves fewer rounds than it got, or
 * says that nothing is left to drop.
 */
export function dropOldest(given: readonly Round[], options: DropOptions): Dropped {
  const rounds = withoutMarkers(given) // otherwise a retry might drop only the marker of the previous one
  if (rounds.length <= 1) return { kind: "nothing-left" }
  const droppable = rounds.slice(0, -1).sort((a, b) => Number(holdsSummary(a)) - Number(holdsSummary(b)))
  const gone = new Set(droppable.slice(0, howMany(droppable, { ...options, total: rounds.length })))
  const left = rounds.filter((round) => !gone.has(round))
  return { kind: "dropped", rounds: beginningWithUser(left, TRUNCATED), dropped: gone.size }
}

const holdsSummary = (round: Round) => round.some((message) => message.type === "user" && message.isCompactSummary)

function howMany(
  droppable: readonly Round[],
  { gap, share = USUAL_SHARE, estimate, total }: DropOptions & { total: number },
): number {
  if (gap === undefined || !(gap > 0)) return Math.max(1, Math.floor(total * share))
  let covered = 0
  let count = 0
  while (covered < gap && count < droppable.length) covered += estimate(droppable[count++]!)
  return count
}
