/**
 * Text cut to a number of tokens. It is cut at a line end where there is one, never inside a character, and what is left
 * fits by the very estimate that was asked for.
 */

export type Estimate = (text: string) => number

export interface TextToCut {
  readonly text: string
  /** Tokens. */
  readonly limit: number
  readonly estimate: Estimate
}

// No tokenizer puts more characters than this into a token on average: beyond it nothing needs to be measured. What is short is
// measured in any case.
const MOST_CHARACTERS_PER_TOKEN = 16
const SHORT = 10_000 // characters

/** How many characters are worth looking at for a limit in tokens. */
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

/** The largest number up to `most` that holds, where all smaller ones do; 0 where none does. */
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
