/** `@strata/core/messages`. Content blocks, messages and attachments: reading and rendering them. */
import "../base/node-version.ts"

export { fenced, renderAttachment } from "../messages/attachment-texts.ts"
export type {
  AddedTool,
  AgentMessage,
  AgentStatus,
  Attachment,
  AttachmentKind,
  CallerSystemMessage,
  DeferredGroup,
  FilesRestored,
  NamedCapability,
  RecalledMemory,
  Todo,
} from "../messages/attachments.ts"
export type { Media, Thinking } from "../messages/blocks.ts"
export {
  asServerResult,
  asServerUse,
  inline,
  inlineUpTo,
  isDeferred,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  nameOf,
  resultBlocks,
  type ToolUse,
  textOf,
  toBlocks,
  withoutBreakpoint,
} from "../messages/blocks.ts"
export type { CallerMessage, MessageTrace } from "../messages/caller-key.ts"
export {
  ASKING_TOOL,
  answersIn,
  blocksIn,
  digestOf,
  hasTellingCall,
  hasTellingText,
  jsonInOrder,
  nextLink,
  refusalIn,
} from "../messages/caller-key.ts"
export { exactInputOf, parseExact, stringifyExact, withExactInput } from "../messages/exact-json.ts"
export { exactNamesIn } from "../messages/exact-names.ts"
export type { FlatMessage } from "../messages/flatten.ts"
export { membersOf, minified, respelled } from "../messages/json-text.ts"
export type { FileChangeRecord } from "../messages/kept-change.ts"
export { handleOf, MEDIA_LIMITS, parseHandle, planWithholding, readImageSize } from "../messages/media.ts"
export type {
  Boundary,
  CallChanges,
  CompactMetadata,
  FileChange,
  ProgressMessage,
  Repair,
  RepairRule,
  ResultState,
  SignedBlock,
  SignedSummary,
  UsageIteration,
  UserTextInResult,
} from "../messages/messages.ts"
export {
  type AssistantMessage,
  BOUNDARY_LINE,
  contentOf,
  firstWords,
  isBoundary,
  isContinuation,
  isHuman,
  isMachineText,
  isRequest,
  isSentToModel,
  isShownToUser,
  isSynthetic,
  isSyntheticError,
  type Message,
  sentBlocks,
  type UserMessage,
  usableUsage,
} from "../messages/messages.ts"
export type { RequestExtras } from "../messages/request.ts"
export { safeCuts } from "../messages/rounds.ts"
export { flawOf } from "../messages/shapes/shapes.ts"
export type { InputSchema, JsonSchema, StandardIssue, StandardResult, StandardSchema } from "../messages/tool-input.ts"
export { repairsOf, usable } from "../messages/usable.ts"
