/** The ledger as every screen and `strata run --json` have it. */
import type { Conversation } from "@strata/core"
import { type LedgerSummary, summarise } from "@strata/core/internal/views/ledger/ledger"

export { type LedgerLine, type LedgerSummary, summarise } from "@strata/core/internal/views/ledger/ledger"

export const ledgerOf = (chat: Conversation): LedgerSummary => summarise(chat.views.ledger)
