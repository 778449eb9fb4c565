/** The record that an earlier compaction left in a summary. It is computed again from everything, so it is not read as part of the summary. */
import { contentOf, isText, type Message, renderAttachment, textOf } from "@strata/core/messages"

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
