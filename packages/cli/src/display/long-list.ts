/**
 * Shortens long lists on a screen: the first entries, the number of others, and the command that shows them. In a pipe everything is
 * printed.
 */
import { formatNumber } from "./numbers.ts"

const MAX_ON_SCREEN = 50 // about two screens

export interface ShortenedList<T> {
  readonly shown: readonly T[]
  /** Lines to print after the entries. Empty if all are shown. */
  readonly rest: readonly string[]
}

export interface ShortenOptions {
  /** Whether to shorten the list. Default: false. */
  readonly isShort?: boolean | undefined
  readonly max?: number
  /** Command line that shows the complete list. */
  readonly seeAll: string
}

export function shortenList<T>(
  items: readonly T[],
  { isShort = false, max = MAX_ON_SCREEN, seeAll }: ShortenOptions,
): ShortenedList<T> {
  if (!isShort || items.length <= max) return { shown: items, rest: [] }
  return { shown: items.slice(0, max), rest: [`… and ${formatNumber(items.length - max)} more. To see all: ${seeAll}`] }
}
