/**
 * Writes a transcript that Claude Code can resume. Our messages have the shape of its lines; what belongs to our journal alone is left out,
 * and what the model was sent as an attachment of ours becomes a message of the program.
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
import { asFields, present } from "../foreign-json.ts"
import type { Writing } from "./writing.ts"

const VERSION = "2.1.325" // of Claude Code: the newest whose transcripts were seen
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Claude Code names sessions by uuids only. */
export const claudeCodeId = (id: string): string => (UUID.test(id) ? id : uuidFrom(id))

export function claudeCodeLines({ id, title, cwd, messages, leftOut }: Writing): readonly string[] {
  const sessionId = claudeCodeId(id)
  const about = { isSidechain: false, userType: "external", cwd: cwd ?? "", sessionId, version: VERSION, gitBranch: "" }
  const lines: string[] = []
  let parentUuid: Uuid | null = null
  for (const message of messages) {
    const own = bodyOf(message, { messages, leftOut })
    if (!own) continue
    const place: object = isBoundary(message) ? { parentUuid: null, logicalParentUuid: parentUuid } : { parentUuid }
    const { uuid, timestamp, isMeta, isVisibleInTranscriptOnly } = message
    const flags = present({ isMeta, isVisibleInTranscriptOnly })
    lines.push(stringifyExact({ ...place, ...about, ...flags, ...own, uuid, timestamp }))
    parentUuid = uuid
  }
  if (title !== undefined) lines.push(JSON.stringify({ type: "custom-title", customTitle: title, sessionId }))
  return lines
}

type Rest = Pick<Writing, "messages" | "leftOut">

function bodyOf(message: Message, rest: Rest): object | undefined {
  switch (message.type) {
    case "user": {
      const { role } = message.message
      const content = contentOf(message)
      if (content.length === 0) return undefined
      return present({ type: "user", message: { role, content }, isCompactSummary: message.isCompactSummary })
    }
    case "assistant":
      return answer(message, rest)
    case "system":
      if (isBoundary(message)) return { ...systemBody(message), ...keptBy(message, rest.messages) }
      return systemBody(message)
    case "attachment":
      return attached(message.attachment)
    case "progress":
      rest.leftOut.add("reports of progress")
      return undefined
  }
}

function answer({ message, uuid, requestId: named, isApiErrorMessage }: AssistantMessage, { leftOut }: Rest) {
  const all = contentOf({ type: "assistant", message } as AssistantMessage)
  const content = all.filter((block) => !isUnsigned(block))
  leftOut.add("thinking without a signature, which the API would refuse", all.length - content.length)
  if (content.length === 0) return undefined
  const { id = `msg_${uuid.replaceAll("-", "")}`, role, model = "<synthetic>", stop_reason = null, usage } = message
  const body = { id, type: "message", role, model, content, stop_reason, stop_sequence: null, usage }
  const requestId = named ?? (usage ? id : undefined) // by both, programs that count usage know an answer again
  return present({ type: "assistant", message: present(body), requestId, isApiErrorMessage })
}

const isUnsigned = (block: Block): boolean =>
  isThinking(block) && block.type === "thinking" && (block.signature ?? "") === ""

const systemBody = ({ subtype, content = "", isMeta = false, compactMetadata }: Extract<Message, { type: "system" }>) =>
  present({ type: "system", subtype, content, isMeta, level: "info", compactMetadata })

/** Older versions know what a compaction kept only as a run from one message to another. */
function keptBy({ compactMetadata }: Boundary, messages: readonly Message[]) {
  const { anchorUuid, uuids = [] } = compactMetadata?.preservedMessages ?? {}
  const first = messages.findIndex(({ uuid }) => uuid === uuids[0])
  const isRun = first >= 0 && uuids.every((uuid, at) => messages[first + at]?.uuid === uuid)
  if (!isRun || anchorUuid === undefined) return {}
  const preservedSegment = { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) }
  return { compactMetadata: { ...compactMetadata, preservedSegment } }
}

/** An attachment that came from such a file goes back as it was. */
function attached(attachment: Extract<Message, { type: "attachment" }>["attachment"]): object | undefined {
  const data = attachment.type === "foreign" ? asFields(attachment.data) : undefined
  if (attachment.type === "foreign" && data?.type === attachment.kind) {
    const rendered = attachment.text === undefined ? undefined : [{ role: "user", content: attachment.text }]
    return { type: "attachment", attachment: data, ...present({ rendered }) }
  }
  const content = renderAttachment(attachment)
  return content.length === 0 ? undefined : { type: "user", message: { role: "user", content }, isMeta: true }
}
