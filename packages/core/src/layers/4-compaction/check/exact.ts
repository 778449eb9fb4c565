/**
 * Step 4, check. Exact names in a summary: paths, identifiers, hashes and versions. Each must occur in the source. A path may be relative
 * to another directory: then its parts must occur, and its end must occur without another directory before it.
 */
import type { CooperativeTask } from "../../../base/work.ts"
import { standingRules } from "../../../views/record/user-messages.ts"
import type { AuditSource, TokenIndex } from "./source.ts"
import {
  contentWords,
  isNegated,
  isStopWord,
  positionsIn,
  type SummaryClaim,
  type SummaryName,
  type SummaryPart,
  sentencesIn,
  shareOf,
  stem,
  tokensOf,
} from "./text.ts"

export function* nameSteps(
  parts: readonly SummaryPart[],
  source: AuditSource,
): CooperativeTask<readonly SummaryClaim[]> {
  const known = new Map<string, boolean>()
  const claims: SummaryClaim[] = []
  for (const part of parts) {
    for (const name of part.names) {
      const key = `${name.class} ${name.text}`
      if (!known.has(key)) {
        yield // it may be looked for in all of the source
        known.set(key, isInSource(name, source))
      }
      const isSupported = known.get(key)!
      claims.push({ class: name.class, text: name.text, at: part.at + name.at, isSupported, sentence: part })
    }
  }
  return claims
}

function isInSource({ class: kind, text }: SummaryName, source: AuditSource): boolean {
  const lower = text.toLowerCase()
  switch (kind) {
    case "hashes":
      return source.raw.includes(lower)
    case "versions":
      return source.index.has(tokensOf(text))
    case "paths":
      return lower.includes("://") ? source.raw.includes(lower.replace(/\/$/, "")) : isKnownPath(lower, source)
    default:
      return isKnownIdentifier(text, source)
  }
}

function isKnownIdentifier(text: string, { index, raw }: AuditSource): boolean {
  if (index.has(tokensOf(text)) || raw.includes(text.toLowerCase())) return true
  return /s$/.test(text) && raw.includes(text.slice(0, -1).toLowerCase())
}

const MAX_PARTS = 30 // of a path: each is searched for in the complete source

function isKnownPath(path: string, { index, raw }: AuditSource): boolean {
  const parts = path
    .replace(/^\.\//, "")
    .replace(/:[\d-]+$/, "")
    .split(/[\\/]/)
    .filter((part) => part !== "")
  const fullPath = parts.join("/")
  if (index.has(tokensOf(fullPath)) || occurs(fullPath, raw, "anywhere")) return true
  for (let from = 1; from < Math.min(parts.length, MAX_PARTS); from++) {
    const end = parts.slice(from).join("/")
    if (occurs(end, raw, "at-start") && occurs(parts.slice(0, from).join("/"), raw, "anywhere")) return true
  }
  return false
}

/** Whether a path occurs with complete components; `at-start`: without another directory before it. */
function occurs(path: string, text: string, where: "anywhere" | "at-start"): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const before = text[at - 1] ?? " "
    const isStart =
      where === "at-start" ? !/[\w/\\-]/.test(before) || text.slice(at - 2, at) === "./" : !/[\w-]/.test(before)
    if (isStart && !/[\w-]/.test(text[at + path.length] ?? " ")) return true
  }
  return false
}

const NUMBER = /(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:[kKmM](?![\w])|%)?/gu
const ROUNDED =
  /(?:~|≈|\b(?:about|around|approximately|roughly|nearly|almost|over|under|more than|less than|fewer than|up to|at least|circa|ca\.|etwa|rund))\s*(?:[\d.,]+\s?[a-z%]{0,3}\s?(?:-|–|to)\s?)?$/i
