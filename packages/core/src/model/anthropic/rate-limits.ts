/** What the API says about the account's limits, in the headers of every answer. */
import type { Middleware } from "@anthropic-ai/sdk"
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
