/** One class per kind of failure that a caller can act on. Each message states what happened, what was preserved and what to do next. */
import { escapeInvisible } from "./text.ts"

/** The property with an error's code and those of its superclasses. All versions of this package in a process share the symbol. */
const CODES = Symbol.for("strata.error.codes")

/**
 * Errors are recognized by their code, which is the same in all versions. `instanceof` compares codes too, so an error thrown by another
 * version of this package in the same `node_modules` is recognized.
 */
export class StrataError extends Error {
  static readonly code: string = "strata"
  override readonly name: string = "StrataError"
  /** The kind of failure. */
  readonly code: string

  constructor(message?: string, { code, ...options }: ErrorOptions & { readonly code?: string } = {}) {
    super(message, options)
    this.code = code ?? new.target.code
    Object.defineProperty(this, CODES, { value: new Set([this.code, ...codesOf(new.target)]) })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class below this one inherits the method
    return hasCodeOf(value, this)
  }
}

function hasCodeOf(value: unknown, kind: typeof StrataError): boolean {
  // an external subclass without a code of its own
  if (!Object.hasOwn(kind, "code")) return Function.prototype[Symbol.hasInstance].call(kind, value)
  const codes = (value as { readonly [CODES]?: unknown } | null | undefined)?.[CODES]
  return codes instanceof Set && codes.has(kind.code)
}

function codesOf(kind: typeof StrataError): readonly string[] {
  return kind === StrataError ? [kind.code] : [kind.code, ...codesOf(Object.getPrototypeOf(kind) as typeof StrataError)]
}

/** A short name of the kind of error, without any content. */
export function errorKind(error: unknown): string {
  if (error instanceof StrataError) return error.code
  return error instanceof Error ? error.name : typeof error
}

/** Invalid settings. Each problem names the file or variable, the setting and what is allowed. */
export class SettingsError extends StrataError {
  static override readonly code: string = "settings"
  override readonly name = "SettingsError"
  readonly problems: readonly SettingsProblem[]

  constructor(problems: readonly SettingsProblem[]) {
    const lines = problems.map(
      ({ source, key, reason }) => `  ${escapeInvisible(source)}: ${key || "the file"} ${reason}.`,
    )
    super(`Nothing was started, because the settings cannot be used:\n${lines.join("\n")}`)
    this.problems = problems
  }
}

export interface SettingsProblem {
  /** The file, the environment variable, or "options in code". */
  readonly source: string
  /** The dotted path of the setting. Empty for problems with the entire file. */
  readonly key: string
  /** What is wrong, as the end of a sentence, such as `must be true or false`. */
  readonly reason: string
}

/** An id that is not safe in a path. */
export class InvalidIdError extends StrataError {
  static override readonly code: string = "invalid-id"
  override readonly name = "InvalidIdError"

  constructor(kind: string, id: string) {
    super(
      `${JSON.stringify(id.slice(0, 80))} cannot be used as a ${kind}: only letters, digits, "-" and "_" are allowed, at most 220 characters. Nothing was written.`,
    )
  }
}

/** The holder of a lock, as named in errors. */
export interface NamedHolder {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Whether this process itself holds the lock. */
  readonly isSelf?: boolean
  /** The lock's file, if the store has one. */
  readonly path?: string
  /** `unknown`: the holder is on another machine or in another container, so its process cannot be checked. */
  readonly status?: "alive" | "unknown"
  /** The fencing number of the acquisition. */
  readonly fence?: number
  /** Set for locks that must be renewed: how many seconds after the end of its process the store gives the lock to another. */
  readonly endsAfterSeconds?: number
}

const describeHolder = ({ pid, host, isSelf }: NamedHolder): string =>
  `${isSelf ? "this process" : `process ${pid}`} on ${host}`

/**
 * States who holds a lock since when, and what to do if the holder may no longer run. `does` completes the sentence, such as "is writing
 * here".
 */
export function describeHeldLock(owner: NamedHolder, { does, command }: { does: string; command: string }): string {
  const place = describeHolder(owner)
  return `${place.slice(0, 1).toUpperCase()}${place.slice(1)} ${does}, since ${owner.since}.${unlockAdvice(owner, command)}`
}

