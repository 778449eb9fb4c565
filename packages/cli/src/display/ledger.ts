/** The ledger in the form that all screens and `strata run --json` use. */
import type { Conversation } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { type LedgerSummary, summarise } from "@strata/core/views"

export { type LedgerLine, type LedgerSummary, summarise } from "@strata/core/views"

export const ledgerOf = (chat: Conversation): LedgerSummary => summarise(internalsOf(chat).views.ledger)
