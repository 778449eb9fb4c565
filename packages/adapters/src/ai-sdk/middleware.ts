/**
 * Strata as a middleware of the Vercel AI SDK, for models of any provider. Each call is followed in its conversation, and what is sent is
 * that conversation's view: it fits, and it extends what was sent before.
 */
import type { StrataOptions } from "../options.ts"
import { type StrataStatus, Used } from "../shared.ts"
import type { How } from "./call.ts"
import type { FollowedConversations } from "./follow-call.ts"

/** What the AI SDK hands to a middleware. */
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
 * Lets the conversations of a model outgrow its window.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: anthropic("claude-opus-5-5"), middleware: strataMiddleware() })
 * ```
 */
export function strataMiddleware(options: StrataOptions = {}): StrataMiddleware {
  const used = new Used<FollowedConversations>()
  const course = async (given: WrappedCall, how: How) => {
    const { followCall } = await import("./follow-call.ts") // with the first call: importing this module costs little
    return followCall({ ...given, how }, { options, used })
  }
  return {
    specificationVersion: "v3",
    wrapGenerate: async (call) => (await course(call, "generate")).generate() as Promise<never>,
    wrapStream: async (call) => (await course(call, "stream")).stream() as Promise<never>,
    strata: { status: () => used.status() },
  }
}