/** What to do about a lock whose holder may no longer run. */
function unlockAdvice({ path, status, endsAfterSeconds, isSelf }: NamedHolder, command: string): string {
  if (endsAfterSeconds !== undefined && !isSelf)
    return ` If that process was killed, the lock ends by itself within ${endsAfterSeconds} seconds.`
  if (status !== "unknown" || path === undefined) return ""
  return ` This machine cannot tell whether that process is still running. If its machine or container is gone, run "${command}": it breaks ${path} so that no write of that process can follow.`
}

/** Another process, or another object in this process, has the conversation open for writing. */
export class ConversationLockedError extends StrataError {
  static override readonly code: string = "conversation-locked"
  override readonly name = "ConversationLockedError"
  readonly owner: NamedHolder

  constructor(id: string, owner: NamedHolder) {
    super(
      `Conversation ${id} is already open in ${describeHolder(owner)}, since ${owner.since}. Nothing was changed. Close it there, then open it again.${unlockAdvice(owner, `strata unlock ${id}`)}`,
    )
    this.owner = owner
  }
}

/** The lock of an open conversation was broken or removed, so another process may write to it now. */
export class LockLostError extends StrataError {
  static override readonly code: string = "lock-lost"
  override readonly name = "LockLostError"
  /** The present holder, if there is one. */
  readonly holder?: NamedHolder

  /** `written`: the lock was lost during the write, which the new owner may or may not have read. */
  constructor(path: string, { holder, written = false }: { holder?: NamedHolder; written?: boolean } = {}) {
    const who = holder
      ? `${describeHolder(holder)} has taken over, since ${holder.since}`
      : "someone broke or removed the lock"
    const made = written ? "This write was not acknowledged" : "This write was not made"
    const next = holder ? "continue there, or close it there and open it here again" : "open it again to continue"
    super(
      `This process no longer holds ${path}: ${who}. ${made}, and everything acknowledged before is kept. Close the conversation here, then ${next}.`,
    )
    if (holder) this.holder = holder
  }
}

export class ConversationNotFoundError extends StrataError {
  static override readonly code: string = "conversation-not-found"
  override readonly name = "ConversationNotFoundError"

  constructor(id: string, where: string) {
    super(`There is no conversation ${id} in ${where}. Nothing was created. Check the id, or open a new conversation.`)
  }
}

export class ConversationExistsError extends StrataError {
  static override readonly code: string = "conversation-exists"
  override readonly name = "ConversationExistsError"

  constructor(id: string, where: string) {
    super(`Conversation ${id} already exists in ${where}. Nothing was changed. Choose another id.`)
  }
}

/** A failed write, for example because the disk is full. Everything acknowledged earlier is safe. */
export class JournalWriteError extends StrataError {
  static override readonly code: string = "journal-write"
  override readonly name = "JournalWriteError"

  constructor(path: string, cause: unknown) {
    super(
      `Writing to ${path} failed (${describeReason(cause)}). Everything acknowledged before is kept; this write was not made. ${recoveryAdvice(cause)} Then try again.`,
      { cause },
    )
  }
}

/** A conversation's files cannot be opened, for example because the disk is read-only or something else is in their place. */
export class JournalOpenError extends StrataError {
  static override readonly code: string = "journal-open"
  override readonly name = "JournalOpenError"

  constructor({ path, access, cause }: { path: string; access: "read" | "write"; cause: unknown }) {
    const what = access === "write" ? "for writing" : "for reading"
    const kept =
      access === "write" ? "No entry was added, and everything already there is kept." : "Nothing was changed."
    const elsewhere = access === "write" && isAboutDirectory(cause) ? ` ${ELSEWHERE}` : ""
    super(`${path} cannot be opened ${what} (${describeReason(cause)}). ${kept} ${recoveryAdvice(cause)}${elsewhere}`, {
      cause,
    })
  }
}

const ELSEWHERE = "Or choose another directory with STRATA_HOME or the option `dir`."

interface SystemFailure {
  readonly is: string
  readonly help: string
  /** Set if another directory would not help, because the failure affects the process or the machine. */
  readonly isEverywhere?: true
}

const NOT_PERMITTED = { is: "permission denied", help: "Check the permissions." }
const NO_DIRECTORY = { is: "a file is where a directory should be", help: "Check the path." }

