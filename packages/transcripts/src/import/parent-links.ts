/**
 * Resolves the parents of imported messages. A link that leads to a message of the file counts; otherwise the order of the file decides.
 * The result has no loops, and every repair is counted.
 */

import type { SystemMessage, Uuid } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"

export interface LinkRepairs {
  /** Messages whose parent is not in the file, or that need one and have none. */
  readonly unlinked: number
  /** Boundaries without a logical parent before them, or with one that is not in the file. */
  readonly boundaries: number
  /** Messages after a boundary whose parent belongs to the tail that the boundary preserves. */
  readonly afterKept: number
  /** The first message has a parent that is not in the file. */
  readonly startsLater: boolean
}

interface LinkInput {
  /** The messages in file order, with the parents that the file names. */
  readonly messages: readonly Message[]
  /** Parents of lines that did not become messages, by uuid. */
  readonly skipped: ReadonlyMap<Uuid, Uuid | null>
}

export function resolveParents({ messages: given, skipped }: LinkInput): {
  readonly messages: readonly Message[]
  readonly repairs: LinkRepairs
} {
  const place = new Map(given.map(({ uuid }, index) => [uuid, index]))
  const messages = withTailUuids(given, place)
  const repairs = { unlinked: 0, boundaries: 0, afterKept: 0, startsLater: false }
  let keeping: TailLinks | undefined
  const links = messages.map((message, index): ParentIndex => {
    const link = linkOf(message, { place, skipped })
    if (isBoundary(message)) {
      keeping = tailLinksOf(message, { index, messages })
      if (typeof link === "number") return link
      if (index > 0) repairs.boundaries++
      return before(index)
    }
    if (link === "none" && canBegin(message, messages[index - 1])) return link
    if (typeof link !== "number") {
      if (index === 0) repairs.startsLater = true
      else repairs.unlinked++
      return before(index)
    }
    if (!keeping?.kept.has(messages[link]!.uuid) || keeping.kept.has(message.uuid)) return link
    repairs.afterKept++
    return keeping.after < index ? keeping.after : keeping.boundary
  })
  for (let loops = loopsIn(links); loops.length > 0; loops = loopsIn(links)) {
    for (const index of loops) links[index] = before(index)
    repairs.unlinked += loops.length
  }
  const settled = messages.map((message, index): Message => {
    const link = links[index]!
    const parent = typeof link === "number" ? messages[link]!.uuid : null
    return isBoundary(message)
      ? { ...message, parentUuid: null, logicalParentUuid: parent }
      : { ...message, parentUuid: parent }
  })
  return { messages: settled, repairs }
}

const before = (index: number): ParentIndex => (index === 0 ? "none" : index - 1)

/** Whether a message may be the first of a conversation: at the start, or where the user continued it in another session. */
function canBegin({ type, sessionId }: Message, before: Message | undefined): boolean {
  if (before === undefined) return true
  const isSameSession = sessionId === before.sessionId || sessionId === undefined || before.sessionId === undefined
  return (type === "user" || type === "attachment") && isSameSession
}

/** Index of a message's parent. */
type ParentIndex = number | "none" | "missing"

function linkOf(
  message: Message,
  { place, skipped }: { place: ReadonlyMap<Uuid, number> } & Pick<LinkInput, "skipped">,
): ParentIndex {
  let parent = message.parentUuid ?? (isBoundary(message) ? (message.logicalParentUuid ?? null) : null)
  const seen = new Set<Uuid>()
  while (parent !== null && !place.has(parent) && skipped.has(parent) && !seen.has(parent)) {
    seen.add(parent)
    parent = skipped.get(parent)!
  }
  if (parent === null) return "none"
  return place.get(parent) ?? "missing"
}

/** For every loop, the messages whose parent comes later in the file or is the message itself. Every loop has one. */
function loopsIn(links: readonly ParentIndex[]): readonly number[] {
  const loops: number[] = []
  const done = new Set<ParentIndex>()
  for (const start of links.keys()) {
    const way = new Set<number>()
    let at: ParentIndex = start
    while (typeof at === "number" && !done.has(at) && !way.has(at)) {
      way.add(at)
      at = links[at]!
    }
    if (typeof at === "number" && way.has(at)) {
      const round = [...way].slice([...way].indexOf(at))
      loops.push(...round.filter((index) => (links[index] as number) >= index))
    }
    for (const index of way) done.add(index)
  }
  return loops
}

interface TailLinks {
  readonly kept: ReadonlySet<Uuid>
  readonly boundary: number
  /** The message to link to instead of a message in the tail: the summary. */
  readonly after: number
}

/**
 * Claude Code writes the tail once, before the boundary, and links the next message to its end. So no path from the end leads over boundary
 * and summary.
 */
function tailLinksOf(
  { compactMetadata }: SystemMessage,
  { index, messages }: { readonly index: number; readonly messages: readonly Message[] },
): TailLinks | undefined {
  const { uuids, anchorUuid } = compactMetadata?.preservedMessages ?? {}
  if (!Array.isArray(uuids) || uuids.length === 0) return undefined
  const next = messages.findIndex((message, at) => at > index && isBoundary(message))
  const own = messages.slice(index + 1, next < 0 ? undefined : next)
  const named = own.findIndex(({ uuid }) => uuid === anchorUuid)
  const anchor = named >= 0 ? named : own.findIndex((message) => message.type === "user" && message.isCompactSummary)
  return { kept: new Set(uuids), boundary: index, after: index + 1 + anchor }
}

/** Lists the uuids of the tail, of which some versions record only the ends. */
function withTailUuids(messages: readonly Message[], place: ReadonlyMap<Uuid, number>): readonly Message[] {
  return messages.map((message) => {
    const segment = isBoundary(message) ? segmentOf(message) : undefined
    if (!segment || message.type !== "system") return message
    const uuids: Uuid[] = []
    let at = place.get(segment.tailUuid)
    while (at !== undefined && uuids.length <= messages.length) {
      const { uuid, parentUuid } = messages[at]!
      uuids.unshift(uuid)
      if (uuid === segment.headUuid) break
      at = parentUuid === null ? undefined : place.get(parentUuid)
    }
    if (uuids[0] !== segment.headUuid) return message
    const preservedMessages = { anchorUuid: segment.anchorUuid, uuids }
    return { ...message, compactMetadata: { ...message.compactMetadata!, preservedMessages } }
  })
}

function segmentOf({
  compactMetadata,
}: SystemMessage): Record<"headUuid" | "anchorUuid" | "tailUuid", string> | undefined {
  if (!compactMetadata || compactMetadata.preservedMessages) return undefined
  const segment = compactMetadata.preservedSegment as Record<string, unknown> | undefined
  const isSegment = ["headUuid", "anchorUuid", "tailUuid"].every((key) => typeof segment?.[key] === "string")
  return isSegment ? (segment as ReturnType<typeof segmentOf>) : undefined
}
