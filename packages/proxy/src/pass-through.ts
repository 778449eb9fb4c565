/** Moves a request and its answer as they are, byte for byte, both ways at once. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import { endToEnd, type RawHeaders, valuesOf } from "./headers.ts"
import type { Upstream } from "./upstream.ts"

export interface Passing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** With its query, without the secret. */
  readonly path: string
  readonly upstream: Upstream
  readonly signal: AbortSignal
}

/** `body`: the bytes as they came, where they have been read already. `added`: headers for the client. */
export async function passThrough(
  { request, response, path, upstream, signal }: Passing,
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
  await passBody(answer, response)
  return answer.statusCode!
}

const hasBody = (headers: RawHeaders): boolean =>
  valuesOf(headers, "transfer-encoding").length > 0 ||
  valuesOf(headers, "content-length").some((length) => length !== "0")

/** The head reaches the client before the first byte of the body is there. */
export function beginAnswer(response: ServerResponse, answer: IncomingMessage, headers: RawHeaders): void {
  response.sendDate = false // the server has said what it wanted to say
  response.writeHead(answer.statusCode!, answer.statusMessage, [...headers])
  response.flushHeaders()
}

/** An answer that breaks off breaks off for the client too, after the bytes that came. */
async function passBody(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await pipeline(answer, response, { end: false })
    response.end()
  } catch {
    breakOff(response)
  }
}

export function breakOff(response: ServerResponse): void {
  if (response.socket) response.socket.destroySoon()
  else response.destroy()
}
