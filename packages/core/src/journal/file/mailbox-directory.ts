/**
 * A team's mailbox on the local disk, shared by several processes. Messages that wait at the same time share one locked write. A process
 * killed at any moment leaves complete messages and nothing else.
 */
import { watch } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { type Clock, validateId } from "../../base/clock.ts"
import { ClosedError, JournalWriteError, StrataError } from "../../base/errors.ts"
import {
  type Mailbox,
  type MailboxCursor,
  type MailboxDraft,
  MailboxFullError,
  type MailboxMessage,
  type MailboxReadResult,
  MemberNameTakenError,
  type Membership,
  type SendLimits,
  type TeamMember,
  type TeamMemberState,
} from "../mailbox.ts"
import { validateMailboxDraft } from "../mailbox-line.ts"
import type { FlushMode } from "../store.ts"
import { localCursor } from "./contents/team-files.ts"
import { isOwnerAlive, thisProcess } from "./lock-owner.ts"
import { hasMore, LogWriter, parseCursor, readLog, removeSegmentsBefore, renewLastSegment } from "./mailbox-log.ts"
import { listMembers, type MemberFile, readMember, takeMember, writeMember } from "./mailbox-members.ts"
import { ShortLock } from "./short-lock.ts"

const SEGMENT_BYTES = 1024 * 1024 // about 5,000 messages; a new process reads everything that some member has not passed
const POLL_INTERVAL_MS = 200 // used if the system does not report file changes
const DEAD_MEMBER_MS = 7 * 24 * 60 * 60 * 1000 // how long messages wait for a killed member to be resumed

export interface MailboxDirectoryOptions {
  readonly directory: string
  readonly flush: FlushMode
  readonly clock: Clock
  /** A segment of this size is followed by a new one. */
  readonly segmentBytes?: number
  /** Called after each check of the team's lock, before the write, for tests that pause the process there. */
  readonly atStep?: () => void
}

interface WaitingSend {
  readonly draft: MailboxDraft
  readonly limits: SendLimits
  readonly resolve: (message: MailboxMessage) => void
  readonly reject: (error: unknown) => void
}

export class MailboxDirectory implements Mailbox {
  readonly location: string
  readonly #flush: FlushMode
  readonly #clock: Clock
  readonly #lock: ShortLock
  readonly #log: LogWriter
  readonly #joined = new Map<string, MemberFile>()
  #waiting: WaitingSend[] = []
  #writing: Promise<void> | undefined
  #closed = false

  constructor(options: MailboxDirectoryOptions) {
    const { directory, flush, clock, segmentBytes = SEGMENT_BYTES, atStep = () => {} } = options
    this.location = directory
    this.#flush = flush
    this.#clock = clock
    const lock = new ShortLock({
      path: join(directory, "lock"),
      now: () => clock.now().toISOString(),
      renew: (by) => renewLastSegment(directory, by),
    })
    this.#lock = lock
    const check = () => {
      lock.check()
      atStep()
    }
    this.#log = new LogWriter({ directory, segmentBytes, flush, check })
  }