/** The meaning of the operating system's error codes, and what the user can do. */
const SYSTEM_FAILURES: Readonly<Record<string, SystemFailure>> = {
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: { is: "the disk is read-only", help: "Make it writable." },
  ENOSPC: { is: "the disk is full", help: "Free some disk space." },
  EDQUOT: { is: "the disk quota is used up", help: "Free some disk space, or raise the quota." },
  EFBIG: { is: "the file has reached the size limit", help: 'Raise the limit for the size of a file ("ulimit -f").' },
  EMFILE: {
    is: "this process has too many open files",
    help: 'Raise the limit ("ulimit -n" shows it), or do less at the same time.',
    isEverywhere: true,
  },
  ENFILE: { is: "the machine has too many open files", help: "Close other programs.", isEverywhere: true },
  ENOMEM: { is: "there is not enough memory", help: "Close other programs.", isEverywhere: true },
  EIO: { is: "the disk reports an error", help: "Check the disk, and back up its files." },
  EBUSY: { is: "another program uses it", help: "Close that program." },
  ESTALE: { is: "the network drive has lost the file", help: "Connect the drive again." },
  ELOOP: { is: "its symbolic links lead in a circle", help: "Check the path." },
  ENAMETOOLONG: { is: "the name is too long for this file system", help: "Check the path." },
  ENOENT: { is: "it does not exist", help: "Check the path." },
  ENOTDIR: NO_DIRECTORY,
  EEXIST: NO_DIRECTORY,
  EISDIR: { is: "a directory is where a file should be", help: "Check the path." },
}

/** A short reason, with an explanation of the system's error code if there is one. */
export function describeReason(cause: unknown): string {
  const reason = errorReason(cause)
  return SYSTEM_FAILURES[reason] === undefined ? reason : `${SYSTEM_FAILURES[reason].is}, ${reason}`
}

export const recoveryAdvice = (cause: unknown): string =>
  SYSTEM_FAILURES[errorReason(cause)]?.help ?? "Check the path, the permissions and the disk."

/** Whether another directory could help. */
export const isAboutDirectory = (cause: unknown): boolean => !SYSTEM_FAILURES[errorReason(cause)]?.isEverywhere

/** A file that is not a transcript in the expected format. */
export class ImportError extends StrataError {
  static override readonly code: string = "import"
  override readonly name = "ImportError"
}

/** A request that breaks a rule of the API. The cause is a bug in this library or the content it was given. */
export class InvalidRequestError extends StrataError {
  static override readonly code: string = "invalid-request"
  override readonly name = "InvalidRequestError"
  readonly violations: readonly { readonly rule: string; readonly path: string; readonly message: string }[]

  constructor(violations: InvalidRequestError["violations"]) {
    super(
      `The request was not sent, because the API would reject it: ${violations.map((v) => `[${v.rule}] ${v.path}: ${v.message}`).join("; ")}. The conversation is unchanged.`,
    )
    this.violations = violations
  }
}

/** Content that the API does not accept as a message. */
export class InvalidContentError extends StrataError {
  static override readonly code: string = "invalid-content"
  override readonly name = "InvalidContentError"

  constructor(why: string) {
    super(`The message was not added: ${why}. The conversation is unchanged.`)
  }
}

/** Thrown if the conversation has no message to send. */
export class EmptyConversationError extends StrataError {
  static override readonly code: string = "empty-conversation"
  override readonly name = "EmptyConversationError"

  constructor() {
    super("The conversation has no message to send. Add a user message first.")
  }
}

/** The context has reached the blocking limit, so no request is sent. */
export class ContextFullError extends StrataError {
  static override readonly code: string = "context-full"
  override readonly name = "ContextFullError"
  readonly used: number
  readonly limit: number

  constructor({ used, limit, model }: { used: number; limit: number; model: string }) {
    super(
      `The context is full: it has about ${used} tokens, and ${model} takes at most ${limit} if it is to leave room for a response. Nothing was sent, and everything is kept. Compact the conversation, rewind to an earlier message, or use a model with a larger window.`,
    )
    this.used = used
    this.limit = limit
  }
}

/** The conversation has no compaction layer, or compaction is switched off. */
export class NoCompactionError extends StrataError {
  static override readonly code: string = "no-compaction"
  override readonly name = "NoCompactionError"

