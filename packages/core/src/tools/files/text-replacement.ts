/**
 * Exact replacement in a text. Only line endings may differ (`
 * ` matches `\r
 * `). The rest of the text remains identical, and the replacement
 * is a literal value, never a pattern.
 */
import { matchLineEndings, normalizeLineEndings } from "./line-endings.ts"

export interface ReplaceOptions {
  readonly old: string
  readonly replacement: string
  readonly all: boolean
}

export type ReplaceResult =
  | {
      readonly state: "replaced"
      readonly text: string
      /** For each replacement: its first line in the new text, and its number of lines. */
      readonly places: readonly { readonly line: number; readonly lines: number }[]
    }
  | { readonly state: "missing" }
  /** Found more than once, on the lines given. */
  | { readonly state: "ambiguous"; readonly lines: readonly number[] }

export function replaceText(text: string, { old, replacement, all }: ReplaceOptions): ReplaceResult {
  const plain = normalizeLineEndings(text)
  const [searched, inserted] = [normalizeLineEndings(old), normalizeLineEndings(replacement)]
  // Overlapping matches count: "aa" in "aaa" is ambiguous.
  const found = findAll(plain, searched, all ? searched.length : 1)
  if (found.length === 0) return { state: "missing" }
  if (found.length > 1 && !all) return { state: "ambiguous", lines: lineNumbers(plain, found) }

  const bounds = found.flatMap((at) => [at, at + searched.length])
  const [starts, ends] = unzip(plain.length === text.length ? bounds : toOriginalPositions(text, bounds))
  const unchanged = [...starts.map((start, i) => text.slice(i === 0 ? 0 : ends[i - 1], start)), text.slice(ends.at(-1))]
  const newPositions = found.map((at, i) => at + i * (inserted.length - searched.length))
  const lines = inserted.split("\n").length
  const result = unchanged.join(matchLineEndings(text, inserted))
  return {
    state: "replaced",
    text: result,
    places: lineNumbers(normalizeLineEndings(result), newPositions).map((line) => ({ line, lines })),
  }
}

function findAll(text: string, part: string, step: number): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) found.push(at)
  return found
}

/** Maps ascending positions in the normalized text to positions in the original text. */
function toOriginalPositions(text: string, plainPlaces: readonly number[]): readonly number[] {
  let returns = 0
  let next = text.indexOf("\r\n")
  return plainPlaces.map((place) => {
    while (next >= 0 && next - returns < place) {
      returns++
      next = text.indexOf("\r\n", next + 2)
    }
    return place + returns
  })
}

/** Line numbers of ascending positions, starting at 1. */
function lineNumbers(text: string, places: readonly number[]): readonly number[] {
  let line = 1
  let next = text.indexOf("\n")
  return places.map((place) => {
    while (next >= 0 && next < place) {
      line++
      next = text.indexOf("\n", next + 1)
    }
    return line
  })
}

function unzip(bounds: readonly number[]): readonly [starts: readonly number[], ends: readonly number[]] {
  return [bounds.filter((_, i) => i % 2 === 0), bounds.filter((_, i) => i % 2 === 1)]
}
