/**
 * Sends Strata's own requests like the client's, with its headers, prompt and parameters, so that they read the conversation's cache. API
 * keys stay in memory and are written nowhere.
 */
import type { IncomingHttpHeaders } from "node:http"
import Anthropic from "@anthropic-ai/sdk"
import { asBytes, bodyWith } from "../body.ts"
import type { ApiBody, ConversationRequest } from "../plan.ts"
import { withSourceOf } from "../source-text.ts"

/** A request over HTTP. */
export interface HttpRequest extends ConversationRequest {
  readonly headers: IncomingHttpHeaders
  /** Includes the question mark, or is empty. */
  readonly query: string
}

/** How requests reach the server: its address and the `fetch` function. */
export interface ServerConnection {
  readonly upstream: string
  readonly fetch?: typeof fetch
}

/** Headers of the connection between client and proxy, or of the replaced body. */
const DROPPED_HEADERS = new Set([
  ...["host", "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "accept-encoding"],
  ...["proxy-authorization", "proxy-connection", "te", "trailer", "upgrade", "expect"],
])

export function createClient(
  { upstream, fetch: send = fetch }: ServerConnection,
  last: () => Omit<HttpRequest, "client">,
): Anthropic {
  return new Anthropic({
    baseURL: upstream,
    apiKey: "the client's own",
    maxRetries: 0,
    openTelemetry: false,
    fetch: async (url, init) => {
      const { headers, query, body } = last()
      const target = new URL(String(url instanceof Request ? url.url : url))
      if (query !== "") target.search = query
      return send(target, { ...init, headers: sentHeaders(headers), body: bodyFor(body, String(init?.body)) })
    },
  })
}

/**
 * Builds the request from the client's body if both or neither have tools, so that it reads the same cache. Otherwise sends it unchanged.
 */
function bodyFor(client: ApiBody, text: string): string | Buffer<ArrayBuffer> {
  const own = JSON.parse(text) as ApiBody
  if (!Array.isArray(own.messages) || (own.tools === undefined) !== (client.tools === undefined)) return text
  const { max_tokens, tool_choice, stream, messages } = own
  const whole = withSourceOf(client, {
    ...withoutFormat(client),
    max_tokens: budgetIn(client) < Number(max_tokens) ? max_tokens : client.max_tokens,
    ...(tool_choice === undefined ? {} : { tool_choice }),
    stream: stream === true,
  })
  return asBytes(bodyWith(whole, { messages: messages as never, writesCache: false }))
}

/** Removes parameters that shape the client's responses: Strata's responses are text and must be complete. */
function withoutFormat({
  stop_sequences: _,
  output_format: __,
  tool_choice,
  output_config,
  ...body
}: ApiBody): ApiBody {
  const isForced = ["any", "tool"].includes(String((tool_choice as ApiBody | null | undefined)?.type))
  const { format, ...config } = (output_config ?? {}) as ApiBody
  return {
    ...body,
    ...(tool_choice === undefined || isForced ? {} : { tool_choice }),
    ...(output_config === undefined || (format && Object.keys(config).length === 0) ? {} : { output_config: config }),
  }
}

/** Thinking budget in tokens. The server requires a larger `max_tokens`. */
const budgetIn = ({ thinking }: ApiBody): number => Number((thinking as ApiBody | null | undefined)?.budget_tokens ?? 0)

function sentHeaders(headers: IncomingHttpHeaders): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || DROPPED_HEADERS.has(name) || name.startsWith("strata-")) continue
    sent.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  sent.set("content-type", "application/json")
  return sent
}
