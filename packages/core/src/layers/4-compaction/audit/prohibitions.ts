/** Rules of the user that a summary turns round: a sentence that has the words of a "never" or "don't", and neither. */
import { standingRules } from "../../../views/record/standing-rules.ts"
import type { Claim, Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { contentWords, isNegated, phrase, sentencesIn, shareIn, stem, tokensOf } from "./text.ts"

export interface Prohibition {
  readonly text: string
  readonly words: ReadonlySet<string>
}

/** What makes a sentence a rule, and not what it is about. */
const MARKS = new Set(
  "always never not don dont must make sure prefer avoid remember future forward going circumstances matter whenever immer nie niemals nicht bitte stets toujours jamais pas siempre nunca sempre mai altijd nooit 请 不 要 别 勿 禁 止 绝 从 必 须"
    .split(" ")
    .map(stem),
)
const SAME_SHARE = 0.8 // of the rule's words
const LARGEST_RATIO = 2.2 // a sentence with many more words is about something else
const FEWEST_WORDS = 2

const isQuestion = (text: string) =>
  /[?？؟]\s*$|^\W*(?:why (?:don.?t|not)|(?:don|can|couldn|shouldn|won|wouldn|didn|isn|aren|doesn)['’]t (?:you|we|it|this|that|they))\b/iu.test(
    text,
  )

export function prohibitionsIn({ turns }: Source): readonly Prohibition[] {
  const allowed = turns.flatMap(({ text }) =>
    sentencesIn(text)
      .filter((each) => !isNegated(each.text))
      .map((each) => contentWords(each.text)),
  )
  const rules = [...new Set(turns.flatMap(({ text }) => standingRules(text)))].filter(
    (rule) => isNegated(rule) && !isQuestion(rule),
  )
  return rules
    .map((text) => ({ text, words: wordsOf(text) }))
    .filter(({ words }) => words.size >= FEWEST_WORDS && !allowed.some((other) => shareIn(words, other) >= SAME_SHARE))
}

const wordsOf = (text: string) => new Set([...contentWords(text)].filter((word) => !MARKS.has(word)))

export function prohibitionClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  const rules = prohibitionsIn(source)
  return parts.flatMap((part): Claim[] => {
    if (part.isCode) return []
    const claim = (isSupported: boolean, instead: string): Claim[] => [
      { class: "prohibitions", text: part.text, at: part.at, isSupported, sentence: part, instead },
    ]
    const words = wordsOf(part.text)
    const rule = rules.find(
      (each) => words.size <= each.words.size * LARGEST_RATIO + 1 && shareIn(each.words, words) >= SAME_SHARE,
    )
    if (rule && (!part.isQuoted || isNegated(part.text))) return claim(isNegated(part.text), rule.text)
    const before = isNegated(part.text) ? undefined : lostBefore(part.text, source)
    if (before !== undefined) return claim(false, `${before} ${part.text}`)
    return rule ? claim(true, rule.text) : []
  })
}

const FEWEST_TOKENS = 4 // fewer are in any text
const MOST_PLACES = 20
const JUST_BEFORE = /(?:never|do not|don t|must not|should not|nicht|nie|niemals|不 要) $/

/** The "never" or "do not" before these words, where they never occur without it. */
function lostBefore(text: string, { words }: Source): string | undefined {
  const tokens = tokensOf(text)
  if (tokens.length < FEWEST_TOKENS) return undefined
  const wanted = phrase(tokens)
  let found: string | undefined
  for (let at = words.indexOf(wanted), places = 0; at >= 0; at = words.indexOf(wanted, at + 1)) {
    found = JUST_BEFORE.exec(words.slice(Math.max(0, at - 15), at + 1))?.[0].trim()
    if (found === undefined || ++places >= MOST_PLACES) return found
  }
  return found
}
