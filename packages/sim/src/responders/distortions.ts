/**
 * Distortions of a model's own sentences: one number altered, two names exchanged, one negation removed. They need no facts from the
 * conversation, so a recorded summary can be distorted at every position that allows it.
 */

export const DISTORTION_NAMES = ["alters a number", "exchanges two names", "removes a negation"] as const
export type DistortionName = (typeof DISTORTION_NAMES)[number]

export interface Distortion {
  readonly name: DistortionName
  readonly text: string
  /** The original line. `text` has the distorted one. */
  readonly original: string
  readonly distorted: string
}

const NUMBER = /(?<![\w.,:/#-])\d{2,}(?:,\d{3})*(?![\w.,:/-]*\w)/g
const NAME =
  /(?<![\w/.-])(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:_[a-z0-9]+)+|[\w-]+\.(?:ts|js|go|py|rs|tsx|md|json|yaml|sh))(?![\w/-])/g
/** Between two names these make a list, and a list has no order. */
const LISTED = /^[\s`*"'(),;/|+&]*(?:and|or|und|oder)?[\s`*"'(),;/|+&]*$/
const NEGATION =
  /\b(?:do not|does not|did not|must not|should not|never|not|cannot)\s+|\b(?:do|does|did|must|should|is|are|was|were|wo|ca|could|would)n['’]t\s+/gi
const AFFIRMED: Readonly<Record<string, string>> = { cannot: "can " }

/** Every possible distortion of a text, ordered by position. Fenced code is left unchanged. */
export function findDistortions(text: string): readonly Distortion[] {
  const found: Distortion[] = []
  let at = 0
  let isCode = false
  for (const line of text.split("\n")) {
    const start = at
    at += line.length + 1
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    else if (!isCode)
      for (const { name, distorted } of distortLine(line))
        found.push({
          name,
          original: line,
          distorted,
          text: text.slice(0, start) + distorted + text.slice(start + line.length),
        })
  }
  return found
}

function distortLine(line: string): readonly { readonly name: DistortionName; readonly distorted: string }[] {
  const replaced = (from: number, to: number, instead: string) => line.slice(0, from) + instead + line.slice(to)
  const numbers = [...line.matchAll(NUMBER)]
    .filter(({ index }) => line.slice(0, index).trim() !== "")
    .map(({ 0: number, index }) => {
      const place = number.length - 1 - (number.length > 3 ? 1 : 0)
      const digit = (Number(number[place]) + 3) % 10
      return replaced(index, index + number.length, number.slice(0, place) + digit + number.slice(place + 1))
    })
  const negations = [...line.matchAll(NEGATION)].map(({ 0: negation, index }) =>
    replaced(index, index + negation.length, AFFIRMED[negation.trim().toLowerCase()] ?? ""),
  )
  return [
    ...numbers.map((distorted) => ({ name: "alters a number" as const, distorted })),
    ...swapNames(line).map((distorted) => ({ name: "exchanges two names" as const, distorted })),
    ...negations.map((distorted) => ({ name: "removes a negation" as const, distorted })),
  ]
}

/** Swaps two neighbouring names of one sentence that are related by a word between them. */
function swapNames(line: string): readonly string[] {
  const names = [...line.matchAll(NAME)]
  return names.flatMap((one, nth) => {
    const other = names[nth + 1]
    if (!other || other[0] === one[0]) return []
    const between = line.slice(one.index + one[0].length, other.index)
    if (LISTED.test(between) || /[.!?;]\s/.test(between)) return []
    return [line.slice(0, one.index) + other[0] + between + one[0] + line.slice(other.index + other[0].length)]
  })
}
