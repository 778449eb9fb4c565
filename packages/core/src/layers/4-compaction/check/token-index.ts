/** Step 4, check. Where each word of a long text occurs. Built in one pass, so that a phrase is found without reading the text again. */
import type { Steps } from "../../../base/work.ts"

export interface TokenIndex {
  readonly tokens: readonly string[]
  /** Each word once. */
  words(): Iterable<string>
  /** Positions of a word, in order. */
  at(token: string): Int32Array
  /** Where these words occur in a row: the first places, up to `most`. */
  placesOf(tokens: readonly string[], most: number): readonly number[]
  /** Whether these words occur in a row. No words occur everywhere. */
  has(tokens: readonly string[]): boolean
}

const NOWHERE = new Int32Array(0)
/** How often the length of a phrase is compared before the search ends. Only a text that repeats itself for pages needs so much. */
const MOST_COMPARED = 200

/** A step takes about a millisecond. */
export const TOKENS_PER_STEP = 10_000

export function* indexSteps(tokens: readonly string[]): Steps<TokenIndex> {
  const ids = new Map<string, number>()
  const counts: number[] = []
  const idAt = new Int32Array(tokens.length)
  for (let place = 0; place < tokens.length; place++) {
    if (place % TOKENS_PER_STEP === 0) yield
    const token = tokens[place]!
    let id = ids.get(token)
    if (id === undefined) {
      id = counts.length
      ids.set(token, id)
      counts.push(0)
    }
    counts[id]!++
    idAt[place] = id
  }
  const starts = new Int32Array(counts.length + 1)
  for (let id = 0; id < counts.length; id++) starts[id + 1] = starts[id]! + counts[id]!
  const next = starts.slice()
  const places = new Int32Array(tokens.length)
  for (let place = 0; place < tokens.length; place++) {
    if (place % TOKENS_PER_STEP === 0) yield
    places[next[idAt[place]!]!++] = place
  }

  function at(token: string): Int32Array {
    const id = ids.get(token)
    return id === undefined ? NOWHERE : places.subarray(starts[id]!, starts[id + 1]!)
  }

  function placesOf(wanted: readonly string[], most: number): readonly number[] {
    const wantedIds = wanted.map((token) => ids.get(token) ?? -1)
    let rarest = 0
    for (const [place, id] of wantedIds.entries()) {
      if (id < 0) return []
      if (counts[id]! < counts[wantedIds[rarest]!]!) rarest = place
    }
    if (wanted.length === 0) return []
    let left = wanted.length * MOST_COMPARED
    const isAt = (start: number) => {
      if (start < 0 || start + wantedIds.length > idAt.length) return false
      let same = 0
      while (same < wantedIds.length && idAt[start + same] === wantedIds[same]) same++
      left -= same
      return same === wantedIds.length
    }
    const id = wantedIds[rarest]!
    const found: number[] = []
    for (let place = starts[id]!; place < starts[id + 1]! && found.length < most && left > 0; place++)
      if (isAt(places[place]! - rarest)) found.push(places[place]! - rarest)
    return found
  }

  const has = (wanted: readonly string[]): boolean => wanted.length === 0 || placesOf(wanted, 1).length > 0

  return { tokens, words: () => ids.keys(), at, placesOf, has }
}
