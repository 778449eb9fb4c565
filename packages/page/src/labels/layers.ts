/** Labels for the layers. */
import type { LayerSaving } from "@strata/core/views"

export const LAYER_LABELS: Readonly<Record<LayerSaving["layer"], string>> = {
  "tool-results": "results offloaded",
  microcompact: "results cleared",
  fold: "ranges folded or cut",
  server: "cleared by the server",
  compaction: "compaction",
  notes: "notes",
}
