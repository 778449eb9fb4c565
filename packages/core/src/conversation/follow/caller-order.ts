/** A caller's own compaction: the request for its summary, and the list that begins with it. */
import { blocksIn, type ClientMessage } from "../../messages/message-identity.ts"
import { isContinuation } from "../../messages/messages.ts"

/** How orders for a summary begin or end, as clients send them. Another wording is a message like any other. */
const ORDERS: readonly RegExp[] = [
  /^\s*CRITICAL: Respond with TEXT ONLY\. Do NOT call any tools\.[\s\S]*<summary>/,
  /^\s*Your task is to create a detailed summary of (?:the|this) (?:conversation|recent portion)[\s\S]*<summary>/,
]

const isOrder = (text: string): boolean => ORDERS.some((order) => order.test(text))

/** The order in the last message, and the message without it. */
export function orderIn(
  messages: readonly ClientMessage[],
): { readonly order: readonly unknown[]; readonly before: readonly ClientMessage[] } | undefined {
  const last = messages.at(-1)
  if (last?.role !== "user" || messages.length < 2) return undefined
  const blocks = blocksIn(last.content)
  const from = blocks.findIndex(({ type, text }) => type === "text" && typeof text === "string" && isOrder(text))
  if (from < 0) return undefined
  const rest = blocks.slice(0, from)
  const before = messages.slice(0, -1)
  return { order: blocks.slice(from), before: rest.length > 0 ? [...before, { ...last, content: rest }] : before }
}

/** Whether a message takes the place of earlier ones. */
export const isCallersSummary = ({ role, content }: ClientMessage): boolean =>
  role === "user" &&
  blocksIn(content).some(({ type, text }) => type === "text" && typeof text === "string" && isContinuation(text))
