/**
 * Strata as a middleware of the Vercel AI SDK, for models of any provider. Each call is followed in its conversation, and what is sent is
 * that conversation's view: it fits, and it extends what was sent before.
 */
import { CallerConversations } from "@strata/core/internal/callers/conversations"
import type { Plan } from "@strata/core/internal/callers/plan"
import type { CallOptions } from "@strata/core/internal/model/ai-sdk/interface"
import type { StrataOptions } from "../options.ts"
import { type StrataStatus, shared, Used } from "../shared.ts"
import { Course } from "./answer.ts"
import { type AiSdkRequest, type Call, type How, requestOf, withoutSettings } from "./call.ts"
import { ownModel } from "./own-requests.ts"

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
  const used = new Used<CallerConversations<AiSdkRequest>>()
  const course = async (given: WrappedCall, how: How): Promise<Course> => {
    const { params, settings } = withoutSettings(given.params as CallOptions)
    const call = { params, model: given.model, how } as Call
    const { owner = options.owner, conversation = options.conversation } = settings
    const request = requestOf(call, conversation)
    const all = used.add(conversationsFor(owner === undefined ? options : { ...options, owner }))
    const plan = await planFor(all, request)
    return new Course(plan, call, { body: request.body, log: (line) => options.log?.(line) })
  }
  return {
    specificationVersion: "v3",
    wrapGenerate: async (call) => (await course(call, "generate")).generate() as Promise<never>,
    wrapStream: async (call) => (await course(call, "stream")).stream() as Promise<never>,
    strata: { status: () => used.status() },
  }
}

const conversationsFor = (options: StrataOptions): CallerConversations<AiSdkRequest> =>
  shared("ai-sdk", options, (given) => new CallerConversations<AiSdkRequest>(given, ownModel as never))

async function planFor(all: CallerConversations<AiSdkRequest>, request: AiSdkRequest): Promise<Plan> {
  const { abortSignal } = request.params
  const isEmpty = (request.body.messages as readonly unknown[]).length === 0
  const taking = isEmpty ? Promise.resolve(all.aside(request)) : all.take(request)
  const plan = await unlessAborted(taking, abortSignal)
  if (plan.refusal !== undefined) throw new Error(plan.refusal)
  return plan
}

/** A plan that comes too late is closed: nothing will be sent for it. */
async function unlessAborted(taking: Promise<Plan>, signal: AbortSignal | undefined): Promise<Plan> {
  if (!signal) return taking
  const aborted = Promise.withResolvers<never>()
  const stop = () => aborted.reject(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop, { once: true })
  try {
    return await Promise.race([aborted.promise, taking])
  } catch (error) {
    void taking.then((plan) => plan.brokeOff(undefined)).catch(() => undefined)
    throw error
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