  constructor() {
    super(
      "This conversation cannot compact: it has no compaction layer, or compaction is switched off. Nothing was changed. Open it with the layer, or switch compaction on.",
    )
  }
}

/** A requested compaction that failed. */
export class CompactionFailedError extends StrataError {
  static override readonly code: string = "compaction-failed"
  override readonly name = "CompactionFailedError"
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** A range of messages that cannot be folded, snipped or opened. */
export class RangeRefusedError extends StrataError {
  static override readonly code: string = "range-refused"
  override readonly name = "RangeRefusedError"
}

export class MessageNotFoundError extends StrataError {
  static override readonly code: string = "message-not-found"
  override readonly name = "MessageNotFoundError"

  constructor(uuid: string) {
    super(`There is no message ${uuid} in this conversation. Nothing was changed. Use the uuid of one of its messages.`)
  }
}

/** The agent is already running a query. */
export class BusyError extends StrataError {
  static override readonly code: string = "agent-busy"
  override readonly name = "BusyError"

  constructor() {
    super(
      "The agent is already running a query, so this one was not started. Wait for it to finish, or add input with enqueue().",
    )
  }
}

/** There is nothing to undo, or the given decision cannot be undone. */
export class NothingToUndoError extends StrataError {
  static override readonly code: string = "nothing-to-undo"
  override readonly name = "NothingToUndoError"

  constructor(named?: string) {
    super(
      named === undefined
        ? "There is nothing to undo: no compaction, and nothing cleared, folded or snipped by hand. Nothing was changed."
        : `There is nothing to undo with the id ${named}: no compaction or decision in force has it. Nothing was changed.`,
    )
  }
}

export class ClosedError extends StrataError {
  static override readonly code: string = "closed"
  override readonly name = "ClosedError"

  constructor() {
    super("The conversation is closed. Everything acknowledged is kept. Open it again to continue.")
  }
}

/** A memory file changed between reading and writing. */
export class MemoryChangedError extends StrataError {
  static override readonly code: string = "memory-changed"
  override readonly name = "MemoryChangedError"
  readonly paths: readonly string[]

  constructor(paths: readonly string[]) {
    super(`${paths.join(", ")} changed in the meantime, so nothing was written. Read the memory again, then try again.`)
    this.paths = paths
  }
}

/** A memory file that cannot be used: its name leads elsewhere, it is too large, or it is not text. */
export class MemoryFileError extends StrataError {
  static override readonly code: string = "memory-file"
  override readonly name = "MemoryFileError"

  constructor(path: string, why: string) {
    super(`The memory file ${JSON.stringify(path.slice(0, 120))} cannot be used: ${why}. Nothing was written.`)
  }
}

/** Memory files could not be written, such as on a full disk. */
export class MemoryWriteError extends StrataError {
  static override readonly code: string = "memory-write"
  override readonly name = "MemoryWriteError"
  /** `unfinished`: the complete change is on disk as an intent, and the next reader or writer installs the rest. */
  readonly state: "unchanged" | "unfinished"

  constructor({ location, state, cause }: { location: string; state: "unchanged" | "unfinished"; cause: unknown }) {
    const what =
      state === "unchanged"
        ? "This change was not made"
        : "The complete change is saved, and some of its files may already be written. The next command that reads or writes this memory completes it"
    super(`The memory in ${location} cannot be written (${describeReason(cause)}). ${what}. ${recoveryAdvice(cause)}`, {
      cause,
    })
    this.state = state
  }
}

/** A lock that is usually held for a moment is not released. `does` completes the sentence, such as "is writing here". */
export const busyError = (owner: NamedHolder, does: string) =>
  new StrataError(`Nothing was written. ${describeHeldLock(owner, { does, command: "strata unlock" })}`, {
    code: "busy",
  })

/** What any error says, in full. */
export function errorMessage(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : errorReason(error)
}

/** The short reason of any error: the system's code if it has one, otherwise its message. Never its stack. */
export function errorReason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof StrataError) return cause.message
  const { code } = cause as { code?: unknown }
  return typeof code === "string" ? code : cause.message // an abort has a numeric code, which tells the user nothing
}
