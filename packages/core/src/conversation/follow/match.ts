/** Compares a client's list with the known messages. Pure. */
import {
  blocksIn,
  type ClientMessage,
  identifyMessage,
  looksCleared,
  type MessageIdentity,
} from "../../messages/message-identity.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { ClientMessageRecord } from "../../views/record/open-work.ts"

export interface IdentifiedMessage {
  readonly message: ClientMessage
  readonly trace: MessageIdentity
}

/** Identifies a message. Results can be cached for a client whose messages never change. */
export type MessageReader = (message: ClientMessage) => MessageIdentity

export const identifyMessages = (
  messages: readonly ClientMessage[],
  read: MessageReader = identifyMessage,
): readonly IdentifiedMessage[] => messages.map((message) => ({ message, trace: read(message) }))

/** A caching reader for messages that never change. */
export function createCachingReader(): MessageReader {
  const known = new WeakMap<ClientMessage, MessageIdentity>()
  return (message) => {
    const trace = known.get(message) ?? identifyMessage(message)
    known.set(message, trace)
    return trace
  }
}

/** Whether two calls have the same id. The API refuses that, but servers that start with `call_1` in each response do not. */
export function repeatsCalls(given: readonly IdentifiedMessage[]): boolean {
  const counted = given.filter(({ trace }) => trace.exactKey !== undefined)
  const ids = counted.flatMap(({ message }) =>
    blocksIn(message.content).flatMap(({ type, id }) => (type === "tool_use" ? String(id) : [])),
  )
  return new Set(ids).size < ids.length
}

export interface ListMatch {
  /** Number of leading messages that match in the client's list. `known`: in the known messages. */
  readonly given: number
  readonly known: number
  /** Whether the known messages continue with some that the client does not have. */
  readonly leaves: boolean
  /** Messages that the client sent without their thinking. */
  readonly stripped: readonly Uuid[]
}

const MAX_HEAD = 2 // leading messages that a client may preserve when it drops its oldest
const MIN_COMMON = 2 // messages that must match after the gap

/**
 * Compares the lists. A client may drop its oldest messages to shorten its list; the known messages still contain them, so the conversation
 * continues.
 */
export function matchLists(known: readonly ClientMessageRecord[], given: readonly IdentifiedMessage[]): ListMatch {
  const plain = common(known, given, isSame)
  if (!plain.leaves || plain.given > MAX_HEAD || plain.given >= given.length) return plain
  const next = given[plain.given]!.trace.key
  for (let at = plain.known + 1; next !== "" && at < known.length; at++) {
    if (known[at]!.key !== next) continue
    const rest = common(known.slice(at), given.slice(plain.given), isSame)
    if (rest.leaves || rest.given < MIN_COMMON) continue
    return {
      given: plain.given + rest.given,
      known: at + rest.known,
      leaves: false,
      stripped: [...plain.stripped, ...rest.stripped],
    }
  }
  return plain
}

/** Compares lists that may belong to different users. Sequential ids alone do not make messages equal. */
export const matchListsExactly = (
  known: readonly ClientMessageRecord[],
  given: readonly IdentifiedMessage[],
): ListMatch => common(known, given, isExactlySame)

function common(
  known: readonly ClientMessageRecord[],
  given: readonly IdentifiedMessage[],
  isSameMessage: typeof isSame,
): ListMatch {
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
      // thinking is signed for everything before it, so that of a turn is preserved completely or not at all
      if (!theirs.trace.thinks) stripped.push(...known.slice(here.known, end).flatMap(thinkingIn))
      here = { ...here, known: end }
    }
  }
  return { ...at, leaves: known.slice(at.known).some(({ key }) => key !== ""), stripped }
}

const isSame = ({ key, shortKey }: ClientMessageRecord, { trace }: IdentifiedMessage): boolean =>
  key === trace.key || (shortKey !== undefined && shortKey === trace.key)

const isExactlySame = (ours: ClientMessageRecord, theirs: IdentifiedMessage): boolean =>
  isSame(ours, theirs) && ours.exactKey === theirs.trace.exactKey

const thinkingIn = ({ thinks, rounds = [], uuid }: ClientMessageRecord): readonly Uuid[] =>
  thinks ? [...rounds, uuid] : []

/** End of the turn whose final text matches. A client may preserve only that text; the known messages also contain the calls before. */
function endOfTurn(
  known: readonly ClientMessageRecord[],
  from: number,
  { message, trace }: IdentifiedMessage,
): number | undefined {
  if (message.role !== "assistant" || trace.key === "") return undefined
  for (let at = from; at < known.length; at++) {
    const { role, key, results } = known[at]!
    if (role === "user" && !results && key !== "") return undefined // the next turn
    if (key === trace.key) return at
  }
  return undefined
}

/** Whether the client changed results on purpose. Results that it cleared remain as known. */
function isEdited(ours: MessageIdentity, { message, trace }: IdentifiedMessage): boolean {
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
