/**
 * Shows the bytes of a streamed answer as they arrive. The SDK hides pings, and without them a silent connection looks like one that only
 * waits for content.
 */
import type { Middleware } from "@anthropic-ai/sdk"
import { InvalidModelRequestError } from "../errors.ts"

const STREAM_TYPE = /^text\/event-stream\b/i

export const watchBody =
  (onBytes: (count: number) => void): Middleware =>
  async (request, next) => {
    const response = await next(request)
    if (!response.body) return response
    const type = response.headers.get("content-type") ?? "no content type"
    if (response.ok && !STREAM_TYPE.test(type)) {
      await response.body.cancel()
      throw new InvalidModelRequestError({
        provider: "anthropic",
        status: response.status,
        said: `the address answers with ${type}, not with a stream of events. Check the address`,
      })
    }
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          onBytes(chunk.byteLength)
          controller.enqueue(chunk)
        },
      }),
    )
    return new Response(counted, response)
  }
