/** `@strata/core/messages`. Content blocks, messages and attachments: reading and rendering them. */
import "../base/node-version.ts"

export type {
  AddedTool,
  AgentMessage,
  AgentStatus,
  CallerSystemMessage,
  DeferredGroup,
  FilesRestored,
  Listed as ListedItem,
  RecalledMemory,
  Todo,
} from "../messages/attachments.ts"
export { type Attachment, type AttachmentKind, fenced, renderAttachment } from "../messages/attachments.ts"
export type { Media, Thinking } from "../messages/blocks.ts"
export {
  asServerResult,
  asServerUse,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  type ToolUse,
  textOf,
  toBlocks,
  withoutBreakpoint,
} from "../messages/blocks.ts"
export type { CallerMessage, MessageTrace } from "../messages/caller-key.ts"
export { blocksIn, digestOf, hasTellingCall, hasTellingText, jsonInOrder, nextLink } from "../messages/caller-key.ts"
export { exactInputOf, parseExact, stringifyExact, withExactInput } from "../messages/exact-json.ts"
export { exactNamesIn } from "../messages/exact-names.ts"
export { firstWords } from "../messages/first-words.ts"
export type { FlatMessage } from "../messages/flatten.ts"
export { handleOf, parseHandle } from "../messages/handles.ts"
export { readImageSize } from "../messages/image-size.ts"
export { inline, inlineUpTo } from "../messages/inline.ts"
export { membersOf, minified, respelled } from "../messages/json-text.ts"
export type { KeptChange } from "../messages/kept-change.ts"
export { planWithholding } from "../messages/media.ts"
export { MEDIA_LIMITS } from "../messages/media-limits.ts"
export type {
  Boundary,
  CallChanges,
  CompactMetadata,
  FileChange,
  ProgressMessage,
  SaidInResult,
  SignedBlock,
  SignedSummary,
  UsageIteration,
} from "../messages/messages.ts"
export {
  type AssistantMessage,
  BOUNDARY_LINE,
  contentOf,
  isBoundary,
  isContinuation,
  isHuman,
  isMachineText,
  isRequest,
  isSentToModel,
  isShownToPerson,
  isSynthetic,
  isSyntheticError,
  type Message,
  type UserMessage,
} from "../messages/messages.ts"
export type { Repair, RepairRule } from "../messages/repair.ts"
export type { RequestExtras } from "../messages/request.ts"
export type { ResultState } from "../messages/result-state.ts"
export { safeCuts } from "../messages/rounds.ts"
export { ASKING_TOOL, answersIn, refusalIn } from "../messages/said-in-results.ts"
export { sentBlocks } from "../messages/sent-blocks.ts"
export { flawOf } from "../messages/shapes/block-shapes.ts"
export type { InputSchema, JsonSchema, StandardIssue, StandardResult, StandardSchema } from "../messages/tool-input.ts"
export { isDeferred, nameOf } from "../messages/tool-references.ts"
export { repairsOf, usable } from "../messages/usable.ts"
export { usableUsage } from "../messages/usage.ts"
