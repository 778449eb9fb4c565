/**
 * Strata as a middleware of the Vercel AI SDK, for models of any provider. Each call is followed in its conversation and replaced by that
 * conversation's view: it fits the window, and it extends the previous request.
 */

import { LatestStatus, type StrataStatus } from "../conversation-pool.ts"
import type { StrataOptions } from "../options.ts"
import type { CallMode } from "./call.ts"
import type { FollowedConversations } from "./follow-call.ts"

/** The argument that the AI SDK passes to a middleware. */
export interface WrappedCall {
  readonly params: object
  readonly model: object
}

/** Fits `wrapLanguageModel` of versions 6 and 7. */
export interface StrataMiddleware {
  readonly specificationVersion: "v3"
  readonly wrapGenerate: (call: WrappedCall) => Promise<never>
  readonly wrapStream: (call: WrappedCall) => Promise<never>
  readonly strata: StrataStatus
}

/**
 * Lets conversations with a model outgrow its window.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: anthropic("claude-opus-5-5"), middleware: strataMiddleware() })
 * ```
 */
export function strataMiddleware(options: StrataOptions = {}): StrataMiddleware {
  const used = new LatestStatus<FollowedConversations>()
  const course = async (given: WrappedCall, how: CallMode) => {
    const { followCall } = await import("./follow-call.ts") // imported with the first call, so that importing this module costs little
    return followCall({ ...given, how }, { options, used })
  }
  return {
    specificationVersion: "v3",
    wrapGenerate: async (call) => (await course(call, "generate")).generate() as Promise<never>,
    wrapStream: async (call) => (await course(call, "stream")).stream() as Promise<never>,
    strata: { status: () => used.status() },
  }
}
