/** `@strata/core/messages`. Content blocks, messages and attachments: reading and rendering them. */
import "../base/node-version.ts"

export { type Attachment, type AttachmentKind, fenced, renderAttachment } from "../messages/attachments.ts"
export {
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
export { jsonInOrder } from "../messages/caller-key.ts"
export { exactNamesIn } from "../messages/exact-names.ts"
export { firstWords } from "../messages/first-words.ts"
export type { FlatMessage } from "../messages/flatten.ts"
export { handleOf, parseHandle } from "../messages/handles.ts"
export { readImageSize } from "../messages/image-size.ts"
export { inline, inlineUpTo } from "../messages/inline.ts"
export { planWithholding } from "../messages/media.ts"
export { MEDIA_LIMITS } from "../messages/media-limits.ts"
export {
  type AssistantMessage,
  contentOf,
  isBoundary,
  isHuman,
  isMachineText,
  isRequest,
  isSentToModel,
  isShownToPerson,
  isSyntheticError,
  type Message,
  type UserMessage,
} from "../messages/messages.ts"
export { safeCuts } from "../messages/rounds.ts"
export { sentBlocks } from "../messages/sent-blocks.ts"
export { isDeferred, nameOf } from "../messages/tool-references.ts"
export { usableUsage } from "../messages/usage.ts"
