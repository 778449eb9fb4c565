/** The price before a message: said where the server's cache no longer has a large conversation, with what a compaction first would cost. */
import type { Conversation } from "@strata/core"
import { formatCompact } from "./display/numbers.ts"

/** Dollars that the lost cache costs. Below that, no one would compact first or leave the message for it. */
const MIN_EXTRA = 0.1

/** One sentence for the message, and one for a compaction where there can be one. */
export interface NextMessagePrice {
  readonly message: string
  readonly compaction?: string
}

/** `compact`: what a user types to compact first. Nothing where the cache may still have it, or where it is little money. */
export async function nextMessagePrice(chat: Conversation, compact: string): Promise<NextMessagePrice | undefined> {
  const price = chat.coldPrice()
  if (!price || price.next - price.later < MIN_EXTRA) return undefined
  const { tokens, next, later } = price
  const message = `The next message costs about ${cents(next)}, and later ones ${cents(later)}: ${formatCompact(tokens)} tokens are not cached any more.`
  const compaction = await priceWithCompaction(chat, compact)
  return { message, ...(compaction === undefined ? {} : { compaction }) }
}

async function priceWithCompaction(chat: Conversation, compact: string): Promise<string | undefined> {
  const plan = await chat.planCompaction().catch(() => undefined) // a conversation without that layer
  if (!plan || plan.kind === "refused" || !plan.isWorthIt) return undefined
  const after = chat.coldPrice(plan.expectedAfter)
  return after && `${compact} first: about ${cents(plan.dollars ?? 0)}, then ${cents(after.next)} for the next message.`
}

export const priceSentence = ({ message, compaction }: NextMessagePrice): string =>
  [message, compaction ?? ""].join(" ").trim()

/** An estimate has no more digits than that. */
const cents = (value: number): string => `$${value.toFixed(2)}`
