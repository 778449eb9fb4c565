/**
 * One class per kind of failure a caller can act on. Each message is a sentence for a person: what happened, what was kept,
 * what to do next.
 */

export class StrataError extends Error {
  override readonly name: string = "StrataError"
}

/** Settings that cannot be used. Names the source, the key and the reason. */
export class SettingsError extends StrataError {
  override readonly name = "SettingsError"
  readonly problems: readonly SettingsProblem[]

  constructor(problems: readonly SettingsProblem[]) {
    super(
      `The settings cannot be used:\n${problems.map((p) => `  ${p.source}: ${p.key || "(whole file)"}: ${p.reason}`).join("\n")}`,
    )
    this.problems = problems
  }
}

export interface SettingsProblem {
  readonly source: string
  readonly key: string
  readonly reason: string
}

/** An id that must not become part of a path. */
export class InvalidIdError extends StrataError {
  override readonly name = "InvalidIdError"

  constructor(kind: string, id: string) {
    super(
      `${JSON.stringify(id.slice(0, 80))} cannot be used as a ${kind}: only letters, digits, "-" and "_" are allowed, at most 220. Nothing was written.`,
    )
  }
}

/** Another process (or another object in this one) writes to the conversation. */
export class ConversationLockedError extends StrataError {
  override readonly name = "ConversationLockedError"
  readonly owner: { readonly pid: number; readonly host: string; readonly since: string }

  constructor(id: string, owner: ConversationLockedError["owner"]) {
    super(
      `The conversation ${id} is open in another place: process ${owner.pid} on ${owner.host}, since ${owner.since}. Nothing was changed. Close it there, or open a branch of it.`,
    )
    this.owner = owner
  }
}

export class ConversationNotFoundError extends StrataError {
  override readonly name = "ConversationNotFoundError"

  constructor(id: string, where: string) {
    super(`There is no conversation ${id} in ${where}. Nothing was created.`)
  }
}

export class ConversationExistsError extends StrataError {
  override readonly name = "ConversationExistsError"

  constructor(id: string, where: string) {
    super(`There is a conversation ${id} in ${where} already. Nothing was changed. Choose another id.`)
  }
}

/** A write that did not happen: a full disk, missing rights. What was acknowledged before is safe. */
export class JournalWriteError extends StrataError {
  override readonly name = "JournalWriteError"

  constructor(path: string, cause: unknown) {
    super(
      `Writing to ${path} failed (${reasonOf(cause)}). Everything acknowledged before is kept; what was to be written is not. Make room or check the rights, then try again.`,
      { cause },
    )
  }
}

/** A file that does not look like what it was said to be. */
export class ImportError extends StrataError {
  override readonly name = "ImportError"
}

/** A request that breaks a rule of the API. Always a fault in this library or in content it was given. */
export class InvalidRequestError extends StrataError {
  override readonly name = "InvalidRequestError"
  readonly violations: readonly { readonly rule: string; readonly path: string; readonly message: string }[]

  constructor(violations: InvalidRequestError["violations"]) {
    super(
      `The request was not sent, because the API would refuse it: ${violations.map((v) => `[${v.rule}] ${v.path}: ${v.message}`).join("; ")}. The conversation is unchanged.`,
    )
    this.violations = violations
  }
}

/** Content that is not a message of the API. */
export class InvalidContentError extends StrataError {
  override readonly name = "InvalidContentError"

  constructor(why: string) {
    super(`The message was not added: ${why}. The conversation is unchanged.`)
  }
}

/** There is nothing to send. */
export class EmptyConversationError extends StrataError {
  override readonly name = "EmptyConversationError"

  constructor() {
    super("The conversation has no message that could be sent. Add a user message first.")
  }
}

/** The context has reached the limit at which nothing more is sent. */
export class ContextFullError extends StrataError {
  override readonly name = "ContextFullError"
  readonly used: number
  readonly limit: number

  constructor({ used, limit, model }: { used: number; limit: number; model: string }) {
    super(
      `The context is full: about ${used} tokens, and ${model} takes no more than ${limit} with room for an answer. Nothing was sent and everything is kept. Compact the conversation, go back to an earlier message, or use a model with a larger window.`,
    )
    this.used = used
    this.limit = limit
  }
}

/** Layer 4 is not among the conversation's layers, or compacting is switched off. */
export class NoCompactionError extends StrataError {
  override readonly name = "NoCompactionError"

  constructor() {
    super("This conversation has no layer that compacts. Nothing was changed. Open it with layer 4, or switch it on.")
  }
}

/** A compaction that was asked for and could not be made. */
export class CompactionFailedError extends StrataError {
  override readonly name = "CompactionFailedError"
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

export class MessageNotFoundError extends StrataError {
  override readonly name = "MessageNotFoundError"

  constructor(uuid: string) {
    super(`There is no message ${uuid} in this conversation. Nothing was changed.`)
  }
}

export class ClosedError extends StrataError {
  override readonly name = "ClosedError"

  constructor() {
    super("The conversation is closed. Open it again to go on; everything acknowledged is kept.")
  }
}

/** The short reason inside an error of any kind: its code where it has one, never its stack. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as { code?: unknown }
  return typeof code === "string" ? code : cause.message // an abort has a number, which tells nobody anything
}
