/**
 * Requests of our own, sent as the client would send them: with its headers, its prompt and its parameters, so that they read what the
 * conversation has cached. Keys live as long as the process and are written nowhere.
 */
import type { IncomingHttpHeaders } from "node:http"
import Anthropic from "@anthropic-ai/sdk"
import { asBytes, bodyWith } from "../body.ts"
import type { Body, CallerRequest } from "../plan.ts"
import { writtenLike } from "../source-text.ts"

/** A request over HTTP. */
export interface HttpRequest extends CallerRequest {
  readonly headers: IncomingHttpHeaders
  /** With its question mark, or empty. */
  readonly query: string
}

/** How requests reach the server: its address, and what sends them. */
export interface Way {
  readonly upstream: string
  readonly fetch?: typeof fetch
}

/** Of the connection between client and proxy, or of the body that is replaced. */
const NOT_OURS = new Set([
  ...["host", "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "accept-encoding"],
  ...["proxy-authorization", "proxy-connection", "te", "trailer", "upgrade", "expect"],
])

export function asClient({ upstream, fetch: send = fetch }: Way, last: () => Omit<HttpRequest, "caller">): Anthropic {
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

/** A request with the conversation's tools continues it, so it has everything that the client's has. Others only borrow the key. */
function bodyFor(client: Body, text: string): string | Buffer<ArrayBuffer> {
  const own = JSON.parse(text) as Body
  if (!Array.isArray(own.messages) || (own.tools === undefined) !== (client.tools === undefined)) return text
  const { max_tokens, tool_choice, stream, messages } = own
  const whole = writtenLike(client, {
    ...withoutForm(client),
    max_tokens: budgetIn(client) < Number(max_tokens) ? max_tokens : client.max_tokens,
    ...(tool_choice === undefined ? {} : { tool_choice }),
    stream: stream === true,
  })
  return asBytes(bodyWith(whole, { messages: messages as never, writesCache: false }))
}

/** Without what gives the client's answers their form: ours is a text, and it must be whole. */
function withoutForm({ stop_sequences: _, output_format: __, tool_choice, output_config, ...body }: Body): Body {
  const isForced = ["any", "tool"].includes(String((tool_choice as Body | null | undefined)?.type))
  const { format, ...config } = (output_config ?? {}) as Body
  return {
    ...body,
    ...(tool_choice === undefined || isForced ? {} : { tool_choice }),
    ...(output_config === undefined || (format && Object.keys(config).length === 0) ? {} : { output_config: config }),
  }
}

/** Of thinking. The server wants room for more than that. */
const budgetIn = ({ thinking }: Body): number => Number((thinking as Body | null | undefined)?.budget_tokens ?? 0)

function sentHeaders(headers: IncomingHttpHeaders): Headers {
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_OURS.has(name) || name.startsWith("strata-")) continue
    sent.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  sent.set("content-type", "application/json")
  return sent
}
