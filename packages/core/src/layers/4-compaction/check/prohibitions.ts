/**
 * Step 4, check. Rules of the user that a summary turns round. A sentence that has the words of a "never" or "don't", and neither; or words
 * that the conversation has only with a negation between them.
 */
import type { Steps } from "../../../base/in-slices.ts"
import { standingRules } from "../../../views/record/standing-rules.ts"
import type { Claim, Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { contentWords, isNegated, placesIn, sentencesIn, shareIn, stem } from "./text.ts"
import type { TokenIndex } from "./token-index.ts"

interface Prohibition {
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

function prohibitionsIn({ turns }: Source): readonly Prohibition[] {
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

export function* prohibitionSteps(parts: readonly Part[], source: Source): Steps<readonly Claim[]> {
  const rules = prohibitionsIn(source)
  yield
  const tokens = parts.flatMap((part) => part.tokens)
  const inside = yield* lostNegations(tokens, source.index)
  const claims: Claim[] = []
  let start = 0
  for (const [at, part] of parts.entries()) {
    const end = start + part.tokens.length
    const here = inside.find((lost) => lost.at >= start && lost.at < end)
    const lost = here && { ...here, at: here.at - start }
    if (!part.isCode) claims.push(...prohibitionOf(part, { rules, lost, before: () => lostBefore(parts, at, source) }))
    start = end
    yield
  }
  return claims
}

interface Turned {
  readonly rules: readonly Prohibition[]
  /** A negation that is missing inside the part. */
  readonly lost: Lost | undefined
  /** One that is missing before it. */
  readonly before: () => string | undefined
}

function prohibitionOf(part: Part, { rules, lost, before }: Turned): readonly Claim[] {
  const claim = (isSupported: boolean, instead: string): Claim[] => [
    { class: "prohibitions", text: part.text, at: part.at, isSupported, sentence: part, instead },
  ]
  const words = wordsOf(part.text)
  const rule = rules.find(
    (each) => words.size <= each.words.size * LARGEST_RATIO + 1 && shareIn(each.words, words) >= SAME_SHARE,
  )
  if (rule && (!part.isQuoted || isNegated(part.text))) return claim(isNegated(part.text), rule.text)
  const missing = before()
  if (missing !== undefined) return claim(false, `${missing} ${part.text}`)
  if (lost) return claim(false, withNegation(part, lost.at, lost.negation))
  return rule ? claim(true, rule.text) : []
}

function withNegation({ text, tokens }: Part, at: number, negation: string): string {
  const place = Math.max(0, placesIn(text, tokens)[at]!)
  return `${text.slice(0, place)}${negation} ${text.slice(place)}`
}

const FEWEST_TOKENS = 4 // fewer are in any text
const MOST_PLACES = 20
const JUST_BEFORE = /(?: |^)(?:never|do not|don t|must not|should not|can not|cannot|nicht|nie|niemals|不 要)$/

/** The "never" or "do not" before these words, where they never occur without it. */
function lostBefore(parts: readonly Part[], at: number, { index }: Source): string | undefined {
  const { tokens } = parts[at]!
  if (tokens.length < FEWEST_TOKENS || negationAtEnd(parts[at - 1]?.tokens ?? []) !== undefined) return undefined
  let found: string | undefined
  for (const place of index.placesOf(tokens, MOST_PLACES)) {
    found = negationAtEnd(index.tokens.slice(Math.max(0, place - 2), place))
    if (found === undefined) return undefined
  }
  return found
}

const negationAtEnd = (tokens: readonly string[]): string | undefined =>
  JUST_BEFORE.exec(tokens.slice(-2).join(" "))?.[0].trim()

const NEGATIONS: readonly (readonly string[])[] = [
  "do not",
  "don t",
  "does not",
  "doesn t",
  "must not",
  "mustn t",
  "should not",
  "shouldn t",
  "can not",
  "can t",
  "never",
  "not",
  "cannot",
  "without",
  "nicht",
  "niemals",
  "nie",
  "jamais",
  "nunca",
  "不 要",
  "不",
].map((each) => each.split(" "))
const BEFORE = 2 // words that must be the same on each side
const AFTER = 2
const MOST_AROUND = 20 // that have the same words around a negation
const TOKENS_PER_STEP = 500
const FEWEST_AROUND = 7 // in a row, on both sides together

interface Lost {
  /** Of the first word after what is missing. */
  readonly at: number
  /** What is missing. */
  readonly negation: string
}

/** Finds a "never" or a "do not" that a summary lost: words that the conversation has in a row only with it in between. */
function* lostNegations(tokens: readonly string[], index: TokenIndex): Steps<readonly Lost[]> {
  const wanted = new Set<string>()
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) wanted.add(key(tokens, at, at))
  const around = new Map<string, { readonly from: number; readonly to: number }[]>()
  for (const words of NEGATIONS) {
    yield
    for (const from of index.at(words[0]!)) {
      const to = from + words.length
      if (words.some((word, step) => index.tokens[from + step] !== word)) continue
      const found = key(index.tokens, from, to)
      if (!wanted.has(found)) continue
      const places = around.get(found)
      if (places && places.length < MOST_AROUND) places.push({ from, to })
      else if (!places) around.set(found, [{ from, to }])
    }
  }
  const lost: Lost[] = []
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) {
    if (at % TOKENS_PER_STEP === 0) yield
    const places = around.get(key(tokens, at, at))
    if (!places || index.has(tokens.slice(at - BEFORE, at + AFTER))) continue
    for (const { from, to } of places) {
      const before = sameBefore(tokens, at, index.tokens, from)
      const after = sameAfter(tokens, at, index.tokens, to)
      if (before + after < FEWEST_AROUND) continue
      lost.push({ at, negation: index.tokens.slice(from, to).join(" ").replace(/ t$/, "'t") })
      break
    }
  }
  return lost
}

const key = (tokens: readonly string[], end: number, start: number) =>
  `${tokens.slice(Math.max(0, end - BEFORE), end).join(" ")}|${tokens.slice(start, start + AFTER).join(" ")}`

const LONGEST = 40 // words that are compared

function sameBefore(some: readonly string[], at: number, others: readonly string[], from: number): number {
  let count = 0
  while (count < LONGEST && at > count && from > count && some[at - 1 - count] === others[from - 1 - count]) count++
  return count
}

function sameAfter(some: readonly string[], at: number, others: readonly string[], to: number): number {
  let count = 0
  while (count < LONGEST && at + count < some.length && some[at + count] === others[to + count]) count++
  return count
}
