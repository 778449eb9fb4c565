/** `@strata/core/callers`. Conversations of callers that send their whole history with each request. */
import "../base/node-version.ts"

export { asBytes } from "../callers/body.ts"
export { CallerConversations, type CallerOptions } from "../callers/conversations.ts"
export type { Body, CallerRequest, ConversationStatus, PauseNotice, Plan, Refusal } from "../callers/plan.ts"
export { wantsJson } from "../callers/spliced-answer.ts"
