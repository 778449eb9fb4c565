/** `@strata/proxy`: in front of the Messages API. */
export { newSecret } from "./doors/admission.ts"
export type { ProxyLimits } from "./limits.ts"
export type { ClientRequest, ConversationStatus, Manager, Plan, Refusal } from "./manager.ts"
export { type Proxy, type ProxyOptions, startProxy } from "./start.ts"
