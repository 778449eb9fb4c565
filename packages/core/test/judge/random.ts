/** Seeded random choices: the same seed generates the same lines on every machine. */

export interface Random {
  /** An integer from 0 up to, but not including, `limit`. */
  below(limit: number): number
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
  /** Between 0 and `max` members, each drawn independently. */
  some<T>(list: readonly T[], max: number): readonly T[]
}

/** Combines several numbers into one seed: that of the run and that of the line. */
export function randomFrom(...seeds: readonly number[]): Random {
  let state = seeds.reduce((mixed, seed) => mix(mixed ^ Math.imul(seed + 1, 0x9e3779b1)), 0x2545f491)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    return mix(state) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  return {
    below,
    pick,
    chance: (share) => next() < share,
    some: (list, max) => Array.from({ length: list.length === 0 ? 0 : below(max + 1) }, () => pick(list)),
  }
}

function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
