/** `@strata/core/conversation`. Support for clients that resend their full message list, and the internals of a conversation. For the sibling packages. */
import "../base/node-version.ts"

export type { OpenResult } from "../conversation/events.ts"
export { isClientSummary } from "../conversation/follow/client-compaction.ts"
export { isReadableList } from "../conversation/follow/follow.ts"
export type { IdentifiedMessage, ListMatch, MessageReader } from "../conversation/follow/match.ts"
export { createCachingReader, identifyMessages, matchListsExactly, repeatsCalls } from "../conversation/follow/match.ts"
export type { ExternalMessage } from "../conversation/incoming.ts"
export { type ConversationInternals, internalsOf } from "../conversation/internals.ts"
export type { PlannedFile } from "../conversation/plan-restore.ts"
export type { NotedRefusal } from "../conversation/refused-content.ts"
