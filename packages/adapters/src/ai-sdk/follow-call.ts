/** Follows one call of the AI SDK in its conversation. Loaded with the first call. */
import type { CallOptions } from "@strata/core/ai-sdk"
import { ClientConversations } from "../clients/conversations.ts"
import type { RequestPlan } from "../clients/plan.ts"
import { type LatestStatus, sharedConversations } from "../conversation-pool.ts"
import type { StrataOptions } from "../options.ts"
import { AnswerRelay } from "./answer-relay.ts"
import { type AiSdkCall, type AiSdkRequest, type CallMode, requestOf, withoutSettings } from "./call.ts"
import { strataModel } from "./strata-model.ts"

export type FollowedConversations = ClientConversations<AiSdkRequest>

interface FollowCallOptions {
  readonly options: StrataOptions
  readonly used: LatestStatus<FollowedConversations>
}

export async function followCall(
  given: { readonly params: object; readonly model: object; readonly how: CallMode },
  { options, used }: FollowCallOptions,
): Promise<AnswerRelay> {
  const { params, settings } = withoutSettings(given.params as CallOptions)
  const call = { params, model: given.model, mode: given.how } as AiSdkCall
  const { owner = options.owner, conversation = options.conversation } = settings
  const request = requestOf(call, conversation)
  const all = used.add(conversationsFor(owner === undefined ? options : { ...options, owner }))
  const plan = await planFor(all, request)
  return new AnswerRelay(plan, call, { body: request.body, log: (line) => options.log?.(line) })
}

const conversationsFor = (options: StrataOptions): FollowedConversations =>
  sharedConversations("ai-sdk", options, (given) => new ClientConversations<AiSdkRequest>(given, strataModel as never))

async function planFor(all: FollowedConversations, request: AiSdkRequest): Promise<RequestPlan> {
  const { abortSignal } = request.params
  const isEmpty = (request.body.messages as readonly unknown[]).length === 0
  const taking = isEmpty ? Promise.resolve(all.planAside(request)) : all.take(request)
  const plan = await unlessAborted(taking, abortSignal)
  if (plan.refusal !== undefined) throw new Error(plan.refusal)
  return plan
}

/** Ends a plan that resolves after an abort, because nothing will be sent for it. */
async function unlessAborted(taking: Promise<RequestPlan>, signal: AbortSignal | undefined): Promise<RequestPlan> {
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
