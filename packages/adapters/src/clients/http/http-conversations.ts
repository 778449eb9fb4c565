/** The conversations of clients over HTTP: a proxy's clients, and SDK clients with a wrapped `fetch`. */
import { ClientConversations, type ClientConversationsOptions } from "../conversations.ts"
import type { ApiBody, ConversationStatus, RequestPlan } from "../plan.ts"
import { hasSourceText } from "../source-text.ts"
import { clientOf, isAside, isThreaded, namedIn, takesListForThread } from "./client-identity.ts"
import { createClient, type HttpRequest, type ServerConnection } from "./send-as-client.ts"

export type HttpCall = Pick<HttpRequest, "headers" | "query" | "body"> & { readonly conversation?: string | undefined }

const nothing = async () => undefined
/** The response of a server without message threads. */
const NO_THREADS: RequestPlan = {
  ...{ body: undefined, again: nothing, answered: nothing, refused: nothing, brokeOff: nothing },
  refusal: "Strata keeps the conversation, not the server: send all of it, without `thread`.",
  refusalCode: "thread_unsupported_request",
}

export class HttpConversations {
  readonly #conversations: ClientConversations<HttpRequest>
  readonly #observes: boolean

  constructor(options: ClientConversationsOptions, way: ServerConnection) {
    this.#observes = options.observe ?? false
    this.#conversations = new ClientConversations(options, (last) => ({ client: createClient(way, last) }))
  }

  async take({ headers, query, body, conversation }: HttpCall): Promise<RequestPlan> {
    const found = clientOf(headers, body)
    const { id: _, ...unnamed } = found
    const named = conversation ?? namedIn(headers)
    const client = named === undefined ? found : { ...found, id: named }
    const request = { headers, query, body, client, betas: betasIn(headers) }
    if (isThreaded(body) && takesListForThread(headers) && !this.#observes) return NO_THREADS
    const isOther = isThreaded(body) || isAside(named === undefined ? found : unnamed, body)
    if (isOther) return this.#conversations.planAside(request)
    return hasSourceText(body) ? this.#conversations.take(request) : this.#conversations.planUnreadable(request)
  }

  /** Directory of the journals. */
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
  open(): ReturnType<ClientConversations<HttpRequest>["open"]> {
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

/** Whether a value is a body for `/v1/messages` that can be planned. */
export const isMessagesBody = (value: unknown): value is ApiBody =>
  typeof value === "object" && value !== null && Array.isArray((value as { messages?: unknown }).messages)
