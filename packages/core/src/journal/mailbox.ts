/**
 * The part of the `Store` port through which the processes of a team exchange messages: one append-only log per team. Every member reads
 * the entire log from its own cursor and picks its messages. What a message means is decided in `team/`.
 */
import { StrataError } from "../base/errors.ts"

/** Identifies a team. Its name is unique within a project. */
export interface TeamAddress {
  readonly project: string
  readonly team: string
}

/** A position in the log. Opaque to callers; it fits into JSON. */
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
  /** The position right after this message. */
  readonly cursor: MailboxCursor
}

/** The result of one read of the log. */
export interface MailboxReadResult {
  readonly messages: readonly MailboxMessage[]
  /** The position after everything that was read. */
  readonly cursor: MailboxCursor
  /** Skipped damage, described for the user. */
  readonly problems: readonly string[]
}

/** A member of a team. */
export interface TeamMember {
  readonly name: string
  /** The id of its conversation. */
  readonly conversation: string
}

/** A member as seen by others. */
export interface TeamMemberState extends TeamMember {
  /** Set while the member waits for messages: it has read everything before this position. */
  readonly idleAt?: MailboxCursor
}

/** A process's own membership of a team. */
export interface Membership {
  /** How far this name was read before, by this conversation or another one. */
  readonly cursor?: MailboxCursor
  /** Sets whether the member waits for messages. If so, it has read everything before this position. */
  setIdle(at: MailboxCursor | undefined): Promise<void>
  /** Leaves the team. The cursor records how far this member has read. */
  leave(cursor?: MailboxCursor): Promise<void>
}

/** Limits that make a mailbox refuse a message. */
export interface SendLimits {
  /** Maximum number of messages waiting for one receiver. More are refused with `MailboxFullError`. */
  readonly waiting?: number
}

/** The messages and members of one team. */
export interface Mailbox {
  /** Where the mailbox is, for messages to the user. */
  readonly location: string
  /**
   * Resolves when the message is completely written (and flushed, in mode `always`). Messages of one sender are written in the order of
   * the calls. The mailbox assigns the sequence.
   */
  send(draft: MailboxDraft, limits?: SendLimits): Promise<MailboxMessage>
  /** The sequence of a sender's last message, or 0. It tells a restarted sender what it has sent. */
  last(from: string): Promise<number>
  /**
   * Everything after a cursor, for all receivers. Reading changes no message: a reader saves the cursor together with its effects, so a
   * crash in between neither loses nor repeats a message. By passing its name, a member confirms that it has saved the cursor. Messages
   * that every member has passed may be removed.
   */
  read(after: MailboxCursor | undefined, member?: string): Promise<MailboxReadResult>
  /** Resolves when there is something after the cursor, or when the signal aborts. */
  arrival(after: MailboxCursor | undefined, signal: AbortSignal): Promise<void>
  /** Joins under a name. Throws `MemberNameTakenError` while another living process or conversation uses it. */
  join(member: TeamMember): Promise<Membership>
  /** The members, sorted by name, except those whose process has died. */
  members(): Promise<readonly TeamMemberState[]>
  /** Resolves when messages or members may have changed, or when the signal aborts. */
  change(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A message that the mailbox does not accept. */
export class MailboxMessageError extends StrataError {
  static override readonly code: string = "mailbox-message"
  override readonly name = "MailboxMessageError"

  constructor(why: string) {
    super(`The message was not sent: ${why}.`)
  }
}

/** Thrown when a receiver has too many unread messages. */
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

/** Thrown because member names are unique in a team. */
export class MemberNameTakenError extends StrataError {
  static override readonly code: string = "member-name-taken"
  override readonly name = "MemberNameTakenError"

  constructor(member: string, pid: number) {
    super(
      `The team already has a member named "${member}", in process ${pid}. Nothing was changed. Choose another name, or end that process.`,
    )
  }
}
