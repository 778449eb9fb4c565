/**
 * `withStrata(new Anthropic())`: the same client, whose conversations can outgrow the window. Its requests to `/v1/messages` are replaced
 * on the way; all others pass unchanged. So all ways to call it work as before: `create`, `stream`, `parse`, tool runners, beta.
 */
import type { ManagedRequests } from "./anthropic/managed-requests.ts"
import { LatestStatus, type StrataStatus } from "./conversation-pool.ts"
import type { StrataOptions } from "./options.ts"

export { type ConversationStatus, closeStrata, type StrataStatus, strataStatus } from "./conversation-pool.ts"
export type { StrataOptions } from "./options.ts"

type Fetch = typeof fetch

/** A client of the Anthropic SDK, by its shape, so that the package need not be installed. */
export interface AnthropicSdkClient {
  readonly baseURL: string
  withOptions(options: { fetch: Fetch }): unknown
}

/**
 * @example
 * const client = withStrata(new Anthropic())
 * const answer = await client.messages.create({ model, max_tokens, tools, messages })
 */
export function withStrata<C extends AnthropicSdkClient>(
  client: C,
  options: StrataOptions = {},
): C & { readonly strata: StrataStatus } {
  if (typeof client.withOptions !== "function")
    throw new Error(
      "withStrata needs @anthropic-ai/sdk 0.50 or newer: older clients have no withOptions. Update the SDK.",
    )
  return managedClient(originalClients.get(client) ?? client, { options, used: new LatestStatus() }) as never
}

/** The original client of each wrapped one: a client that is wrapped twice is managed once, with the second call's options. */
const originalClients = new WeakMap<AnthropicSdkClient, AnthropicSdkClient>()

interface ManagedClientOptions {
  readonly options: StrataOptions
  /** The conversations of the client and its copies. */
  readonly used: ManagedRequests["used"]
}

function managedClient(client: AnthropicSdkClient, options: ManagedClientOptions): AnthropicSdkClient {
  const send = (client as { readonly fetch?: Fetch }).fetch ?? fetch
  let made: Promise<ManagedRequests> | undefined
  // imported with the first request, so that importing this module costs little
  const requests = () => {
    made ??= import("./anthropic/managed-requests.ts").then(
      ({ ManagedRequests }) => new ManagedRequests({ ...options, upstream: client.baseURL, fetch: send }),
    )
    return made
  }
  const managed: Fetch = async (input, init) =>
    isForMessages(input, init) ? (await requests()).send(input, init) : send(input, init)
  const status = async () => (await requests()).status()
  const replaced = client.withOptions({ fetch: managed }) as AnthropicSdkClient
  originalClients.set(replaced, client)
  const configurable = true
  // a copy has the status too, as its type requires; it may have another server or another `fetch`
  const copy = (more: { fetch: Fetch }) => managedClient(client.withOptions(more) as AnthropicSdkClient, options)
  return Object.defineProperties(replaced, {
    strata: { value: { status }, configurable },
    withOptions: { value: copy, configurable },
  })
}

/** Whether a call goes to `/v1/messages`. The SDK passes the URL and the body as strings. */
function isForMessages(input: Parameters<Fetch>[0], init: RequestInit | undefined): input is string | URL {
  if (input instanceof Request || init?.method?.toUpperCase() !== "POST" || typeof init.body !== "string") return false
  return new URL(input).pathname.endsWith("/v1/messages")
}
