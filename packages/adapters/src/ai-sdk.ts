/** Strata for the Vercel AI SDK, versions 6 and 7. */
export { type StrataMiddleware, strataMiddleware, type WrappedCall } from "./ai-sdk/middleware.ts"
export { type ConversationStatus, closeStrata, type StrataStatus, strataStatus } from "./conversation-pool.ts"
export type { StrataOptions } from "./options.ts"
