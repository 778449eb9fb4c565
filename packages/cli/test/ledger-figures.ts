/** Numbers of a ledger for tests of screens. */
import type { LayerSaving } from "@strata/core/views"
import { NO_TOKENS } from "../../core/src/base/text.ts"
import type { LedgerSummary } from "../../core/src/views/ledger/ledger.ts"

const NOTHING: Omit<LayerSaving, "layer"> = {
  decisions: 1,
  removed: 0,
  standing: 0,
  unsent: 0,
  gained: 0,
  paid: 0,
  dollars: 0,
  unmeasured: 0,
  spared: 0,
  counterfactual: "Had it not acted, all would have been sent.",
}

export const saving = (layer: LayerSaving["layer"], figures: Partial<LayerSaving> = {}): LayerSaving => ({
  layer,
  ...NOTHING,
  ...figures,
})

export const summaryOf = (figures: Partial<LedgerSummary> = {}): LedgerSummary => ({
  requests: 0,
  counts: NO_TOKENS,
  hitRatio: 0,
  dollars: 0,
  unpriced: [],
  byPurpose: [],
  savings: [],
  ...figures,
})

/** One of each kind: savings, a loss, an unknown price. */
export const SAVINGS: readonly LayerSaving[] = [
  saving("tool-results", {
    decisions: 3,
    removed: 45_000,
    standing: 45_000,
    unsent: 1_200_000,
    gained: 0.61,
    dollars: 0.61,
  }),
  saving("microcompact", {
    decisions: 2,
    removed: 30_000,
    standing: 12_000,
    unsent: 60_000,
    gained: 0.03,
    paid: 0.1035,
    dollars: -0.0735,
    unmeasured: 1,
  }),
]
