/** `@strata/adapters/proxy`: a local server in front of the Messages API. */
export type { ConversationStatus, PauseNotice, Refusal, RequestPlan } from "../clients/plan.ts"
export { newSecret } from "./access.ts"
export { Conversations, type ConversationsOptions } from "./conversations.ts"
export type { ProxyLimits } from "./limits.ts"
export type { ClientRequest, RequestPlanner } from "./plans.ts"
export { type ProxyOptions, type RunningProxy, startProxy } from "./start.ts"