  async send(draft: MailboxDraft, limits: SendLimits = {}): Promise<MailboxMessage> {
    validateMailboxDraft(draft)
    if (this.#closed) throw new ClosedError()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ draft, limits, resolve, reject })
      this.#writing ??= this.#writeWaiting()
    })
  }

  last(from: string): Promise<number> {
    return this.#locked(() => {
      this.#log.catchUp()
      return this.#log.last(from)
    })
  }

  async read(given: MailboxCursor | undefined, member?: string): Promise<MailboxReadResult> {
    const after = await localCursor(this.location, given)
    if (member !== undefined && after !== undefined) await this.#passed(member, after)
    const reading = await this.#read(after)
    return { messages: reading.messages, cursor: reading.cursor, problems: reading.problems }
  }

  async arrival(given: MailboxCursor | undefined, signal: AbortSignal): Promise<void> {
    const after = await localCursor(this.location, given)
    while (!signal.aborted) {
      const changed = this.#change(signal) // started before reading, so that nothing arrives unseen in between
      try {
        if (await hasMore(this.location, after)) return
        await changed.happened
      } finally {
        changed.stop()
      }
    }
  }

  async join({ name, conversation }: TeamMember): Promise<Membership> {
    validateId("name for an agent", name)
    const { since: _, ...owner } = await thisProcess("")
    const before = await this.#locked(async () => {
      const found = readMember(this.location, name)
      if (found && !found.hasLeft && (await isOwnerAlive(found))) throw new MemberNameTakenError(name, found.pid)
      const cursor = found?.cursor === undefined ? {} : { cursor: found.cursor }
      const member = { name, conversation, ...owner, ...cursor, hasLeft: false }
      await takeMember(this.location, member)
      this.#joined.set(name, member)
      return found
    })
    return {
      ...(before?.cursor === undefined ? {} : { cursor: before.cursor }),
      setIdle: async (at) => this.#setIdle(name, await localCursor(this.location, at)),
      leave: async (cursor) => this.#leave(name, await localCursor(this.location, cursor)),
    }
  }

  async members(): Promise<readonly TeamMemberState[]> {
    const found = await listMembers(this.location)
    return found
      .filter(({ isRunning }) => isRunning)
      .map(({ name, conversation, idleAt }) => ({ name, conversation, ...(idleAt === undefined ? {} : { idleAt }) }))
  }

  async change(signal: AbortSignal): Promise<void> {
    const changed = this.#change(signal)
    await changed.happened
    changed.stop()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#writing
    await this.#lock.close()
    this.#log.close()
  }

  /** Reads again under the lock if there is damage or an unfinished line, because a write may be in progress. */
  async #read(after: MailboxCursor | undefined): Promise<MailboxReadResult> {
    const reading = await readLog(this.location, after)
    if (!reading.hasOpenEnd && reading.problems.length === 0) return reading
    return this.#locked(() => {
      this.#log.catchUp()
      return readLog(this.location, after)
    })
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      let taken: readonly WaitingSend[] = []
      try {
        const written = await this.#locked(() => {
          taken = this.#waiting // includes messages that arrived while waiting for the lock
          this.#waiting = []
          return this.#append(taken)
        })
        if (this.#flush === "always") await this.#log.flush()
        for (const answer of written) answer()
      } catch (error) {
        const failed = taken.length > 0 ? taken : this.#waiting
        if (taken.length === 0) this.#waiting = []
        for (const { reject } of failed) reject(asWriteError(this.location, error))
      }
    }
    this.#writing = undefined
  }

  /** Writes the messages that the limits allow. Returns the callbacks to call once everything is flushed. */
  #append(taken: readonly WaitingSend[]): readonly (() => void)[] {
    this.#log.catchUp()
    const answers: (() => void)[] = []
    const added = new Map<string, number>()
    const accepted = taken.filter((one) => {
      const full = this.#fullReceiver(one, added)
      if (full) answers.push(() => one.reject(full))
      else for (const name of one.draft.to) added.set(name, (added.get(name) ?? 0) + 1)
      return full === undefined
    })
    if (accepted.length === 0) return answers
    const { messages, error } = this.#log.append(accepted.map(({ draft }) => draft))
    this.#lock.check({ written: true }) // the write may have gone to a segment that the new holder no longer uses
    for (const [at, { resolve, reject }] of accepted.entries()) {
      const message = messages[at]
      answers.push(message ? () => resolve(message) : () => reject(asWriteError(this.location, error)))
    }
    return answers
  }

  #fullReceiver({ draft, limits }: WaitingSend, added: ReadonlyMap<string, number>): MailboxFullError | undefined {
    if (limits.waiting === undefined) return undefined
    for (const name of draft.to) {
      const cursor = readMember(this.location, name)?.cursor
      const waiting =
        this.#log.waiting(name, cursor === undefined ? undefined : parseCursor(cursor)) + (added.get(name) ?? 0)
      if (waiting >= limits.waiting) return new MailboxFullError(name, waiting)
    }
    return undefined
  }

  /** Records how far a member has read. Segments that all members have passed are removed. */
  async #passed(name: string, cursor: MailboxCursor): Promise<void> {
    const member = this.#joined.get(name)
    if (!member || member.cursor === cursor) return
    const segment = (at: MailboxCursor | undefined) => (at === undefined ? 0 : parseCursor(at).segment)
    const isFurther = segment(cursor) > segment(member.cursor)
    const moved = { ...member, cursor }
    this.#joined.set(name, moved)
    await writeMember(this.location, moved)
    if (isFurther) await this.#locked(() => this.#removePassed())
  }

  async #removePassed(): Promise<void> {
    const now = this.#clock.now().getTime()
    const members = await listMembers(this.location)
    const counted = members.filter(({ isRunning, touched }) => isRunning || now - touched.getTime() < DEAD_MEMBER_MS)
    const reached = counted.map(({ cursor }) => (cursor === undefined ? 0 : parseCursor(cursor).segment))
    await removeSegmentsBefore(this.location, Math.min(...reached))
  }

  async #setIdle(name: string, idleAt: MailboxCursor | undefined): Promise<void> {
    const member = this.#joined.get(name)
    if (!member || member.idleAt === idleAt) return
    const { idleAt: _, ...rest } = member
    const moved = idleAt === undefined ? rest : { ...rest, idleAt }
    this.#joined.set(name, moved)
    await writeMember(this.location, moved)
  }

  async #leave(name: string, cursor: MailboxCursor | undefined): Promise<void> {
    if (cursor !== undefined) await this.#passed(name, cursor)
    const member = this.#joined.get(name)
    if (!member) return
    this.#joined.delete(name)
    await writeMember(this.location, { ...member, hasLeft: true }).catch((error: unknown) => {
      if (!(error instanceof MemberNameTakenError)) throw error // another process has the name, so there is nothing to leave
    })
  }

  async #locked<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await this.#lock.hold(work)
    } catch (error) {
      throw asWriteError(this.location, error)
    }
  }

  /** Waits for the next change of the directory, or for the poll interval if the system reports none. */
  #change(signal: AbortSignal): { readonly happened: Promise<unknown>; stop(): void } {
    const stopped = new AbortController()
    const either = AbortSignal.any([signal, stopped.signal])
    const changes = Promise.withResolvers<void>()
    try {
      watch(this.location, { signal: either }, () => changes.resolve()).on("error", () => undefined)
    } catch {
      // the directory does not exist yet, or the system has no watches left: polling continues
    }
    const soon = wait(POLL_INTERVAL_MS, undefined, { signal: either }).catch(() => undefined)
    return { happened: Promise.race([changes.promise, soon]), stop: () => stopped.abort() }
  }
}

const asWriteError = (path: string, error: unknown): unknown =>
  error instanceof StrataError ? error : new JournalWriteError(path, error)
