/**
 * Measures the similarity of short texts, such as file names and lines of code. It counts shared pairs of adjacent characters
 * (Sørensen–Dice), which is cheap and tolerates a different order.
 */

/** Scores texts against `text`: 0 if no pairs are shared, 1 if all are. Ignores case and surrounding white space. */
export function similarityTo(text: string): (other: string) => number {
  const wanted = pairsOf(text)
  const wantedCount = count(wanted)
  return (other) => {
    const found = pairsOf(other)
    const total = wantedCount + count(found)
    if (total === 0) return plain(text) === plain(other) ? 1 : 0
    let shared = 0
    for (const [pair, times] of found) shared += Math.min(times, wanted.get(pair) ?? 0)
    return (2 * shared) / total
  }
}

const plain = (text: string) => text.trim().toLowerCase()

function pairsOf(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>()
  const characters = plain(text)
  for (let at = 0; at + 1 < characters.length; at++) {
    const pair = characters.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

const count = (pairs: ReadonlyMap<string, number>) => pairs.values().reduce((sum, times) => sum + times, 0)
