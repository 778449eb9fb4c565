/** `@strata/proxy`: in front of the Messages API. */
export { newSecret } from "./doors/admission.ts"
export type { ProxyLimits } from "./limits.ts"
export { Conversations, type ConversationsOptions } from "./managed/conversations.ts"
export type { PauseNotice } from "./managed/managed-conversation.ts"
export type { ClientRequest, ConversationStatus, Manager, Plan, Refusal } from "./manager.ts"
export { type ProxyOptions, type RunningProxy, startProxy } from "./start.ts"
