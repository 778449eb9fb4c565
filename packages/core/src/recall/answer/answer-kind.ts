/**
 * Distinguishes an answer from a text with the same words: it contains what the question asks for (a time, a number, a place, a name),
 * and comes from the speaker who is asked about. Used to order texts with similar scores.
 */

/** For questions that match the first pattern: the pattern that an answer must match. */
const KINDS: readonly (readonly [asked: RegExp, had: RegExp])[] = [
  [
    /^(?:(?:and|so|about) )?(?:when\b|(?:what|which|on what|on which|in which) (?:date|day|month|year|time)\b|how (?:long ago|many (?:days|weeks|months|years))\b)/i,
    /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|days?|weeks?|weekend|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|(?:19|20)\d\d|recently)\b/i,
  ],
  [
    /\bhow (?:many|much|long|old|often|far|big|large|fast|high)\b|\bwhat (?:percentage|number|amount|price|port|version|score|budget)\b/i,
    /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|hundred|thousand|dozen|couple|few)\b/iu,
  ],
  [/\bwhere\b|\b(?:what|which) (?:city|country|place|town|state)\b/i, /\b(?:in|at|to|from|near) (?:the )?\p{Lu}/u],
  [/^who\b|\b(?:called|name of|named)\b/i, /(?<=[\p{Ll},] )\p{Lu}\p{Ll}+/u],
]
const SPEAKER = /^([\p{Lu}][\p{L}\p{N}_-]{1,30}): /u

/** Returns a function from a text to a factor. A factor of 1 is neutral. */
export function answerFactor(question: string, weights: AnswerWeights) {
  const expected = KINDS.find(([asked]) => asked.test(question))?.[1]
  const isNamed = (name: string) => new RegExp(`(?<![\\p{L}\\p{N}])${name}(?![\\p{L}\\p{N}])`, "u").test(question)
  const named = new Map<string, boolean>()
  return (text: string): number => {
    const speaker = SPEAKER.exec(text)?.[1]
    if (speaker !== undefined && !named.has(speaker)) named.set(speaker, isNamed(speaker))
    const own = speaker === undefined ? text : text.slice(speaker.length + 2)
    return (
      (expected?.test(own) ? 1 + weights.kind : 1) *
      (speaker !== undefined && named.get(speaker) ? 1 + weights.speaker : 1)
    )
  }
}

/** By how much each criterion raises a text. */
export interface AnswerWeights {
  readonly kind: number
  readonly speaker: number
}
