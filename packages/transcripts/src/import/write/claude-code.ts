/**
 * Writes a transcript that Claude Code can resume. Strata messages have the shape of its lines. Fields that only journals use are omitted,
 * and Strata attachments that the model received become messages of the program.
 */

import type { Block, Uuid } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import type { Boundary } from "@strata/core/messages"
import {
  type AssistantMessage,
  contentOf,
  isBoundary,
  isThinking,
  type Message,
  renderAttachment,
  stringifyExact,
} from "@strata/core/messages"
import { asObject, definedOnly } from "../json-access.ts"
import type { ExportInput } from "./export-input.ts"

const VERSION = "2.1.325" // the newest version of Claude Code whose transcripts were examined
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Claude Code accepts only uuids as session ids. */
export const claudeCodeId = (id: string): string => (UUID.test(id) ? id : uuidFrom(id))

export function claudeCodeLines({ id, title, cwd, messages, omitted }: ExportInput): readonly string[] {
  const sessionId = claudeCodeId(id)
  const about = { isSidechain: false, userType: "external", cwd: cwd ?? "", sessionId, version: VERSION, gitBranch: "" }
  const lines: string[] = []
  let parentUuid: Uuid | null = null
  for (const message of messages) {
    const own = bodyOf(message, { messages, omitted })
    if (!own) continue
    const place: object = isBoundary(message) ? { parentUuid: null, logicalParentUuid: parentUuid } : { parentUuid }
    const { uuid, timestamp, isMeta, isVisibleInTranscriptOnly } = message
    const flags = definedOnly({ isMeta, isVisibleInTranscriptOnly })
    lines.push(stringifyExact({ ...place, ...about, ...flags, ...own, uuid, timestamp }))
    parentUuid = uuid
  }
  if (title !== undefined) lines.push(JSON.stringify({ type: "custom-title", customTitle: title, sessionId }))
  return lines
}

type BodyContext = Pick<ExportInput, "messages" | "omitted">

function bodyOf(message: Message, rest: BodyContext): object | undefined {
  switch (message.type) {
    case "user": {
      const { role } = message.message
      const content = contentOf(message)
      if (content.length === 0) return undefined
      return definedOnly({ type: "user", message: { role, content }, isCompactSummary: message.isCompactSummary })
    }
    case "assistant":
      return answer(message, rest)
    case "system":
      if (isBoundary(message)) return { ...systemBody(message), ...tailOf(message, rest.messages) }
      return systemBody(message)
    case "attachment":
      return attachmentLine(message.attachment)
    case "progress":
      rest.omitted.add("reports of progress")
      return undefined
  }
}

function answer({ message, uuid, requestId: named, isApiErrorMessage }: AssistantMessage, { omitted }: BodyContext) {
  const all = contentOf({ type: "assistant", message } as AssistantMessage)
  const content = all.filter((block) => !isUnsigned(block))
  omitted.add("thinking without a signature, which the API would refuse", all.length - content.length)
  if (content.length === 0) return undefined
  const { id = `msg_${uuid.replaceAll("-", "")}`, role, model = "<synthetic>", stop_reason = null, usage } = message
  const body = { id, type: "message", role, model, content, stop_reason, stop_sequence: null, usage }
  const requestId = named ?? (usage ? id : undefined) // programs that count usage recognize repeated responses by both ids
  return definedOnly({ type: "assistant", message: definedOnly(body), requestId, isApiErrorMessage })
}

const isUnsigned = (block: Block): boolean =>
  isThinking(block) && block.type === "thinking" && (block.signature ?? "") === ""

const systemBody = ({ subtype, content = "", isMeta = false, compactMetadata }: Extract<Message, { type: "system" }>) =>
  definedOnly({ type: "system", subtype, content, isMeta, level: "info", compactMetadata })

/** The tail of a compaction as a range of messages, the only form that older versions understand. */
function tailOf({ compactMetadata }: Boundary, messages: readonly Message[]) {
  const { anchorUuid, uuids = [] } = compactMetadata?.preservedMessages ?? {}
  const first = messages.findIndex(({ uuid }) => uuid === uuids[0])
  const isRun = first >= 0 && uuids.every((uuid, at) => messages[first + at]?.uuid === uuid)
  if (!isRun || anchorUuid === undefined) return {}
  const preservedSegment = { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) }
  return { compactMetadata: { ...compactMetadata, preservedSegment } }
}

/** Attachments imported from Claude Code are written back unchanged. */
function attachmentLine(attachment: Extract<Message, { type: "attachment" }>["attachment"]): object | undefined {
  const data = attachment.type === "foreign" ? asObject(attachment.data) : undefined
  if (attachment.type === "foreign" && data?.type === attachment.kind) {
    const rendered = attachment.text === undefined ? undefined : [{ role: "user", content: attachment.text }]
    return { type: "attachment", attachment: data, ...definedOnly({ rendered }) }
  }
  const content = renderAttachment(attachment)
  return content.length === 0 ? undefined : { type: "user", message: { role: "user", content }, isMeta: true }
}