const COUNTED = 20 // up to here a number is mostly a count, which the model may have made itself
const ORDERED = /(?:\b(?:step|phase|part|section|item|option|finding|task|round|chapter|schritt|teil)s?|#)\s*$/i
const MAX_LIST = 1_000
const AROUND_CLAIM = 6 // words to each side of a number that say what it is about
const LOOKED_AT = 120 // characters to each side in which those words are
const JUST_BEFORE = 40 // characters in which a word says that a number is rounded or counts parts
const AROUND_SOURCE = 14 // words to each side of an occurrence where one of them must be

/**
 * Numbers in a summary. Each must occur in the source near a word that the summary uses with it: in a long conversation nearly every short
 * number occurs somewhere, as a line number or in a listing. A number is also wrong if another number clearly has more of those words near
 * it.
 */
export function numberClaims(part: SummaryPart, source: AuditSource): readonly SummaryClaim[] {
  const { names } = part
  const own = ownNumbers(part, source)
  let next = 0 // names and numbers come in the same order
  return [...part.text.matchAll(NUMBER)].flatMap(({ 0: found, index }): SummaryClaim[] => {
    const end = index + found.length
    while (next < names.length && names[next]!.at + names[next]!.text.length <= index) next++
    if (next < names.length && end > names[next]!.at) return []
    if (isOwnNumbering(part, index, end) || isRounded(part.text, index, found)) return []
    const value = found.replaceAll(",", "").replace(/[%]$/, "")
    const hasUnit =
      /^\s?(?:%|ms|s|sec|seconds?|minutes?|min|h|hours?|days?|weeks?|[kmgt]i?b|bytes?|px|usd|eur|\$)\b/i.test(
        part.text.slice(end - (found.endsWith("%") ? 1 : 0)),
      )
    const context = contextOf(part.text, index, end)
    const isCount = Number(value) <= COUNTED && !hasUnit && !/^0\d\d/.test(value)
    const isRefuted = !isLine(part.text, index) && fitsAnotherNumber({ value, own: own(), source, context, isCount })
    const isSupported = !isRefuted && (isCount || isKnownNumber(value, source, context))
    if (isCount && isSupported) return []
    const claim = { class: "numbers", text: found, at: part.at + index, isSupported, sentence: part } as const
    return [isRefuted ? { ...claim, isRefuted } : claim]
  })
}

/** Whether a number only numbers parts of the summary: a list, a heading, a step, a part. */
function isOwnNumbering({ text }: SummaryPart, at: number, end: number): boolean {
  if (at === 0 && /^[.):]/.test(text.slice(end))) return true
  const before = text.slice(Math.max(0, at - JUST_BEFORE), at)
  // a range of lines ends where the model counted to
  if (/\blines?\s+\d+\s?(?:-|–|to)\s?$/i.test(before)) return true
  return ORDERED.test(before) && Number(text.slice(at, end)) < MAX_LIST
}

const isRounded = (text: string, at: number, found: string): boolean =>
  ROUNDED.test(text.slice(Math.max(0, at - JUST_BEFORE), at)) ||
  /[kKmM]$/.test(found) ||
  /^\s?\+/.test(text.slice(at + found.length))

/** The words around a number in a summary, each with its stem. */
type NumberContext = ReadonlyMap<string, string>

function contextOf(text: string, at: number, end: number): NumberContext {
  const before = tokensOf(text.slice(Math.max(0, at - LOOKED_AT), at)).slice(-AROUND_CLAIM)
  const after = tokensOf(text.slice(end, end + LOOKED_AT)).slice(0, AROUND_CLAIM)
  const words = [...before, ...after].filter((token) => !/^\d/.test(token) && !isStopWord(token))
  return new Map(words.map((token) => [token, stem(token)]))
}

function isKnownNumber(value: string, { numbers, index: { tokens } }: AuditSource, around: NumberContext): boolean {
  const context = new Set(around.values())
  const positions = numbers.get(value) ?? numbers.get(value.replace(/\.0+$/, ""))
  if (!positions) return false
  if (context.size === 0) return true
  return positions.some((position) => {
    for (let at = Math.max(0, position - AROUND_SOURCE); at <= position + AROUND_SOURCE && at < tokens.length; at++)
      if (at !== position && context.has(stem(tokens[at]!))) return true
    return false
  })
}

