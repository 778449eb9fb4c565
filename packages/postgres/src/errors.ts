/** What goes wrong between a process and the server, and which of it passes. */
import { StrataError } from "@strata/core"

/** The server did not answer for a long time. */
export class StoreUnreachableError extends StrataError {
  static override readonly code: string = "store-unreachable"
  override readonly name = "StoreUnreachableError"

  /** `isFirst`: it has not answered this process yet, so nothing can have been written. */
  constructor(cause: unknown, { isFirst = false } = {}) {
    super(
      isFirst
        ? `The database did not answer (${reasonOf(cause)}). Nothing was read or written. Check that the server runs, and the host and port in the address.`
        : `The database did not answer (${reasonOf(cause)}). Everything acknowledged is kept. Whether the last write was made is not known: open the conversation again when the database can be reached, and it is looked up.`,
      { code: "store-unreachable" },
    )
  }
}

/** No machine has the name: trying again would not help. */
const NO_SUCH_HOST = "ENOTFOUND"

/** SQLSTATE classes and codes after which the same call can succeed. */
const PASSING_CLASSES = ["08", "40", "53", "57P"]
const PASSING_CODES = new Set([
  "25006", // read only: it was the primary before
  "55000", // no recovery target yet, or a replica that restarts
  "55P03", // a lock was not free within the server's own limit
])
const PASSING_IN_NODE = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["EAI_AGAIN", "ENOENT", "ENOTCONN", "ECONNABORTED"],
])
/** `pg` has no codes for these. */
const PASSING_MESSAGES =
  /connection terminated|connection ended|query read timeout|timeout (?:exceeded|expired)|client has encountered a connection error|server conn crashed|not queryable/i

/** Whether it is about the way to the server, or about another transaction: the next try may succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isPassing) // all addresses of a name were tried
  if (!(error instanceof Error)) return false
  const { code } = error as { readonly code?: unknown }
  if ((error as { readonly isUnknownOutcome?: boolean }).isUnknownOutcome) return true
  if (typeof code !== "string") return PASSING_MESSAGES.test(error.message)
  if (code === "53100" || code === "53400") return false // a full disk, and a limit of its configuration
  return (
    PASSING_IN_NODE.has(code) || PASSING_CODES.has(code) || PASSING_CLASSES.some((passing) => code.startsWith(passing))
  )
}

/** A code or a few words, for a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const { code, message = "" } = error as { readonly code?: unknown; readonly message?: string }
  return typeof code === "string" ? code : message.slice(0, 100)
}

/** An error of the server as ours: what it says about values may hold a part of a conversation, so only the sentence is kept. */
export function withoutSecrets(error: unknown): unknown {
  const { code, message, severity } = error as {
    readonly code?: unknown
    readonly message?: string
    severity?: unknown
  }
  if (code === NO_SUCH_HOST) return new StoreUnreachableError(error, { isFirst: true })
  if (severity === undefined || typeof code !== "string") return error
  if (code.startsWith("28") || code === "3D000")
    return new StrataError(
      `The database refused the connection (${code}: ${message}). Nothing was read or written. Check the user, the password and the name of the database in the address.`,
      { code: `postgres-${code}` },
    )
  const full = code === "53100" ? " The disk of the database is full: make room, then try again." : ""
  return new StrataError(
    `The database refused a call (${code}: ${message}). Nothing of it was written, and everything acknowledged is kept.${full}`,
    { code: `postgres-${code}` },
  )
}
