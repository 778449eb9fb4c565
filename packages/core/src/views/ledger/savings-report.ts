/** The savings of each layer: tokens, money, its own cost, and the alternative it is compared with. */
import { addKnown, COUNTERFACTUALS, layerYield, SAVING_LAYERS, type SavingLayer, type Savings } from "./savings.ts"

/** The savings of one layer. */
export interface LayerSaving {
  readonly layer: SavingLayer | "notes"
  /** Number of times it acted. */
  readonly decisions: number
  /** Tokens it removed from the context, each counted once. */
  readonly removed: number
  /** Tokens it currently keeps out of the context. */
  readonly standing: number
  /** Tokens that requests did not contain because of it, summed over the requests. */
  readonly unsent: number
  /** What those tokens would have cost, in dollars. `undefined` if a price is unknown. */
  readonly gained: number | undefined
  /** What the layer itself cost: its own requests, and cache writes it caused. */
  readonly paid: number | undefined
  /** `gained` minus `paid`. Below 0 it has cost more than it saved so far. */
  readonly dollars: number | undefined
  /** Decisions that do not record their size, which the numbers exclude. */
  readonly unmeasured: number
  /** Number of decisions that avoided a compaction. */
  readonly spared: number
  /** The alternative that the numbers are compared with. */
  readonly counterfactual: string
}

/** Background requests that belong to a layer. */
interface LayerCalls {
  readonly requests: number
  readonly dollars: number | undefined
}

export function layerSavings(
  state: Savings,
  own: { readonly compaction: LayerCalls | undefined; readonly notes: LayerCalls | undefined },
): readonly LayerSaving[] {
  const layers = SAVING_LAYERS.flatMap((layer) => {
    const calls = layer === "compaction" ? own.compaction : undefined
    const { decisions, removed, unmeasured, spared } = state.acts[layer]
    if (decisions === 0 && !calls) return []
    const standing = accumulatedTokens(state, layer)
    const { unsent, gained, rewriting } = layerYield(state, layer)
    const paid = addKnown(rewriting, calls ? calls.dollars : 0)
    const money = { gained, paid, dollars: net(gained, paid) }
    return [{ layer, decisions, removed, standing, unsent, unmeasured, spared, ...money, ...why(layer) }]
  })
  if (!own.notes) return layers
  const { requests: decisions, dollars: paid } = own.notes
  const nothing = { removed: 0, standing: 0, unsent: 0, unmeasured: 0, spared: 0, gained: 0 }
  return [...layers, { layer: "notes", decisions, ...nothing, paid, dollars: net(0, paid), ...why("notes") }]
}

function accumulatedTokens({ standing, open }: Savings, layer: SavingLayer): number {
  switch (layer) {
    case "tool-results":
      return standing.aside
    case "microcompact":
      return standing.cleared + standing.clearedInstead
    case "fold":
      return standing.folded + standing.foldedInstead
    case "server":
      return open?.cleared ?? 0
    case "compaction":
      return standing.compacted
  }
}

/** Totals of all layers. */
export function totalSaving(savings: readonly LayerSaving[]): Pick<LayerSaving, "removed" | "unsent" | "dollars"> {
  return {
    removed: savings.reduce((sum, { removed }) => sum + removed, 0),
    unsent: savings.reduce((sum, { unsent }) => sum + unsent, 0),
    dollars: savings.map(({ dollars }) => dollars).reduce(addKnown, 0),
  }
}

const net = (gained: number | undefined, paid: number | undefined) =>
  addKnown(gained, paid === undefined ? undefined : -paid)

const why = (layer: keyof typeof COUNTERFACTUALS) => ({ counterfactual: COUNTERFACTUALS[layer] })
