/** The messages and members of a team on the server. */
import { hash, randomUUID } from "node:crypto"
import { ClosedError, InvalidIdError } from "@strata/core"
import { KeyedQueues, MailboxFullError, MemberNameTakenError, validateId } from "@strata/core/base"
import {
  type Mailbox,
  type MailboxCursor,
  type MailboxDraft,
  type MailboxMessage,
  type MailboxReadResult,
  type Membership,
  parsePosition,
  type SendLimits,
  type TeamMember,
  type TeamMemberState,
  validateMailboxDraft,
} from "@strata/core/store"
import type { ChangeNotifier } from "./change-notifier.ts"
import type { Database } from "./database.ts"
import type { ProcessLease } from "./process-lease.ts"

export interface PostgresMailboxOptions {
  readonly database: Database
  readonly holder: ProcessLease
  readonly arrivals: ChangeNotifier
  readonly project: string
  readonly team: string
}

interface SentRow {
  readonly number: number
  readonly sequence: number
  readonly full_name: string | null
  readonly full_count: number
}

/** A message in the server's format. */
export interface MessageRow {
  readonly n: number
  readonly sender: string
  readonly sequence: number
  readonly receivers: string
  readonly content: string
}

/** Maximum number of messages that one call reads. */
const MAX_AT_ONCE = 1_000

export class PostgresMailbox implements Mailbox {
  readonly location: string
  readonly #parts: PostgresMailboxOptions
  readonly #channel: string
  #isClosed = false
  #tid: Promise<number> | undefined
  #seen: TeamState | undefined
  /** Queues by sender, because a pool could send a sender's second message before the first. */
  readonly #sending = new KeyedQueues<string>()

  constructor(parts: PostgresMailboxOptions) {
    const { project, team, holder } = parts
    this.#parts = parts
    this.location = `postgres:${project}/${team}`
    const digits = hash("sha256", JSON.stringify([holder.tenant, project, team]), "hex").slice(0, 40)
    this.#channel = `strata_${digits}`
  }

  async send(given: MailboxDraft, { waiting }: SendLimits = {}): Promise<MailboxMessage> {
    const { from, to, content } = validateMailboxDraft(given)
    if (this.#isClosed) throw new ClosedError()
    const text = JSON.stringify(content)
    const { number, sequence, full_name, full_count } = await this.#sending.run(from, () =>
      this.#row<SentRow>("send", randomUUID(), from, [...to], text, waiting ?? null, this.#channel),
    )
    if (full_name !== null) throw new MailboxFullError(full_name, full_count)
    this.#parts.arrivals.wake(this.#channel)
    return { from, to: [...to], content: JSON.parse(text) as MailboxDraft["content"], sequence, cursor: String(number) }
  }

  async last(from: string): Promise<number> {
    return (await this.#row<{ last_sent: number }>("last_sent", from)).last_sent
  }

  async read(after: MailboxCursor | undefined, member?: string): Promise<MailboxReadResult> {
    const messages: MailboxMessage[] = []
    let at = cursorPosition(after)
    let name = after === undefined ? null : (member ?? null)
    for (;;) {
      const rows = await this.#rows<MessageRow>("messages", at, name, MAX_AT_ONCE)
      messages.push(...rows.map(messageFrom))
      at = rows.at(-1)?.n ?? at
      name = null
      if (rows.length < MAX_AT_ONCE) return { messages, cursor: String(at), problems: [] }
    }
  }

  async arrival(after: MailboxCursor | undefined, signal: AbortSignal): Promise<void> {
    const at = cursorPosition(after)
    await this.#until(signal, async () => (await this.#state()).last > at)
  }

  /** Also reports changes since the previous call. The first call resolves at once, because something may have changed before it. */
  async change(signal: AbortSignal): Promise<void> {
    await this.#until(signal, async () => {
      const [before, now] = [this.#seen, await this.#state()]
      this.#seen = now
      return now.last !== before?.last || now.changes !== before.changes
    })
  }

  async join({ name, conversation }: TeamMember): Promise<Membership> {
    validateId("name for an agent", name)
    const { holder, arrivals } = this.#parts
    const permit = randomUUID()
    const end = holder.keep()
    try {
      const { state, read_to, other_pid } = await this.#row<JoinRow>(
        ...(["join_team", name, conversation, ...holder.identity, permit, this.#channel] as const),
      )
      if (state === "taken") throw new MemberNameTakenError(name, other_pid)
      arrivals.wake(this.#channel)
      return {
        ...(read_to === null ? {} : { cursor: String(read_to) }),
        setIdle: async (at) => {
          await this.#rows("set_idle", name, permit, at === undefined ? null : cursorPosition(at), this.#channel)
          arrivals.wake(this.#channel)
        },
        leave: async (cursor) => {
          const place = cursor === undefined ? null : cursorPosition(cursor)
          end()
          await holder.release("leave_team", holder.tenant, await this.#number(), name, permit, place, this.#channel)
          arrivals.wake(this.#channel)
        },
      }
    } catch (error) {
      end()
      throw error
    }
  }

  async members(): Promise<readonly TeamMemberState[]> {
    const rows = await this.#rows<{ name: string; conversation: string; idle_at: number | null }>("members")
    return rows.map(({ name, conversation, idle_at }) => ({
      ...{ name, conversation },
      ...(idle_at === null ? {} : { idleAt: String(idle_at) }),
    }))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending.whenIdle()
  }

  async #until(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
    const { arrivals } = this.#parts
    for (let tries = 0; !signal.aborted; tries++) {
      const since = arrivals.wakes(this.#channel) // a notification may arrive before an answer that does not include it
      if (await isSo()) return
      await arrivals.next(this.#channel, { tries, since, signal })
    }
  }

  #state(): Promise<TeamState> {
    return this.#row("team_state")
  }

  async #row<Row>(name: string, ...values: readonly unknown[]): Promise<Row> {
    return (await this.#rows<Row>(name, ...values))[0]!
  }

  async #rows<Row>(name: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const { database, holder } = this.#parts
    return database.rows<Row>(name, holder.tenant, await this.#number(), ...values)
  }

  /** The server's number of the team. */
  async #number(): Promise<number> {
    const { database, holder, project, team } = this.#parts
    this.#tid ??= database.value<number>("team_open", holder.tenant, project, team)
    return this.#tid.catch((error: unknown) => {
      this.#tid = undefined
      throw error
    })
  }
}

interface TeamState {
  readonly last: number
  readonly changes: number
}

interface JoinRow {
  readonly state: "joined" | "taken"
  readonly read_to: number | null
  readonly other_pid: number
}

const messageFrom = ({ n, sender, sequence, receivers, content }: MessageRow): MailboxMessage => ({
  from: sender,
  to: JSON.parse(receivers) as readonly string[],
  content: JSON.parse(content) as MailboxDraft["content"],
  sequence,
  cursor: String(n),
})

function cursorPosition(cursor: MailboxCursor | undefined): number {
  if (cursor === undefined) return 0
  const place = parsePosition(cursor)
  if (place === undefined) throw new InvalidIdError("position in a mailbox", cursor)
  return place
}
