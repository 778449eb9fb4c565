/** Relays a request and its response byte for byte, in both directions at once. */
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { endToEnd, type RawHeaders, valuesOf } from "./headers.ts"
import type { Upstream } from "./upstream.ts"

export interface ClientConnection {
  readonly response: ServerResponse
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export interface ProxiedRequest extends ClientConnection {
  readonly request: IncomingMessage
  /** Path with its query, without the secret. */
  readonly path: string
  readonly upstream: Upstream
}

/** `body`: the received bytes, if they have been read already. `added`: headers for the client. */
export async function passThrough(
  { request, response, path, upstream, signal }: ProxiedRequest,
  { body, added = [] }: { readonly body?: Buffer; readonly added?: RawHeaders } = {},
): Promise<number> {
  const answer = await upstream.send({
    method: request.method!,
    path,
    headers: endToEnd(request.rawHeaders),
    body: body ?? (hasBody(request.rawHeaders) ? request : undefined),
    signal,
  })
  beginAnswer(response, answer, [...endToEnd(answer.rawHeaders), ...added])
  await passBody(answer, { response, signal })
  return answer.statusCode!
}

const hasBody = (headers: RawHeaders): boolean =>
  valuesOf(headers, "transfer-encoding").length > 0 ||
  valuesOf(headers, "content-length").some((length) => length !== "0")

/** Sends the head to the client before the first byte of the body is available. */
export function beginAnswer(response: ServerResponse, answer: IncomingMessage, headers: RawHeaders): void {
  response.sendDate = false // only the server's own headers are relayed
  response.writeHead(answer.statusCode!, answer.statusMessage, [...headers])
  response.flushHeaders()
}

/** Relays a body. If it is cut off, the client's response is cut off after the same bytes. */
export async function passBody(answer: AsyncIterable<Buffer>, { response, signal }: ClientConnection): Promise<void> {
  try {
    for await (const chunk of answer) await write(chunk, { response, signal })
    response.end()
  } catch {
    breakOff(response)
  }
}

/** Waits while the client reads more slowly than the server writes. */
export async function write(bytes: Buffer, { response, signal }: ClientConnection): Promise<void> {
  if (bytes.length > 0 && !response.write(bytes)) await once(response, "drain", { signal })
}

export function breakOff(response: ServerResponse): void {
  if (response.socket) response.socket.destroySoon()
  else response.destroy()
}
