/** How far a caller's list and what we have of it are the same. Pure. */
import {
  blocksIn,
  type ClientMessage,
  identifyMessage,
  looksCleared,
  type MessageIdentity,
} from "../../messages/message-identity.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { ClientMessageRecord } from "../../views/record/open-work.ts"

export interface GivenMessage {
  readonly message: ClientMessage
  readonly trace: MessageIdentity
}

/** Reads a message. A caller whose messages never change can keep what was read. */
export type Reader = (message: ClientMessage) => MessageIdentity

export const givenMessages = (
  messages: readonly ClientMessage[],
  read: Reader = identifyMessage,
): readonly GivenMessage[] => messages.map((message) => ({ message, trace: read(message) }))

/** For messages that never change: each is read once. */
export function keepingReader(): Reader {
  const known = new WeakMap<ClientMessage, MessageIdentity>()
  return (message) => {
    const trace = known.get(message) ?? identifyMessage(message)
    known.set(message, trace)
    return trace
  }
}

/** Whether two calls have one id. The API refuses that; servers that begin with `call_1` in each answer do not. */
export function repeatsCalls(given: readonly GivenMessage[]): boolean {
  const counted = given.filter(({ trace }) => trace.exactKey !== undefined)
  const ids = counted.flatMap(({ message }) =>
    blocksIn(message.content).flatMap(({ type, id }) => (type === "tool_use" ? String(id) : [])),
  )
  return new Set(ids).size < ids.length
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
export function matched(known: readonly ClientMessageRecord[], given: readonly GivenMessage[]): Matched {
  const plain = common(known, given, isSame)
  if (!plain.leaves || plain.given > HEAD || plain.given >= given.length) return plain
  const next = given[plain.given]!.trace.key
  for (let at = plain.known + 1; next !== "" && at < known.length; at++) {
    if (known[at]!.key !== next) continue
    const rest = common(known.slice(at), given.slice(plain.given), isSame)
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

/** What two lists share that may be of two people. Ids that only count do not make a message the same. */
export const matchedExactly = (known: readonly ClientMessageRecord[], given: readonly GivenMessage[]): Matched =>
  common(known, given, isExactlySame)

function common(
  known: readonly ClientMessageRecord[],
  given: readonly GivenMessage[],
  isSameMessage: typeof isSame,
): Matched {
  const stripped: Uuid[] = []
  let at = { known: 0, given: 0 }
  let here = at
  while (here.known < known.length && here.given < given.length) {
    const ours = known[here.known]!
    const theirs = given[here.given]!
    if (isSameMessage(ours, theirs)) {
      if (isEdited(ours, theirs)) break
      if (!theirs.trace.thinks) stripped.push(...thinkingIn(ours))
      here = { known: here.known + 1, given: here.given + 1 }
      at = here
    } else if (ours.key === "") here = { ...here, known: here.known + 1 }
    else if (theirs.trace.key === "" && here.given > 0) here = { ...here, given: here.given + 1 }
    else {
      const end = endOfTurn(known, here.known, theirs)
      if (end === undefined) break
      // thinking is signed for what is before it: of a turn it stays whole, or not at all
      if (!theirs.trace.thinks) stripped.push(...known.slice(here.known, end).flatMap(thinkingIn))
      here = { ...here, known: end }
    }
  }
  return { ...at, leaves: known.slice(at.known).some(({ key }) => key !== ""), stripped }
}

const isSame = ({ key, shortKey }: ClientMessageRecord, { trace }: GivenMessage): boolean =>
  key === trace.key || (shortKey !== undefined && shortKey === trace.key)

const isExactlySame = (ours: ClientMessageRecord, theirs: GivenMessage): boolean =>
  isSame(ours, theirs) && ours.exactKey === theirs.trace.exactKey

const thinkingIn = ({ thinks, rounds = [], uuid }: ClientMessageRecord): readonly Uuid[] =>
  thinks ? [...rounds, uuid] : []

/** A caller may keep only the last words of a turn. We have the calls before them too. */
function endOfTurn(
  known: readonly ClientMessageRecord[],
  from: number,
  { message, trace }: GivenMessage,
): number | undefined {
  if (message.role !== "assistant" || trace.key === "") return undefined
  for (let at = from; at < known.length; at++) {
    const { role, key, results } = known[at]!
    if (role === "user" && !results && key !== "") return undefined // the next turn
    if (key === trace.key) return at
  }
  return undefined
}

/** What the caller cleared stays as we have it. What it changed on purpose is another message. */
function isEdited(ours: MessageIdentity, { message, trace }: GivenMessage): boolean {
  if (hasSameResults(ours, trace)) return false
  const known = new Map(ours.results)
  const changed = (trace.results ?? []).filter(([id, digest]) => known.get(id) !== digest).map(([id]) => id)
  if (changed.length === 0) return false
  return blocksIn(message.content).some(
    (block) => changed.includes(String(block.tool_use_id)) && !looksCleared(block.content),
  )
}

function hasSameResults({ results: ours = [] }: MessageIdentity, { results: theirs = [] }: MessageIdentity): boolean {
  return theirs.every(([id, digest], at) => ours[at]?.[0] === id && ours[at][1] === digest)
}
