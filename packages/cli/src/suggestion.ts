/** Suggests a correction for a typo. */

const MAX_EDITS = 2 // letters wrong, missing or added; more edits mean a different word

/** The candidate with this prefix, or the one with the smallest edit distance. */
export function nearestTo(typed: string, candidates: readonly string[]): string | undefined {
  const beginning = typed === "" ? undefined : candidates.find((candidate) => candidate.startsWith(typed))
  if (beginning !== undefined) return beginning
  const ranked = candidates.map((candidate) => ({ candidate, edits: editsBetween(typed, candidate) }))
  ranked.sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best && best.edits <= MAX_EDITS ? best.candidate : undefined
}

/** Letters to change, add or remove (Levenshtein distance). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
