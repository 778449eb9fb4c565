/** The label of a long pasted text in the input line, such as `[Pasted text #3 +120 lines]`. Keys treat it as one letter. */

const SOURCE = String.raw`\[Pasted text #([1-9]\d{0,14}) \+[\d,]+ (?:lines?|characters?)\]`

/** The first group is its number. */
export const PASTE_LABEL = new RegExp(SOURCE, "g")

export interface LabelRange {
  readonly start: number
  readonly end: number
}

/** The label that a place in the text is inside of, or at the given edge of. */
export function labelAround(text: string, at: number, edge?: "start" | "end"): LabelRange | undefined {
  if (!text.includes("[Pasted text #")) return undefined // every key asks
  for (const { index, 0: label } of text.matchAll(PASTE_LABEL)) {
    const end = index + label.length
    const isInside = at > index && at < end
    if (isInside || (edge === "start" && at === index) || (edge === "end" && at === end)) return { start: index, end }
  }
  return undefined
}
