/** `@strata/core/conversation`. How a caller that sends its whole conversation each time is followed. For the packages beside this one. */
import "../base/node-version.ts"

export type { OpenResult } from "../conversation/events.ts"
export { isCallersSummary } from "../conversation/follow/caller-order.ts"
export { isReadableList } from "../conversation/follow/follow.ts"
export type { GivenMessage, Matched, Reader } from "../conversation/follow/match.ts"
export { givenMessages, keepingReader, matchedExactly, repeatsCalls } from "../conversation/follow/match.ts"
export type { OtherMessage } from "../conversation/incoming.ts"
export type { PlannedFile } from "../conversation/plan-restore.ts"
export type { NotedRefusal } from "../conversation/refused-content.ts"
