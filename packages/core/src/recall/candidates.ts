/**
 * The first stage of a search: from the lists of passages that contain each term to the few that are worth reading. Passages are numbers
 * here, and neighbours have neighbouring numbers. The second stage corrects what that simplifies.
 */

export interface CandidateOptions {
  /** The passages that contain a term, and the term's weight. */
  readonly lists: readonly { readonly weight: number; readonly passages: Iterable<number> }[]
  /** Passages that count more, such as those from the time that the question names. */
  readonly raised: readonly { readonly factor: number; readonly passages: Iterable<number> }[]
  /** How much the passages right before and after count. */
  readonly neighbour: number
  readonly largest: number
  readonly limit: number
}

/** The best first. Of two that are equally good, the newer. */
export function candidatesFrom({ lists, raised, neighbour, largest, limit }: CandidateOptions): readonly number[] {
  const own = new Float32Array(largest + 2)
  for (const { weight, passages } of lists) for (const passage of passages) own[passage]! += weight
  const factors = raised.length === 0 ? undefined : new Float32Array(largest + 2).fill(1)
  for (const { factor, passages } of raised) for (const passage of passages) factors![passage]! *= factor
  const best: { readonly passage: number; readonly score: number }[] = []
  const prune = () => {
    best.sort((a, b) => b.score - a.score || b.passage - a.passage)
    best.length = Math.min(best.length, limit)
  }
  let floor = 0
  for (let passage = largest; passage > 0; passage--) {
    const score =
      (own[passage]! + neighbour * (own[passage - 1]! + own[passage + 1]!)) * (factors ? factors[passage]! : 1)
    if (score <= floor) continue
    best.push({ passage, score })
    if (best.length < 4 * limit) continue
    prune()
    floor = best.at(-1)!.score
  }
  prune()
  return best.map(({ passage }) => passage)
}
