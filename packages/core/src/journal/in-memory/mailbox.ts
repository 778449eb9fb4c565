/** A mailbox in memory, for tests and experiments. */

import { validateId } from "../../base/clock.ts"
import { ClosedError, InvalidIdError } from "../../base/errors.ts"
import {
  type Mailbox,
  type MailboxCursor,
  MailboxFullError,
  type MailboxMessage,
  MemberNameTakenError,
  type TeamMember,
  type TeamMemberState,
} from "../mailbox.ts"
import { validateMailboxDraft } from "../mailbox-line.ts"
import { parsePosition } from "../team-content.ts"

interface MemberState {
  readonly member: TeamMember
  cursor: MailboxCursor | undefined
  idleAt: MailboxCursor | undefined
  isJoined: boolean
}

/** The stored data of a team, shared by all its mailboxes. */
export interface StoredMailbox {
  readonly log: MailboxMessage[]
  /** The last sequence of each sender. */
  readonly senders: Map<string, number>
  readonly members: Map<string, MemberState>
  readonly listeners: Set<() => void>
  /** No later message may get a smaller position. */
  end: number
}

export const newMailbox = (): StoredMailbox => ({
  ...{ log: [], senders: new Map(), members: new Map(), listeners: new Set() },
  end: 0,
})

export function mailboxInMemory(location: string, kept: StoredMailbox): Mailbox {
  const { log, senders, members, listeners } = kept
  let isClosed = false
  const changed = () => {
    for (const listener of [...listeners]) listener()
  }
  const nextChange = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        listeners.delete(done)
        signal.removeEventListener("abort", done)
        resolve()
      }
      listeners.add(done)
      signal.addEventListener("abort", done)
    })
  const last = (from: string) => senders.get(from) ?? 0
  const end = () => Math.max(kept.end, positionOf(log.at(-1)?.cursor))
  const after = (place: number) => log.slice(log.findLastIndex(({ cursor }) => positionOf(cursor) <= place) + 1)

  return {
    location,

    async send(given, { waiting } = {}) {
      const draft = validateMailboxDraft(given)
      if (isClosed) throw new ClosedError()
      for (const name of draft.to) {
        const unread = after(positionOf(members.get(name)?.cursor)).filter(({ to }) => to.includes(name)).length
        if (waiting !== undefined && unread >= waiting) throw new MailboxFullError(name, unread)
      }
      const content = structuredClone(draft.content)
      const message = { ...draft, content, sequence: last(draft.from) + 1, cursor: String(end() + 1) }
      senders.set(draft.from, message.sequence)
      log.push(message)
      changed()
      return structuredClone(message)
    },

    async last(from) {
      return last(from)
    },

    async read(from, member) {
      const permit = member === undefined ? undefined : members.get(member)
      if (permit && from !== undefined) permit.cursor = from
      const messages = structuredClone(after(positionOf(from)))
      return { messages, cursor: String(end()), problems: [] }
    },

    async arrival(from, signal) {
      const start = positionOf(from)
      while (!signal.aborted && end() <= start) await nextChange(signal)
    },

    async change(signal) {
      if (!signal.aborted) await nextChange(signal)
    },

    async join(member) {
      const before = members.get(validateId("name for an agent", member.name))
      if (before?.isJoined) throw new MemberNameTakenError(member.name, process.pid)
      const permit: MemberState = { member, cursor: before?.cursor, idleAt: undefined, isJoined: true }
      members.set(member.name, permit)
      changed()
      return {
        ...(before?.cursor === undefined ? {} : { cursor: before.cursor }),
        async setIdle(at) {
          const isNew = permit.idleAt !== at
          permit.idleAt = at
          if (isNew) changed()
        },
        async leave(cursor) {
          permit.cursor = cursor ?? permit.cursor
          permit.isJoined = false
          changed()
        },
      }
    },

    async members() {
      const here = [...members.values()].filter(({ isJoined }) => isJoined).map(memberOf)
      return here.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async close() {
      isClosed = true
    },
  }
}

const memberOf = ({ member, idleAt }: MemberState): TeamMemberState =>
  idleAt === undefined ? member : { ...member, idleAt }

function positionOf(cursor: MailboxCursor | undefined): number {
  if (cursor === undefined) return 0
  const place = parsePosition(cursor)
  if (place === undefined) throw new InvalidIdError("position in a mailbox", cursor)
  return place
}
