/** Moves a request and its answer as they are, byte for byte, both ways at once. */
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { endToEnd, type RawHeaders, valuesOf } from "./headers.ts"
import type { Upstream } from "./upstream.ts"

export interface Client {
  readonly response: ServerResponse
  /** Aborted when it goes away. */
  readonly signal: AbortSignal
}

export interface Passing extends Client {
  readonly request: IncomingMessage
  /** With its query, without the secret. */
  readonly path: string
  readonly upstream: Upstream
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
  await passBody(answer, { response, signal })
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
export async function passBody(answer: AsyncIterable<Buffer>, { response, signal }: Client): Promise<void> {
  try {
    for await (const chunk of answer) await write(chunk, { response, signal })
    response.end()
  } catch {
    breakOff(response)
  }
}

/** Waits while the client reads more slowly than the server writes. */
export async function write(bytes: Buffer, { response, signal }: Client): Promise<void> {
  if (bytes.length > 0 && !response.write(bytes)) await once(response, "drain", { signal })
}

export function breakOff(response: ServerResponse): void {
  if (response.socket) response.socket.destroySoon()
  else response.destroy()
}
