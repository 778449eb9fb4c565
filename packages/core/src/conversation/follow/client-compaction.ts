/** A client's own compaction: the request for its summary, and the list that begins with it. */
import { blocksIn, type ClientMessage } from "../../messages/message-identity.ts"
import { isContinuation } from "../../messages/messages.ts"

/** Patterns of requests for a summary, as clients send them. Other wordings are ordinary messages. */
const SUMMARY_REQUESTS: readonly RegExp[] = [
  /^\s*CRITICAL: Respond with TEXT ONLY\. Do NOT call any tools\.[\s\S]*<summary>/,
  /^\s*Your task is to create a detailed summary of (?:the|this) (?:conversation|recent portion)[\s\S]*<summary>/,
]

const isSummaryRequest = (text: string): boolean => SUMMARY_REQUESTS.some((order) => order.test(text))

/** Splits a request for a summary from the last message. */
export function findSummaryRequest(
  messages: readonly ClientMessage[],
): { readonly order: readonly unknown[]; readonly before: readonly ClientMessage[] } | undefined {
  const last = messages.at(-1)
  if (last?.role !== "user" || messages.length < 2) return undefined
  const blocks = blocksIn(last.content)
  const from = blocks.findIndex(
    ({ type, text }) => type === "text" && typeof text === "string" && isSummaryRequest(text),
  )
  if (from < 0) return undefined
  const rest = blocks.slice(0, from)
  const before = messages.slice(0, -1)
  return { order: blocks.slice(from), before: rest.length > 0 ? [...before, { ...last, content: rest }] : before }
}

/** Whether a message is a summary that replaces earlier ones. */
export const isClientSummary = ({ role, content }: ClientMessage): boolean =>
  role === "user" &&
  blocksIn(content).some(({ type, text }) => type === "text" && typeof text === "string" && isContinuation(text))
