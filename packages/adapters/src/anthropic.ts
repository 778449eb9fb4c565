/**
 * `withStrata(new Anthropic())`: the same client, whose conversations go on without end. What it sends to `/v1/messages` is replaced on its
 * way; everything else passes. So all its forms work as before: `create`, `stream`, `parse`, tool runners, beta.
 */
import type { ManagedRequests } from "./anthropic/managed-requests.ts"
import type { StrataOptions } from "./options.ts"
import { type StrataStatus, Used } from "./shared.ts"

export type { StrataOptions } from "./options.ts"
export { type ConversationStatus, closeStrata, type StrataStatus, strataStatus } from "./shared.ts"

type Fetch = typeof fetch

/** A client of the Anthropic SDK, by its shape: the package need not be installed. */
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
  return managedClient(unmanaged.get(client) ?? client, { options, used: new Used() }) as never
}

/** What a client of ours was made of: one that is given twice is managed once, as the second one says. */
const unmanaged = new WeakMap<AnthropicSdkClient, AnthropicSdkClient>()

interface Managing {
  readonly options: StrataOptions
  /** The conversations of the client and of those made of it. */
  readonly used: ManagedRequests["used"]
}

function managedClient(client: AnthropicSdkClient, managing: Managing): AnthropicSdkClient {
  const send = (client as { readonly fetch?: Fetch }).fetch ?? fetch
  let made: Promise<ManagedRequests> | undefined
  // loaded with the first request: importing this module costs little
  const requests = () => {
    made ??= import("./anthropic/managed-requests.ts").then(
      ({ ManagedRequests }) => new ManagedRequests({ ...managing, upstream: client.baseURL, fetch: send }),
    )
    return made
  }
  const managed: Fetch = async (input, init) =>
    isForMessages(input, init) ? (await requests()).send(input, init) : send(input, init)
  const status = async () => (await requests()).status()
  const replaced = client.withOptions({ fetch: managed }) as AnthropicSdkClient
  unmanaged.set(replaced, client)
  const configurable = true
  // a copy has the status too, as its type says; it may have another server or another `fetch`
  const copy = (more: { fetch: Fetch }) => managedClient(client.withOptions(more) as AnthropicSdkClient, managing)
  return Object.defineProperties(replaced, {
    strata: { value: { status }, configurable },
    withOptions: { value: copy, configurable },
  })
}

/** The SDK sends its requests as an address and a text. */
function isForMessages(input: Parameters<Fetch>[0], init: RequestInit | undefined): input is string | URL {
  if (input instanceof Request || init?.method?.toUpperCase() !== "POST" || typeof init.body !== "string") return false
  return new URL(input).pathname.endsWith("/v1/messages")
}
