/**
 * What one call for a summary is about: a stretch of the conversation, or summaries of parts. It fits the room it was given. Where the
 * provider still finds it too long, it can be made smaller.
 */
import type { FlatMessage } from "../../../messages/flatten.ts"
import type { Round } from "../../../messages/rounds.ts"
import { cutMiddle } from "./cut-middle.ts"
import { fitted, limitsIn, type Room, roundSize, sizeOf } from "./fit.ts"
import { beginningWithUser } from "./markers.ts"
import { dropOldest } from "./too-long.ts"

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
