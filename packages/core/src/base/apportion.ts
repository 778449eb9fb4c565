/** Rounds the parts of a total so that they add up to it. */

/** Divides whole units in proportion to the values, by largest remainder. The units add up to `total`, unless all values are 0. */
export function apportion(values: readonly number[], total: number): readonly number[] {
  const sum = values.reduce((all, value) => all + value, 0)
  if (sum <= 0) return values.map(() => 0)
  const exact = values.map((value) => (value / sum) * total)
  const units = exact.map(Math.floor)
  const missing = total - units.reduce((all, count) => all + count, 0)
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value % 1 }))
    .sort((a, b) => b.remainder - a.remainder)
  for (const { index } of byRemainder.slice(0, missing)) units[index]! += 1
  return units
}
