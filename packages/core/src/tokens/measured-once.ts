/** How many tokens blocks have, for several questions about the same ones: each is measured once. The tools of the prompt stay the same meanwhile. */
import type { Block } from "../messages/blocks.ts"
import type { Estimator, Measure } from "./estimate.ts"

export type BlockTokens = Pick<Estimator, "block" | "blocks">

export function measuredOnce(estimator: Estimator): BlockTokens {
  const known = new WeakMap<Block, Measure>()
  const measure = (block: Block): Measure => {
    const measured = known.get(block) ?? estimator.measure([block])
    known.set(block, measured)
    return measured
  }
  return {
    block: (block) => estimator.tokens(measure(block)),
    blocks: (blocks) => estimator.tokens(estimator.sum(blocks.map(measure))),
  }
}
