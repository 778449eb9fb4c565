/**
 * A team as two texts that every store can export and import. Journals refer to positions of messages, so each message keeps its position
 * as one number. A position in a file (segment and offset) is converted to one number.
 */

import { isSafeId } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { MEMBERS, MESSAGES } from "./contents.ts"
import type { MailboxDraft } from "./mailbox.ts"

export interface PositionedMessage extends MailboxDraft {
  readonly sequence: number
  /** The position right after the message. Larger than that of every earlier message. */
  readonly at: number
}

export interface StoredMember {
  readonly name: string
  readonly conversation: string
  /** The position of the last message that it has read. Absent if it has read none. */
  readonly read?: number
}

export interface TeamContent {
  readonly messages: readonly PositionedMessage[]
  /** The last sequence of each sender, because older messages may have been removed. */
  readonly senders: Readonly<Record<string, number>>
  readonly members: readonly StoredMember[]
  /** The end of the log, if it is beyond the last message. Journals may refer to it, so no later message may get a smaller position. */
  readonly end?: number
}

/** Larger than any segment, which has at most a few megabytes. */
const SEGMENT_SPAN = 2 ** 32

export const positionNumber = ({ segment, offset }: { readonly segment: number; readonly offset: number }): number =>
  segment * SEGMENT_SPAN + offset

/** Returns `undefined` for a number that was never a position in a file. */
export const filePosition = (at: number): { readonly segment: number; readonly offset: number } | undefined =>
  at < SEGMENT_SPAN ? undefined : { segment: Math.floor(at / SEGMENT_SPAN), offset: at % SEGMENT_SPAN }

/** The number of a position that is written as in files (`2:1000`) or as a number. `undefined` otherwise. */
export function parsePosition(cursor: string): number | undefined {
  const [, segment, offset] = /^(?:(\d{1,8}):)?(\d{1,15})$/.exec(cursor) ?? []
  if (offset === undefined) return undefined
  return segment === undefined ? Number(offset) : positionNumber({ segment: Number(segment), offset: Number(offset) })
}

/** Deterministic: the same team gives the same texts. */
export function encodeTeam({ messages, senders, members, end = 0 }: TeamContent): ReadonlyMap<string, Buffer> {
  const lines = messages.map(({ from, to, sequence, content, at }) =>
    JSON.stringify({ from, to, sequence, content, at }),
  )
  const known = {
    senders: Object.fromEntries(Object.entries(senders).sort(([a], [b]) => (a < b ? -1 : 1))),
    members: members
      .map(({ name, conversation, read }) => ({ name, conversation, ...(read ? { read } : {}) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(end > (messages.at(-1)?.at ?? 0) ? { end } : {}),
  }
  return new Map([
    [MESSAGES, Buffer.from(lines.map((line) => `${line}\n`).join(""))],
    [MEMBERS, Buffer.from(`${JSON.stringify(known)}\n`)],
  ])
}

/** Decodes texts made by `encodeTeam`. Names are checked, because they become parts of paths. */
export function decodeTeam(texts: ReadonlyMap<string, Buffer>): TeamContent {
  const lines = (texts.get(MESSAGES)?.toString("utf8") ?? "").split("\n").filter((line) => line !== "")
  const messages = lines.map((line) => JSON.parse(line) as PositionedMessage)
  const known = JSON.parse(texts.get(MEMBERS)?.toString("utf8") ?? '{"senders":{},"members":[]}') as Omit<
    TeamContent,
    "messages"
  >
  const names = [
    ...messages.flatMap(({ from, to }) => [from, ...to]),
    ...Object.keys(known.senders),
    ...known.members.map(({ name }) => name),
  ]
  const isRising = messages.every(({ at }, n) => Number.isSafeInteger(at) && at > (messages[n - 1]?.at ?? 0))
  if (!names.every(isSafeId) || !isRising || !Number.isSafeInteger(known.end ?? 0))
    throw new StrataError("The messages of a team cannot be read. Nothing was written.", { code: "team-content" })
  return { messages, ...known }
}
