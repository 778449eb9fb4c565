/**
 * Numbers in a summary. Each must occur in the source near a word that the summary uses it with: in a long conversation nearly every short
 * number occurs somewhere, as a line number or in a listing.
 */
import type { Claim, Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { contentWords, stem, tokensOf } from "./text.ts"

const NUMBER = /(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:[kKmM](?![\w])|%)?/gu
const ROUNDED =
  /(?:~|≈|\b(?:about|around|approximately|roughly|nearly|almost|over|under|more than|less than|fewer than|up to|at least|circa|ca\.|etwa|rund))\s*(?:[\d.,]+\s?[a-z%]{0,3}\s?(?:-|–|to)\s?)?$/i
const COUNTED = 20 // up to here a number is mostly a count, which the model may have made itself
const ORDERED = /(?:\b(?:step|phase|part|section|item|option|finding|task|round|chapter|schritt|teil)s?|#)\s*$/i
const LONGEST_LIST = 1_000
const AROUND_CLAIM = 6 // words to each side of a number that say what it is about
const LOOKED_AT = 120 // characters to each side in which those words are
const JUST_BEFORE = 40 // characters in which a word says that a number is rounded or counts parts
const AROUND_SOURCE = 14 // words to each side of an occurrence where one of them must be

export function numberClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  return parts.flatMap((part) => {
    const { names } = part
    let next = 0 // names and numbers come in the same order
    return [...part.text.matchAll(NUMBER)].flatMap(({ 0: found, index }): Claim[] => {
      const end = index + found.length
      while (next < names.length && names[next]!.at + names[next]!.text.length <= index) next++
      if (next < names.length && end > names[next]!.at) return []
      if (isOwnNumbering(part, index, end) || isRounded(part.text, index, found)) return []
      const value = found.replaceAll(",", "").replace(/[%]$/, "")
      const hasUnit =
        /^\s?(?:%|ms|s|sec|seconds?|minutes?|min|h|hours?|days?|weeks?|[kmgt]i?b|bytes?|px|usd|eur|\$)\b/i.test(
          part.text.slice(end - (found.endsWith("%") ? 1 : 0)),
        )
      if (Number(value) <= COUNTED && !hasUnit && !/^0\d\d/.test(value)) return []
      const isSupported = isKnown(value, source, contextOf(part.text, index, end))
      return [{ class: "numbers", text: found, at: part.at + index, isSupported, sentence: part }]
    })
  })
}

/** Numbers that order the summary: of a list, a heading, a step, a part. */
function isOwnNumbering({ text }: Part, at: number, end: number): boolean {
  if (at === 0 && /^[.):]/.test(text.slice(end))) return true
  const before = text.slice(Math.max(0, at - JUST_BEFORE), at)
  // a range of lines ends where the model counted to
  if (/\blines?\s+\d+\s?(?:-|–|to)\s?$/i.test(before)) return true
  return ORDERED.test(before) && Number(text.slice(at, end)) < LONGEST_LIST
}

const isRounded = (text: string, at: number, found: string): boolean =>
  ROUNDED.test(text.slice(Math.max(0, at - JUST_BEFORE), at)) ||
  /[kKmM]$/.test(found) ||
  /^\s?\+/.test(text.slice(at + found.length))

function contextOf(text: string, at: number, end: number): ReadonlySet<string> {
  const before = tokensOf(text.slice(Math.max(0, at - LOOKED_AT), at)).slice(-AROUND_CLAIM)
  const after = tokensOf(text.slice(end, end + LOOKED_AT)).slice(0, AROUND_CLAIM)
  return contentWords([...before, ...after].filter((token) => !/^\d/.test(token)).join(" "))
}

function isKnown(value: string, { numbers, index: { tokens } }: Source, context: ReadonlySet<string>): boolean {
  const places = numbers.get(value) ?? numbers.get(value.replace(/\.0+$/, ""))
  if (!places) return false
  if (context.size === 0) return true
  return places.some((place) => {
    for (let at = Math.max(0, place - AROUND_SOURCE); at <= place + AROUND_SOURCE && at < tokens.length; at++)
      if (at !== place && context.has(stem(tokens[at]!))) return true
    return false
  })
}
