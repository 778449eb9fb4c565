/** The conversations of callers that speak HTTP: a proxy's clients, and clients of the SDK with our `fetch`. */
import { CallerConversations, type CallerOptions } from "../conversations.ts"
import type { Body, ConversationStatus, Plan } from "../plan.ts"
import { hasSourceText } from "../source-text.ts"
import { asClient, type HttpRequest, type Way } from "./as-client.ts"
import { clientOf, isAside, isThreaded, namedIn, takesListForThread } from "./client-identity.ts"

export type HttpCall = Pick<HttpRequest, "headers" | "query" | "body"> & { readonly conversation?: string | undefined }

const nothing = async () => undefined
/** What a server says that has no message threads. */
const NO_THREADS: Plan = {
  ...{ body: undefined, again: nothing, answered: nothing, refused: nothing, brokeOff: nothing },
  refusal: "Strata keeps the conversation, not the server: send all of it, without `thread`.",
  refusalCode: "thread_unsupported_request",
}

export class HttpConversations {
  readonly #conversations: CallerConversations<HttpRequest>
  readonly #observes: boolean

  constructor(options: CallerOptions, way: Way) {
    this.#observes = options.observe ?? false
    this.#conversations = new CallerConversations(options, (last) => ({ client: asClient(way, last) }))
  }

  async take({ headers, query, body, conversation }: HttpCall): Promise<Plan> {
    const client = clientOf(headers, body)
    const { id: _, ...unnamed } = client
    const named = conversation ?? namedIn(headers)
    const caller = named === undefined ? client : { ...client, id: named }
    const request = { headers, query, body, caller, betas: betasIn(headers) }
    if (isThreaded(body) && takesListForThread(headers) && !this.#observes) return NO_THREADS
    const isOther = isThreaded(body) || isAside(named === undefined ? client : unnamed, body)
    if (isOther) return this.#conversations.aside(request)
    return hasSourceText(body) ? this.#conversations.take(request) : this.#conversations.unreadable(request)
  }

  /** Where the journals are. */
  directory(): Promise<string> {
    return this.#conversations.directory()
  }

  warmUp(): Promise<void> {
    return this.#conversations.warmUp((request) => ({ ...request, headers: {}, query: "" }))
  }

  status(): Promise<readonly ConversationStatus[]> {
    return this.#conversations.status()
  }

  get isIdle(): boolean {
    return this.#conversations.isIdle
  }

  /** The conversations that are open now. */
  open(): ReturnType<CallerConversations<HttpRequest>["open"]> {
    return this.#conversations.open()
  }

  close(): Promise<void> {
    return this.#conversations.close()
  }
}

function betasIn(headers: HttpRequest["headers"]): readonly string[] {
  const value = headers["anthropic-beta"]
  const all = Array.isArray(value) ? value.join(",") : (value ?? "")
  return all
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "")
}

/** The body of a call to `/v1/messages`, if it is one that can be planned. */
export const isMessagesBody = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && Array.isArray((value as { messages?: unknown }).messages)
