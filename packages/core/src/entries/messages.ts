/** `@strata/core/messages`. Content blocks, messages and attachments: reading and rendering them. */
import "../base/node-version.ts"

export { fenced, renderAttachment } from "../messages/attachment-texts.ts"
export type {
  AddedTool,
  AgentMessage,
  AgentStatus,
  Attachment,
  AttachmentKind,
  ClientSystemMessage,
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
  resultBlocks,
  type ToolUse,
  textOf,
  toBlocks,
  toolName,
  withoutBreakpoint,
} from "../messages/blocks.ts"
export { exactInputOf, parseExact, stringifyExact, withExactInput } from "../messages/exact-json.ts"
export { exactNamesIn } from "../messages/exact-names.ts"
export type { FileChangeRecord } from "../messages/file-change-record.ts"
export type { FlatMessage } from "../messages/flatten.ts"
export { listMembers, minify, respell } from "../messages/json-text.ts"
export { handleOf, MEDIA_LIMITS, parseHandle, planWithholding, readImageSize } from "../messages/media.ts"
export type { ClientMessage, MessageIdentity } from "../messages/message-identity.ts"
export {
  blocksIn,
  canonicalJson,
  digestOf,
  findAnswers,
  findRefusalText,
  hasDistinctiveText,
  hasRandomCallId,
  nextChainKey,
  QUESTION_TOOL,
} from "../messages/message-identity.ts"
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
  firstUserLine,
  isBoundary,
  isContinuation,
  isFromUser,
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
export { findFlaw } from "../messages/shapes/shapes.ts"
export type { InputSchema, JsonSchema, StandardIssue, StandardResult, StandardSchema } from "../messages/tool-input.ts"
export { repairsOf, usable } from "../messages/usable.ts"
