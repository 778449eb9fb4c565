/** How far a caller's list and what we have of it are the same. Pure. */
import { blocksIn, type CallerMessage, looksCleared, type MessageTrace, traceOf } from "../../messages/caller-key.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { FollowedMessage } from "../../views/record/followed.ts"

export interface GivenMessage {
  readonly message: CallerMessage
  readonly trace: MessageTrace
}

/** Reads a message. A caller whose messages never change can keep what was read. */
export type Reader = (message: CallerMessage) => MessageTrace

export const givenMessages = (messages: readonly CallerMessage[], read: Reader = traceOf): readonly GivenMessage[] =>
  messages.map((message) => ({ message, trace: read(message) }))

/** For messages that never change: each is read once. */
export function keepingReader(): Reader {
  const known = new WeakMap<CallerMessage, MessageTrace>()
  return (message) => {
    const trace = known.get(message) ?? traceOf(message)
    known.set(message, trace)
    return trace
  }
}

export interface Matched {
  /** How many of the given and of the known messages, from the first. */
  readonly given: number
  readonly known: number
  /** Whether what we have goes on after that with something the caller does not have. */
  readonly leaves: boolean
  /** Messages that the caller has without their thinking. */
  readonly stripped: readonly Uuid[]
}

const HEAD = 2 // messages that a caller may keep in front when it drops its oldest
const ENOUGH = 2 // messages that must be the same after the gap

/** A caller may drop its oldest messages to keep its list short. We have them, so the list goes on where it did. */
export function matched(known: readonly FollowedMessage[], given: readonly GivenMessage[]): Matched {
  const plain = common(known, given)
  if (!plain.leaves || plain.given > HEAD || plain.given >= given.length) return plain
  const next = given[plain.given]!.trace.key
  for (let at = plain.known + 1; next !== "" && at < known.length; at++) {
    if (known[at]!.key !== next) continue
    const rest = common(known.slice(at), given.slice(plain.given))
    if (rest.leaves || rest.given < ENOUGH) continue
    return {
      given: plain.given + rest.given,
      known: at + rest.known,
      leaves: false,
      stripped: [...plain.stripped, ...rest.stripped],
    }
  }
  return plain
}

function common(known: readonly FollowedMessage[], given: readonly GivenMessage[]): Matched {
  const stripped: Uuid[] = []
  let at = { known: 0, given: 0 }
  let here = at
  while (here.known < known.length && here.given < given.length) {
    const ours = known[here.known]!
    const theirs = given[here.given]!
    if (ours.key === theirs.trace.key) {
      if (isEdited(ours, theirs)) break
      if (ours.thinks && !theirs.trace.thinks) stripped.push(ours.uuid)
      here = { known: here.known + 1, given: here.given + 1 }
      at = here
    } else if (ours.key === "") here = { ...here, known: here.known + 1 }
    else if (theirs.trace.key === "" && here.given > 0) here = { ...here, given: here.given + 1 }
    else break
  }
  return { ...at, leaves: known.slice(at.known).some(({ key }) => key !== ""), stripped }
}

/** What the caller cleared stays as we have it. What it changed on purpose is another message. */
function isEdited(ours: MessageTrace, { message, trace }: GivenMessage): boolean {
  if (hasSameResults(ours, trace)) return false
  const known = new Map(ours.results)
  const changed = (trace.results ?? []).filter(([id, digest]) => known.get(id) !== digest).map(([id]) => id)
  if (changed.length === 0) return false
  return blocksIn(message.content).some(
    (block) => changed.includes(String(block.tool_use_id)) && !looksCleared(block.content),
  )
}

function hasSameResults({ results: ours = [] }: MessageTrace, { results: theirs = [] }: MessageTrace): boolean {
  return theirs.every(([id, digest], at) => ours[at]?.[0] === id && ours[at][1] === digest)
}
