/** Strata for the Vercel AI SDK, versions 6 and 7. */
export { type StrataMiddleware, strataMiddleware, type WrappedCall } from "./ai-sdk/middleware.ts"
export type { StrataOptions } from "./options.ts"
export { type ConversationStatus, closeStrata, type StrataStatus, strataStatus } from "./shared.ts"
