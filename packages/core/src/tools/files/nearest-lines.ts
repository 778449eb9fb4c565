/** Finds the lines most similar to a text that a file does not contain, so that the next edit succeeds. */
import { linesOf } from "./line-endings.ts"
import { numberLines } from "./numbered-lines.ts"
import { likenessTo } from "./similarity.ts"

const MOST_LINES_SHOWN = 12
const MOST_LINES_LOOKED_AT = 20_000
const MOST_CHARACTERS_COMPARED = 300 // of a line
const LIKE_ENOUGH = 0.5

export interface NearestLines {
  readonly shown: readonly string[]
  /** The lines differ only in leading and trailing white space. */
  readonly onlySpaceDiffers: boolean
}

/** Looks for the longest of the wanted lines, and shows as many lines around it as were wanted. */
export function nearestLines(text: string, wanted: string): NearestLines | undefined {
  const lines = linesOf(text)
  const wantedLines = linesOf(wanted)
  const anchor = longestOf(wantedLines)
  const best = mostLike(lines, wantedLines[anchor] ?? "")
  if (best === undefined) return undefined
  const from = Math.max(0, best - anchor)
  const found = lines.slice(from, from + wantedLines.length)
  return {
    shown: numberLines(found.slice(0, MOST_LINES_SHOWN), from + 1),
    onlySpaceDiffers: wantedLines.every((line, i) => line.trim() === found[i]?.trim()),
  }
}

function longestOf(lines: readonly string[]): number {
  return lines.reduce((longest, line, at) => (line.trim().length > lines[longest]!.trim().length ? at : longest), 0)
}

function mostLike(lines: readonly string[], wanted: string): number | undefined {
  const likeness = likenessTo(wanted.slice(0, MOST_CHARACTERS_COMPARED))
  let best: { readonly at: number; readonly score: number } | undefined
  for (const [at, line] of lines.slice(0, MOST_LINES_LOOKED_AT).entries()) {
    const score = likeness(line.slice(0, MOST_CHARACTERS_COMPARED))
    if (score > (best?.score ?? LIKE_ENOUGH)) best = { at, score }
  }
  return best?.at
}
