/** `@strata/adapters/proxy`: in front of the Messages API. */
export type { ConversationStatus, PauseNotice, Plan, Refusal } from "../callers/plan.ts"
export { Conversations, type ConversationsOptions } from "./conversations.ts"
export { newSecret } from "./doors/admission.ts"
export type { ProxyLimits } from "./limits.ts"
export type { ClientRequest, Plans } from "./plans.ts"
export { type ProxyOptions, type RunningProxy, startProxy } from "./start.ts"
