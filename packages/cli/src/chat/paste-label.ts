/** The label of a long pasted text in the input line, such as `[Pasted text #3 +120 lines]`. Keys treat it as one letter. */

const SOURCE = String.raw`\[Pasted text #([1-9]\d{0,14}) \+[\d,]+ (?:lines?|characters?)\]`

/** Matches a label. The first group is its number. */
export const PASTE_LABEL = new RegExp(SOURCE, "g")

export interface LabelRange {
  readonly start: number
  readonly end: number
}

/** The label around an offset, or at the given edge of it. */
export function labelAround(text: string, at: number, edge?: "start" | "end"): LabelRange | undefined {
  if (!text.includes("[Pasted text #")) return undefined // fast path, because this runs for every key
  for (const { index, 0: label } of text.matchAll(PASTE_LABEL)) {
    const end = index + label.length
    const isInside = at > index && at < end
    if (isInside || (edge === "start" && at === index) || (edge === "end" && at === end)) return { start: index, end }
  }
  return undefined
}