/** Whether this is a line number. Line numbers change with every edit, so that other numbers occur near the same words. */
const isLine = (text: string, at: number): boolean =>
  /(?:\blines?\s*~?|:|\d\s?[-–,]\s?)$/i.test(text.slice(Math.max(0, at - JUST_BEFORE), at))

/** How many more words another number must have near it, chosen on 24 recorded summaries. A count is mostly made by the model itself. */
const MORE_WORDS = { count: 3, number: 2 } as const
const FEW_WORDS = 2 // near its own position: with more of them a number is where it should be
const NEARBY = 8 // words to each side
const COMMON = 1_000 // places of one word: more say little, and cost time

interface NumberUse {
  readonly value: string
  /** All numbers of the sentence; `undefined` if the conversation contains the complete sentence. */
  readonly own: ReadonlySet<string> | undefined
  readonly source: AuditSource
  readonly context: NumberContext
  readonly isCount: boolean
}

/** Computes the numbers of a sentence once, on first use. */
function ownNumbers({ tokens }: SummaryPart, { index }: AuditSource): () => ReadonlySet<string> | undefined {
  let found: { readonly numbers: ReadonlySet<string> | undefined } | undefined
  return () => {
    found ??= { numbers: index.has(tokens) ? undefined : new Set(tokens.filter((token) => /^\d/.test(token))) }
    return found.numbers
  }
}

/** Whether another number with as many digits, which the sentence does not contain, is used with clearly more of these words. */
function fitsAnotherNumber({ value, own, source: { index }, context, isCount }: NumberUse): boolean {
  if (!own?.has(value)) return false
  const words = new Map<number, Set<string>>()
  for (const [token, word] of context) {
    const positions = index.at(token)
    if (positions.length > COMMON) continue
    for (const position of positions)
      for (let at = Math.max(0, position - NEARBY); at <= position + NEARBY && at < index.tokens.length; at++) {
        const other = index.tokens[at]!
        if (other.length !== value.length || !/^\d+$/.test(other) || (other !== value && own.has(other))) continue
        const found = words.get(at)
        if (found) found.add(word)
        else words.set(at, new Set([word]))
      }
  }
  const max = { same: 0, other: 0 }
  for (const [at, found] of words) {
    const kind = index.tokens[at] === value ? "same" : "other"
    max[kind] = Math.max(max[kind], found.size)
  }
  if (max.other - max.same >= MORE_WORDS.count) return true
  return !isCount && max.same < FEW_WORDS && max.other - max.same >= MORE_WORDS.number
}

// Step 4, check. Rules of the user that a summary reverses: a sentence with the words of a "never" or "don't" rule but without the
// negation, or words that occur in the conversation only with a negation between them.

interface Prohibition {
  readonly text: string
  readonly words: ReadonlySet<string>
}

