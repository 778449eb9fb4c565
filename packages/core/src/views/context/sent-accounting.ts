/** What fills the context, counted on what the next request would carry. */
import { flatten } from "../../messages/flatten.ts"
import { type Accounting, account } from "../../tokens/accounting.ts"
import type { Views } from "../views.ts"

export function accountSent({ context, estimator }: Pick<Views, "context" | "estimator">): Accounting {
  const messages = context.storedMessages()
  const { answeredSynthetically } = context
  return account(messages, estimator, { sent: flatten(messages, { answeredSynthetically }).messages })
}
