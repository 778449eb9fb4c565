/**
 * Exact replacement in a text. Only line endings may differ (`\n` finds `\r\n`). The rest of the text stays the same byte for byte, and
 * the new text is a value, never a pattern.
 */
import { withEndsOf, withPlainEnds } from "./line-endings.ts"

export interface Replace {
  readonly old: string
  readonly fresh: string
  readonly all: boolean
}

export type Replaced =
  | {
      readonly state: "replaced"
      readonly text: string
      /** For each replacement: its first line in the new text, and how many lines it has. */
      readonly places: readonly { readonly line: number; readonly lines: number }[]
    }
  | { readonly state: "missing" }
  /** Found more than once, on these lines. */
  | { readonly state: "ambiguous"; readonly lines: readonly number[] }

export function replaceText(text: string, { old, fresh, all }: Replace): Replaced {
  const plain = withPlainEnds(text)
  const [wanted, put] = [withPlainEnds(old), withPlainEnds(fresh)]
  // Overlapping finds count: "aa" in "aaa" could be meant in two ways.
  const found = findAll(plain, wanted, all ? wanted.length : 1)
  if (found.length === 0) return { state: "missing" }
  if (found.length > 1 && !all) return { state: "ambiguous", lines: lineNumbers(plain, found) }

  const bounds = found.flatMap((at) => [at, at + wanted.length])
  const [starts, ends] = unzip(plain.length === text.length ? bounds : placesIn(text, bounds))
  const kept = [...starts.map((start, i) => text.slice(i === 0 ? 0 : ends[i - 1], start)), text.slice(ends.at(-1))]
  const moved = found.map((at, i) => at + i * (put.length - wanted.length))
  const lines = put.split("\n").length
  const result = kept.join(withEndsOf(text, put))
  return {
    state: "replaced",
    text: result,
    places: lineNumbers(withPlainEnds(result), moved).map((line) => ({ line, lines })),
  }
}

function findAll(text: string, part: string, step: number): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) found.push(at)
  return found
}

/** Maps ascending positions in the text with plain line endings to positions in the text itself. */
function placesIn(text: string, plainPlaces: readonly number[]): readonly number[] {
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

/** The line numbers, from 1, of ascending positions. */
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
