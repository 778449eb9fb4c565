/** Non-negative least squares by coordinate descent on the normal equations: short and accurate enough for the fits here. */

export interface SampleRow {
  /** Columns with a value other than zero. */
  readonly row: ReadonlyMap<number, number>
  readonly target: number
}

export interface LeastSquares {
  readonly rows: readonly SampleRow[]
  readonly columns: number
  /** Value that each weight tends to if the rows do not determine it. `pull` says how strongly. */
  readonly prior: readonly number[]
  readonly pull: readonly number[]
}

const SWEEPS = 2_000
const SETTLED = 1e-7

export function nonNegativeLeastSquares({ rows, columns, prior, pull }: LeastSquares): Float64Array {
  const gram = Array.from({ length: columns }, () => new Float64Array(columns))
  const right = Float64Array.from(prior, (weight, column) => weight * pull[column]!)
  for (let column = 0; column < columns; column++) gram[column]![column] = pull[column]!
  for (const { row, target } of rows) {
    for (const [column, value] of row) {
      right[column]! += value * target
      for (const [other, otherValue] of row) gram[column]![other]! += value * otherValue
    }
  }
  const weights = Float64Array.from(prior)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let moved = 0
    for (let column = 0; column < columns; column++) {
      const line = gram[column]!
      let rest = right[column]!
      for (let other = 0; other < columns; other++) rest -= line[other]! * weights[other]!
      const weight = Math.max(0, weights[column]! + rest / line[column]!)
      moved = Math.max(moved, Math.abs(weight - weights[column]!))
      weights[column] = weight
    }
    if (moved < SETTLED) break
  }
  return weights
}