/** Words that make a sentence a rule, as opposed to its subject. */
const RULE_WORDS = new Set(
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

function prohibitionsIn({ turns }: AuditSource): readonly Prohibition[] {
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
    .filter(({ words }) => words.size >= FEWEST_WORDS && !allowed.some((other) => shareOf(words, other) >= SAME_SHARE))
}

const wordsOf = (text: string) => new Set([...contentWords(text)].filter((word) => !RULE_WORDS.has(word)))

export function* prohibitionSteps(
  parts: readonly SummaryPart[],
  source: AuditSource,
): CooperativeTask<readonly SummaryClaim[]> {
  const rules = prohibitionsIn(source)
  yield
  const tokens = parts.flatMap((part) => part.tokens)
  const inside = yield* lostNegations(tokens, source.index)
  const claims: SummaryClaim[] = []
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

interface ProhibitionContext {
  readonly rules: readonly Prohibition[]
  /** A negation that is missing inside the part. */
  readonly lost: LostNegation | undefined
  /** Returns a negation that is missing before the part. */
  readonly before: () => string | undefined
}

function prohibitionOf(part: SummaryPart, { rules, lost, before }: ProhibitionContext): readonly SummaryClaim[] {
  const claim = (isSupported: boolean, instead: string): SummaryClaim[] => [
    { class: "prohibitions", text: part.text, at: part.at, isSupported, sentence: part, instead },
  ]
  const words = wordsOf(part.text)
  const rule = rules.find(
    (each) => words.size <= each.words.size * LARGEST_RATIO + 1 && shareOf(each.words, words) >= SAME_SHARE,
  )
  if (rule && (!part.isQuoted || isNegated(part.text))) return claim(isNegated(part.text), rule.text)
  const missing = before()
  if (missing !== undefined) return claim(false, `${missing} ${part.text}`)
  if (lost) return claim(false, withNegation(part, lost.at, lost.negation))
  return rule ? claim(true, rule.text) : []
}

function withNegation({ text, tokens }: SummaryPart, at: number, negation: string): string {
  const position = Math.max(0, positionsIn(text, tokens)[at]!)
  return `${text.slice(0, position)}${negation} ${text.slice(position)}`
}

const FEWEST_TOKENS = 4 // fewer are in any text
const MAX_PLACES = 20
const JUST_BEFORE_PROHIBITIONS =
  /(?: |^)(?:never|do not|don t|must not|should not|can not|cannot|nicht|nie|niemals|不 要)$/

/** The "never" or "do not" before these words, if they never occur without it. */
function lostBefore(parts: readonly SummaryPart[], at: number, { index }: AuditSource): string | undefined {
  const { tokens } = parts[at]!
  if (tokens.length < FEWEST_TOKENS || negationAtEnd(parts[at - 1]?.tokens ?? []) !== undefined) return undefined
  let found: string | undefined
  for (const position of index.positionsOf(tokens, MAX_PLACES)) {
    found = negationAtEnd(index.tokens.slice(Math.max(0, position - 2), position))
    if (found === undefined) return undefined
  }
  return found
}

const negationAtEnd = (tokens: readonly string[]): string | undefined =>
  JUST_BEFORE_PROHIBITIONS.exec(tokens.slice(-2).join(" "))?.[0].trim()

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
const MAX_AROUND = 20 // that have the same words around a negation
const TOKENS_PER_STEP = 500
const FEWEST_AROUND = 7 // consecutive ones, on both sides together

interface LostNegation {
  /** Index of the first word after the missing negation. */
  readonly at: number
  /** The missing negation. */
  readonly negation: string
}

/**
 * Finds a lost "never" or "do not": words that are consecutive in the summary, but in the conversation only occur with the negation between
 * them.
 */
function* lostNegations(tokens: readonly string[], index: TokenIndex): CooperativeTask<readonly LostNegation[]> {
  const searched = new Set<string>()
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) searched.add(key(tokens, at, at))
  const around = new Map<string, { readonly from: number; readonly to: number }[]>()
  for (const words of NEGATIONS) {
    yield
    for (const from of index.at(words[0]!)) {
      const to = from + words.length
      if (words.some((word, step) => index.tokens[from + step] !== word)) continue
      const found = key(index.tokens, from, to)
      if (!searched.has(found)) continue
      const positions = around.get(found)
      if (positions && positions.length < MAX_AROUND) positions.push({ from, to })
      else if (!positions) around.set(found, [{ from, to }])
    }
  }
  const lost: LostNegation[] = []
  for (let at = BEFORE; at + AFTER <= tokens.length; at++) {
    if (at % TOKENS_PER_STEP === 0) yield
    const positions = around.get(key(tokens, at, at))
    if (!positions || index.has(tokens.slice(at - BEFORE, at + AFTER))) continue
    for (const { from, to } of positions) {
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

const MAX = 40 // words that are compared

function sameBefore(some: readonly string[], at: number, others: readonly string[], from: number): number {
  let count = 0
  while (count < MAX && at > count && from > count && some[at - 1 - count] === others[from - 1 - count]) count++
  return count
}

function sameAfter(some: readonly string[], at: number, others: readonly string[], to: number): number {
  let count = 0
  while (count < MAX && at + count < some.length && some[at + count] === others[to + count]) count++
  return count
}
