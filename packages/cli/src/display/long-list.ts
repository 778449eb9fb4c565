/** Long lists on a screen: the first ones, how many more there are, and how to see them. In a pipe everything is printed. */
import { formatNumber } from "./numbers.ts"

const MAX_ON_SCREEN = 50 // about two screens

export interface ShortenedList<T> {
  readonly shown: readonly T[]
  /** What to print after them. Empty where all are shown. */
  readonly rest: readonly string[]
}

export interface ShortenOptions {
  /** Shorten it. Default: no. */
  readonly isShort?: boolean | undefined
  readonly max?: number
  /** What shows all of them: a command line. */
  readonly seeAll: string
}

export function shortenList<T>(
  items: readonly T[],
  { isShort = false, max = MAX_ON_SCREEN, seeAll }: ShortenOptions,
): ShortenedList<T> {
  if (!isShort || items.length <= max) return { shown: items, rest: [] }
  return { shown: items.slice(0, max), rest: [`… and ${formatNumber(items.length - max)} more. To see all: ${seeAll}`] }
}
