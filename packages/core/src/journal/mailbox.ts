/**
 * The part of the `Store` port through which the processes of a team send each other messages: one append-only log per team.
 * Every member reads all of it from its own cursor and takes what is for it. What a message means is the business of `team/`.
 */
import { StrataError } from "../base/errors.ts"

/** Which team it is. Its name is unique in a project. */
export interface TeamAddress {
  readonly project: string
  readonly team: string
}

/** A place in the log. Opaque to callers; it fits into JSON. */
export type MailboxCursor = string

/** A message to send. */
export interface MailboxDraft {
  /** The sender's name. */
  readonly from: string
  /** The names of the receivers. */
  readonly to: readonly string[]
  readonly content: Readonly<Record<string, unknown>>
}

/** A message in the log. */
export interface MailboxMessage extends MailboxDraft {
  /** Counts the messages of this sender from 1, without gaps as long as the log is undamaged. */
  readonly sequence: number
  /** The place right after this message. */
  readonly cursor: MailboxCursor
}

/** What one reading of the log found. */
export interface MailboxReadResult {
  readonly messages: readonly MailboxMessage[]
  /** The place after everything that was read. */
  readonly cursor: MailboxCursor
  /** Damage that was skipped, as sentences for a person. */
  readonly problems: readonly string[]
}

/** A process in a team. */
export interface TeamMember {
  readonly name: string
  /** The id of its conversation. */
  readonly conversation: string
}

/** A member as others see it. */
export interface TeamMemberState extends TeamMember {
  /** It waits for messages, and has read everything before this place. Absent while it works. */
  readonly idleAt?: MailboxCursor
}

/** A member's own place in a team. */
export interface Membership {
  /** How far the name was read before, by this conversation or another one. */
  readonly cursor?: MailboxCursor
  /** Says that the member waits for messages and has read everything before this place, or that it works. */
  setIdle(at: MailboxCursor | undefined): Promise<void>
  /** Leaves the team. The cursor says how far this member got. */
  leave(cursor?: MailboxCursor): Promise<void>
}

/** When a message is refused. */
export interface SendLimits {
  /** The most messages that may wait for one receiver. More are refused with `MailboxFullError`. */
  readonly waiting?: number
}

/** The messages and members of one team. */
export interface Mailbox {
  /** For messages to a person. */
  readonly location: string
  /**
   * Resolves when the message is written (and flushed, in mode `always`): all of it or nothing. Messages of one sender are
   * written in the order of the calls. The mailbox gives the sequence.
   */
  send(draft: MailboxDraft, limits?: SendLimits): Promise<MailboxMessage>
  /** The sequence of a sender's last message, or 0. A restarted sender sees from it what it has sent. */
  last(from: string): Promise<number>
  /**
   * Everything after a cursor, for all receivers. Reading changes no message: a reader saves the cursor together with what it did
   * with the messages, so a crash in between loses and repeats nothing.
   * A member that gives its name says that it has saved the cursor. What every member has passed may be removed.
   */
  read(after: MailboxCursor | undefined, member?: string): Promise<MailboxReadResult>
  /** Resolves when there is something after the cursor, or when the signal aborts. */
  arrival(after: MailboxCursor | undefined, signal: AbortSignal): Promise<void>
  /** Joins under a name. Throws `MemberNameTakenError` while another living process or conversation has it. */
  join(member: TeamMember): Promise<Membership>
  /** Who is in the team, by name. A member whose process has died is left out. */
  members(): Promise<readonly TeamMemberState[]>
  /** Resolves when a message or a member may have changed, or when the signal aborts. */
  change(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A message that a team's mailbox does not take. */
export class MailboxMessageError extends StrataError {
  static override readonly code: string = "mailbox-message"
  override readonly name = "MailboxMessageError"

  constructor(why: string) {
    super(`The message was not sent: ${why}.`)
  }
}

/** A receiver has not read its earlier messages yet. */
export class MailboxFullError extends StrataError {
  static override readonly code: string = "mailbox-full"
  override readonly name = "MailboxFullError"
  readonly receiver: string

  constructor(receiver: string, waiting: number) {
    super(
      `The message was not sent: ${waiting} messages already wait for "${receiver}". Wait until it has read them, or put what you have to say into one message.`,
    )
    this.receiver = receiver
  }
}

/** Two members of a team cannot have the same name. */
export class MemberNameTakenError extends StrataError {
  static override readonly code: string = "member-name-taken"
  override readonly name = "MemberNameTakenError"

  constructor(member: string, pid: number) {
    super(
      `The team already has a member named "${member}", in process ${pid}. Nothing was changed. Choose another name, or end that process.`,
    )
  }
}
