/** The cost of files that were read more than once: content that the model already had. */
import type { Accounting } from "./accounting.ts"
import type { ModelFacts } from "./model-facts.ts"

/** What reading files again cost. */
export interface RepeatedReads {
  readonly files: number
  /** The tokens of all reads but one, for each file. */
  readonly tokens: number
  /** `undefined` if the model's price is unknown. */
  readonly dollars: number | undefined
  readonly counted: string
}

const COUNTED =
  "Each repeated read is counted as one cache write. The cache reads in every later request are not included."

export function repeatedReads(
  { duplicateReads }: Pick<Accounting, "duplicateReads">,
  facts: ModelFacts,
): RepeatedReads {
  const tokens = duplicateReads.reduce((sum, { wasted }) => sum + wasted, 0)
  const dollars = facts.price && (tokens * facts.price.cacheWrite5m) / 1_000_000
  return { files: duplicateReads.length, tokens, dollars, counted: COUNTED }
}
