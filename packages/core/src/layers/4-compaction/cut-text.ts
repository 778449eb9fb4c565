/**
 * Cuts texts that are too long: to their beginning, or by taking out the middle. At a line end where there is one, and never inside a
 * character.
 */
import { grouped } from "../../base/grouped.ts"

export type Estimate = (text: string) => number

interface TextToCut {
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

function fits({ text, limit, estimate }: TextToCut): boolean {
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

const HEAD_SHARE = 2 / 3 // of what is kept; the end gets its share too, since errors and totals are there
const NEAR = 1 / 4 // a line end within this part of a piece is near enough to cut there
const LEAST = 100 // characters; below that a cut would leave little more than the line that reports it

/**
 * Takes the middle out of a text that is too long. The beginning says what it is, the end how it came out, and a line between them says how
 * much is missing. The result is never longer than the limit.
 */
export function cutMiddle(text: string, limit: number): string {
  const size = Math.max(LEAST, Math.floor(limit))
  if (text.length <= size) return text
  const { head, tail } = aroundMiddle(text, size - gapLine(text.length).length)
  return `${text.slice(0, head)}${gapLine(text.length - head - tail)}${text.slice(text.length - tail)}`
}

/** How many characters stay at either end of a text that is longer than the room. */
export function aroundMiddle(text: string, room: number): { readonly head: number; readonly tail: number } {
  const forHead = Math.floor(room * HEAD_SHARE)
  return { head: headOf(text, forHead).length, tail: tailOf(text, room - forHead).length }
}

const gapLine = (missing: number) => `\n[… ${grouped(missing)} characters left out here …]\n`

function headOf(text: string, size: number): string {
  const lineEnd = text.lastIndexOf("\n", size)
  if (lineEnd >= size * (1 - NEAR)) return text.slice(0, lineEnd)
  return text.slice(0, splitsCharacter(text, size) ? size - 1 : size)
}

function tailOf(text: string, size: number): string {
  const start = text.length - size
  const lineStart = text.indexOf("\n", start - 1) + 1
  if (lineStart > 0 && lineStart <= start + size * NEAR) return text.slice(lineStart)
  return text.slice(splitsCharacter(text, start) ? start + 1 : start)
}

/** Whether a cut here would leave half a character on each side. */
function splitsCharacter(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}
