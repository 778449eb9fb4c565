/** Random choices that are identical for the same seed. */
export function randomFrom(seed: number) {
  let state = seed >>> 0 || 1
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const shuffled = <T>(list: readonly T[]): readonly T[] => {
    const result = [...list]
    for (let i = result.length - 1; i > 0; i--) {
      const j = below(i + 1)
      ;[result[i], result[j]] = [result[j]!, result[i]!]
    }
    return result
  }
  return { next, below, shuffled, pick: <T>(list: readonly T[]): T => list[below(list.length)]! }
}
