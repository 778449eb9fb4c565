/** A mailbox without a disk, for tests and experiments. */

import { checkedId } from "../../base/clock.ts"
import { ClosedError, InvalidIdError } from "../../base/errors.ts"
import {
  type FoundMember,
  type Mailbox,
  type MailboxCursor,
  MailboxFullError,
  type MailboxMessage,
  MemberNameTakenError,
  type TeamMember,
} from "../mailbox.ts"
import { validateMailboxDraft } from "../mailbox-line.ts"
import { numberOfPlace } from "../team-content.ts"

interface Permit {
  readonly member: TeamMember
  cursor: MailboxCursor | undefined
  idleAt: MailboxCursor | undefined
  isHere: boolean
}

/** What is kept of a team, for all who have its mailbox. */
export interface KeptMailbox {
  readonly log: MailboxMessage[]
  /** The last sequence of each sender. */
  readonly senders: Map<string, number>
  readonly permits: Map<string, Permit>
  readonly listeners: Set<() => void>
  /** No message may get a smaller place. */
  end: number
}

export const newMailbox = (): KeptMailbox => ({
  ...{ log: [], senders: new Map(), permits: new Map(), listeners: new Set() },
  end: 0,
})

export function mailboxInMemory(location: string, kept: KeptMailbox): Mailbox {
  const { log, senders, permits, listeners } = kept
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
  const end = () => Math.max(kept.end, placeOf(log.at(-1)?.cursor))
  const after = (place: number) => log.slice(log.findLastIndex(({ cursor }) => placeOf(cursor) <= place) + 1)

  return {
    location,

    async send(given, { waiting } = {}) {
      const draft = validateMailboxDraft(given)
      if (isClosed) throw new ClosedError()
      for (const name of draft.to) {
        const unread = after(placeOf(permits.get(name)?.cursor)).filter(({ to }) => to.includes(name)).length
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
      const permit = member === undefined ? undefined : permits.get(member)
      if (permit && from !== undefined) permit.cursor = from
      const messages = structuredClone(after(placeOf(from)))
      return { messages, cursor: String(end()), problems: [] }
    },

    async arrival(from, signal) {
      const start = placeOf(from)
      while (!signal.aborted && end() <= start) await nextChange(signal)
    },

    async change(signal) {
      if (!signal.aborted) await nextChange(signal)
    },

    async join(member) {
      const before = permits.get(checkedId("name for an agent", member.name))
      if (before?.isHere) throw new MemberNameTakenError(member.name, process.pid)
      const permit: Permit = { member, cursor: before?.cursor, idleAt: undefined, isHere: true }
      permits.set(member.name, permit)
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
          permit.isHere = false
          changed()
        },
      }
    },

    async members() {
      const here = [...permits.values()].filter(({ isHere }) => isHere).map(found)
      return here.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async close() {
      isClosed = true
    },
  }
}

const found = ({ member, idleAt }: Permit): FoundMember => (idleAt === undefined ? member : { ...member, idleAt })

function placeOf(cursor: MailboxCursor | undefined): number {
  if (cursor === undefined) return 0
  const place = numberOfPlace(cursor)
  if (place === undefined) throw new InvalidIdError("place in a mailbox", cursor)
  return place
}
