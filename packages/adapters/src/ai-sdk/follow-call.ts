/** Follows one call of the AI SDK in its conversation. Loads with the first call. */
import type { CallOptions } from "@strata/core/ai-sdk"
import { CallerConversations } from "../callers/conversations.ts"
import type { Plan } from "../callers/plan.ts"
import type { StrataOptions } from "../options.ts"
import { shared, type Used } from "../shared.ts"
import { Course } from "./answer.ts"
import { type AiSdkRequest, type Call, type How, requestOf, withoutSettings } from "./call.ts"
import { ownModel } from "./own-requests.ts"

export type FollowedConversations = CallerConversations<AiSdkRequest>

interface FollowOptions {
  readonly options: StrataOptions
  readonly used: Used<FollowedConversations>
}

export async function followCall(
  given: { readonly params: object; readonly model: object; readonly how: How },
  { options, used }: FollowOptions,
): Promise<Course> {
  const { params, settings } = withoutSettings(given.params as CallOptions)
  const call = { params, model: given.model, how: given.how } as Call
  const { owner = options.owner, conversation = options.conversation } = settings
  const request = requestOf(call, conversation)
  const all = used.add(conversationsFor(owner === undefined ? options : { ...options, owner }))
  const plan = await planFor(all, request)
  return new Course(plan, call, { body: request.body, log: (line) => options.log?.(line) })
}

const conversationsFor = (options: StrataOptions): FollowedConversations =>
  shared("ai-sdk", options, (given) => new CallerConversations<AiSdkRequest>(given, ownModel as never))

async function planFor(all: FollowedConversations, request: AiSdkRequest): Promise<Plan> {
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
