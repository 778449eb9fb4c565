/**
 * A team as two texts that every store can give and take. Conversations keep places in their journals, so each message keeps the number of its
 * place: what was a place in a file (a segment and an offset) is one number.
 */

import { isSafeId } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { MEMBERS, MESSAGES } from "./contents.ts"
import type { MailboxDraft } from "./mailbox.ts"

export interface PositionedMessage extends MailboxDraft {
  readonly sequence: number
  /** The number of the place right after it. Larger than that of every message before. */
  readonly at: number
}

export interface StoredMember {
  readonly name: string
  readonly conversation: string
  /** The place of the last message that it has read. Absent: none. */
  readonly read?: number
}

export interface TeamContent {
  readonly messages: readonly PositionedMessage[]
  /** The last sequence of each sender: messages may be gone. */
  readonly senders: Readonly<Record<string, number>>
  readonly members: readonly StoredMember[]
  /** The place after everything, where that is further than the last message: journals may name it, so no later message may get a smaller one. */
  readonly end?: number
}

/** A segment of a log in files has at most a few megabytes. */
const SEGMENT_SPAN = 2 ** 32

export const positionNumber = ({ segment, offset }: { readonly segment: number; readonly offset: number }): number =>
  segment * SEGMENT_SPAN + offset

/** Nothing for a number that was never a place in a file. */
export const filePosition = (at: number): { readonly segment: number; readonly offset: number } | undefined =>
  at < SEGMENT_SPAN ? undefined : { segment: Math.floor(at / SEGMENT_SPAN), offset: at % SEGMENT_SPAN }

/** The number of a place, in the form of files (`2:1000`) or as a number. Nothing if it is neither. */
export function parsePosition(cursor: string): number | undefined {
  const [, segment, offset] = /^(?:(\d{1,8}):)?(\d{1,15})$/.exec(cursor) ?? []
  if (offset === undefined) return undefined
  return segment === undefined ? Number(offset) : positionNumber({ segment: Number(segment), offset: Number(offset) })
}

/** The same team gives the same texts. */
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

/** What was given out by `teamTexts`. Names are checked: they become parts of paths. */
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
    throw new StrataError("The messages of a team cannot be read. Nothing of it was written.", { code: "team-content" })
  return { messages, ...known }
}
