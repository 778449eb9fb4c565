/**
 * What the SDK does not show of an answer: the account's limits, in the headers of every answer, and the bytes of a stream as they arrive. It
 * hides pings, and without them a silent connection looks like one that only waits for content.
 */
import type { Middleware } from "@anthropic-ai/sdk"
import { InvalidModelRequestError } from "../errors.ts"
import type { RateLimit } from "../model.ts"

const KINDS = {
  requests: "requests",
  tokens: "tokens",
  "input-tokens": "input tokens",
  "output-tokens": "output tokens",
}

/** Passes on the limits of each answer. A client that adds no headers has none. */
export const watchLimits =
  (onLimits: (limits: readonly RateLimit[]) => void): Middleware =>
  async (request, next) => {
    const response = await next(request)
    onLimits(readLimits(response.headers))
    return response
  }

function readLimits(headers: Headers): readonly RateLimit[] {
  return Object.entries(KINDS).flatMap(([kind, what]) => {
    const header = (name: string) => headers.get(`anthropic-ratelimit-${kind}-${name}`) ?? ""
    const [limit, remaining, resets] = [header("limit"), header("remaining"), new Date(header("reset"))]
    if (!/^\d+$/.test(limit) || !/^\d+$/.test(remaining) || Number.isNaN(resets.getTime())) return []
    return [{ what, limit: Number(limit), remaining: Number(remaining), resets }]
  })
}

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
