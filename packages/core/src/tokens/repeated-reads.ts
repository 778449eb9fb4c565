/** What files that were read again cost: content that was known already and was sent once more. */
import type { Accounting } from "./accounting.ts"
import type { ModelFacts } from "./model-facts.ts"

export interface RepeatedReads {
  readonly files: number
  /** What all but one of the reads of each file take. */
  readonly tokens: number
  /** `undefined` where the model's price is unknown. */
  readonly dollars: number | undefined
  readonly counted: string
}

const COUNTED =
  "Each repeated read is counted as written to the cache once; that it is then read with every later request is not in this figure."

export function repeatedReads(
  { duplicateReads }: Pick<Accounting, "duplicateReads">,
  facts: ModelFacts,
): RepeatedReads {
  const tokens = duplicateReads.reduce((sum, { wasted }) => sum + wasted, 0)
  const dollars = facts.price && (tokens * facts.price.cacheWrite5m) / 1_000_000
  return { files: duplicateReads.length, tokens, dollars, counted: COUNTED }
}
