/** The record that an earlier compaction left in a summary. It is computed again from everything, so it is not read as part of the summary. */
import { renderAttachment } from "@strata/core/internal/messages/attachments"
import { isText, textOf } from "@strata/core/internal/messages/blocks"
import { contentOf, type Message } from "@strata/core/internal/messages/messages"

const MARK = "\0"
const [BEGIN, END] = textOf(renderAttachment({ type: "carried_facts", content: MARK })).split(MARK) as [string, string]

export function withoutRecord(message: Message): Message {
  if (message.type !== "user" || !message.isCompactSummary) return message
  const content = contentOf(message).map((block) => (isText(block) ? { ...block, text: cutOut(block.text) } : block))
  return { ...message, message: { ...message.message, content } }
}

function cutOut(text: string): string {
  const from = text.indexOf(BEGIN)
  if (from < 0) return text
  const to = text.lastIndexOf(END.trimEnd())
  return `${text.slice(0, from).trimEnd()}${to < from ? "" : text.slice(to + END.trimEnd().length)}`
}
