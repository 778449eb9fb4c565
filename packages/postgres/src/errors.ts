/** Errors between a process and the server, and which of them are transient. */
import { StrataError } from "@strata/core"

/** The server has not answered for a long time. */
export class StoreUnreachableError extends StrataError {
  static override readonly code: string = "store-unreachable"
  override readonly name = "StoreUnreachableError"

  /** `isFirst`: the server has never answered this process, so nothing can have been written. */
  constructor(cause: unknown, { isFirst = false } = {}) {
    super(
      isFirst
        ? `The database did not answer (${reasonOf(cause)}). Nothing was read or written. Check that the server runs, and the host and port in the address.`
        : `The database did not answer (${reasonOf(cause)}). Everything acknowledged is kept. It is unknown whether the last write was made: open the conversation again when the database is reachable, which checks it.`,
      { code: "store-unreachable" },
    )
  }
}

/** No machine has this name, so trying again would not help. */
const NO_SUCH_HOST = "ENOTFOUND"

/** SQLSTATE classes and codes after which the same call can succeed. */
const TRANSIENT_CLASSES = ["08", "40", "53", "57P"]
const TRANSIENT_CODES = new Set([
  "25006", // read-only: it has been the primary before
  "55000", // no recovery target yet, or a restarting replica
  "55P03", // a lock was not free within the server's own limit
])
const TRANSIENT_NODE_CODES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["EAI_AGAIN", "ENOENT", "ENOTCONN", "ECONNABORTED"],
])
/** Errors for which `pg` has no codes. */
const TRANSIENT_MESSAGES =
  /connection terminated|connection ended|query read timeout|timeout (?:exceeded|expired)|client has encountered a connection error|server conn crashed|not queryable/i

/** Whether an error concerns the connection or another transaction, so that the next attempt may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isTransient) // all addresses of a name were tried
  if (!(error instanceof Error)) return false
  const { code } = error as { readonly code?: unknown }
  if ((error as { readonly isUnknownOutcome?: boolean }).isUnknownOutcome) return true
  if (typeof code !== "string") return TRANSIENT_MESSAGES.test(error.message)
  if (code === "53100" || code === "53400") return false // a full disk, and a limit of the server's configuration
  return (
    TRANSIENT_NODE_CODES.has(code) ||
    TRANSIENT_CODES.has(code) ||
    TRANSIENT_CLASSES.some((passing) => code.startsWith(passing))
  )
}

/** A code or a short phrase for use in a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const { code, message = "" } = error as { readonly code?: unknown; readonly message?: string }
  return typeof code === "string" ? code : message.slice(0, 100)
}

/** Replaces an error of the server by one with its main sentence only, because its details may contain parts of a conversation. */
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
