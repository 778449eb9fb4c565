/**
 * Measures the prefix of a long conversation: the cost of its requests from 80,000 to 206,000 tokens with each policy, in a window so large
 * that no policy has to compact. A cost of 1 is that of sending everything.
 *
 *     npm run prefix
 */
import { stretchCosts } from "./lab/prefix-cost.ts"

const { calls, costs } = await stretchCosts({ from: 80_000, to: 206_000 })
console.log(`${calls} requests of generated work, from 80,000 to 206,000 tokens`)
console.table(
  Object.fromEntries(
    costs
      .toSorted((a, b) => a.cost - b.cost)
      .map(({ policy, cost, inView }) => [
        policy,
        { "of sending everything": cost.toFixed(2), "names in view": `${(100 * inView).toFixed(1)}%` },
      ]),
  ),
)
