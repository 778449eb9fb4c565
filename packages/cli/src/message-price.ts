/** The price of the next message if the server's cache no longer has a large conversation, and the price of compacting first. */
import type { Conversation } from "@strata/core"
import { formatCompact } from "./display/numbers.ts"

/** Minimum extra cost in dollars. Below it, nobody would compact first or cancel the message. */
const MIN_EXTRA = 0.1

/** A sentence for the message, and one for a compaction if it is possible. */
export interface NextMessagePrice {
  readonly message: string
  readonly compaction?: string
}

/**
 * The price of the next message, or `undefined` if the cache may still be warm or the cost is small. `compact` is the command or label for
 * compacting first.
 */
export async function nextMessagePrice(chat: Conversation, compact: string): Promise<NextMessagePrice | undefined> {
  const price = chat.coldPrice()
  if (!price || price.next - price.later < MIN_EXTRA) return undefined
  const { tokens, next, later } = price
  const message = `The next message costs about ${cents(next)}, and later ones ${cents(later)}: ${formatCompact(tokens)} tokens are not cached any more.`
  const compaction = await priceWithCompaction(chat, compact)
  return { message, ...(compaction === undefined ? {} : { compaction }) }
}

async function priceWithCompaction(chat: Conversation, compact: string): Promise<string | undefined> {
  const plan = await chat.planCompaction().catch(() => undefined) // fails if the conversation has no compaction layer
  if (!plan || plan.kind === "refused" || !plan.isWorthIt) return undefined
  const after = chat.coldPrice(plan.expectedAfter)
  return after && `${compact} first: about ${cents(plan.dollars ?? 0)}, then ${cents(after.next)} for the next message.`
}

export const priceSentence = ({ message, compaction }: NextMessagePrice): string =>
  [message, compaction ?? ""].join(" ").trim()

/** Formats an estimate with two digits. */
const cents = (value: number): string => `$${value.toFixed(2)}`
