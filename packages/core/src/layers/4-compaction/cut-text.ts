/**
 * Cuts a text to a number of tokens: at a line end where there is one, and never inside a character. The result fits by the same
 * estimate that the caller uses.
 */

export type Estimate = (text: string) => number

export interface TextToCut {
  readonly text: string
  /** Tokens. */
  readonly limit: number
  readonly estimate: Estimate
}

// No tokenizer averages more characters per token, so a longer text need not be measured. A short text is measured in any case.
const MOST_CHARACTERS_PER_TOKEN = 16
const SHORT = 10_000 // characters

/** How many characters can fit into a limit in tokens. */
export const charactersWithin = (tokens: number): number =>
  Math.max(SHORT, Math.ceil(tokens) * MOST_CHARACTERS_PER_TOKEN)

export function fits({ text, limit, estimate }: TextToCut): boolean {
  return text.length <= charactersWithin(limit) && estimate(text) <= limit
}

/** The text itself where it fits, else its beginning. */
export function cutText({ text, limit, estimate }: TextToCut): string {
  if (fits({ text, limit, estimate })) return text
  const most = Math.min(text.length, charactersWithin(limit))
  const length = largest(most, (characters) => estimate(text.slice(0, characters)) <= limit)
  const lineEnd = text.lastIndexOf("\n", length)
  if (lineEnd > 0) return text.slice(0, lineEnd)
  return text.slice(0, splitsPair(text, length) ? length - 1 : length)
}

/** The largest number up to `most` for which it holds, or 0. It must hold for all smaller ones too. */
export function largest(most: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}
