/** What the proxy asks about each request. The proxy moves bytes; a plan says which. */
import type { IncomingHttpHeaders } from "node:http"
import type { ConversationStatus, Plan } from "../callers/plan.ts"

/** A client's request to `/v1/messages`, parsed once. */
export interface ClientRequest {
  readonly headers: IncomingHttpHeaders
  /** With its question mark, or empty. */
  readonly query: string
  /** Messages that came before are the same objects as before: read them, and change nothing. */
  readonly body: Readonly<Record<string, unknown>>
  /** The bytes as they came, decompressed. */
  readonly raw: Buffer
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
}

/** Decides what is sent in place of a client's request, and learns from the answer. */
export interface Plans {
  /** `undefined`: the request is not ours and passes as it is. Never throws for a failure of its own: it then returns a plan that says so. */
  take(request: ClientRequest): Promise<Plan | undefined>
  /** One row for each conversation. */
  status(): Promise<readonly ConversationStatus[]>
  close(): Promise<void>
}
