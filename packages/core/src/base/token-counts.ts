/** Tokens of one or more responses, by how they are billed. */
export interface TokenCounts {
  readonly input: number
  readonly output: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly cacheRead: number
}

export const NO_TOKENS: TokenCounts = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 }

const KEYS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const

function combine(value: (key: keyof TokenCounts) => number): TokenCounts {
  return {
    input: value("input"),
    output: value("output"),
    cacheWrite5m: value("cacheWrite5m"),
    cacheWrite1h: value("cacheWrite1h"),
    cacheRead: value("cacheRead"),
  }
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine((key) => a[key] + b[key])
}

export function subtractCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine((key) => a[key] - b[key])
}

export function divideCounts(counts: TokenCounts, by: number): TokenCounts {
  return combine((key) => counts[key] / by)
}

export function roundCounts(counts: TokenCounts): TokenCounts {
  return combine((key) => Math.round(counts[key]))
}

/** The weighted sum of the counts. */
export function weighCounts(counts: TokenCounts, weights: Readonly<Record<keyof TokenCounts, number>>): number {
  return KEYS.reduce((sum, key) => sum + counts[key] * weights[key], 0)
}

/** The whole input of a request, cached or not. */
export function inputTokens(counts: TokenCounts): number {
  return counts.input + counts.cacheWrite5m + counts.cacheWrite1h + counts.cacheRead
}
