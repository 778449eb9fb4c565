/**
 * Step 4, check. Sentences that repeat the conversation nearly verbatim, but with two names swapped, a number or name replaced, or a "not"
 * lost.
 */
import type { CooperativeTask } from "../../../base/work.ts"
import { type SwappedNames, swappedNamesIn } from "./claims.ts"
import type { AuditSource, SourceSentence, TokenIndex } from "./source.ts"
import { namesIn, positionsIn, type SummaryClaim, type SummaryName, type SummaryPart, tokensOf } from "./text.ts"

const FEWEST_TOKENS = 5 // shorter sentences are alike by chance
const SAME_SHARE = 0.7 // of the words of both sentences
const MAX_CHANGED = 2 // words, on each side
const RARE = 40 // sentences that share a word: more say nothing
const NEGATIONS = new Set(
  "not no never none without cannot dont don t nicht nie niemals kein keine ohne pas jamais nunca sin non mai niet nooit не никогда нельзя 不 别 勿 没 禁".split(
    " ",
  ),
)

export function* wordingSteps(
  parts: readonly SummaryPart[],
  source: AuditSource,
): CooperativeTask<readonly SummaryClaim[]> {
  const unverified = parts.filter(({ tokens }) => !source.index.has(tokens))
  yield
  const sentences = yield* byWord(source.sentences, new Set(unverified.flatMap(({ tokens }) => tokens)))
  const exchanges = swappedNamesIn(source)
  const claims: SummaryClaim[] = []
  for (const part of unverified) {
    claims.push(...wordingOf(part, { source, sentences, exchanges }))
    yield
  }
  return claims
}

interface WordingContext {
  readonly source: AuditSource
  readonly sentences: ReadonlyMap<string, readonly SourceSentence[]>
  readonly exchanges: SwappedNames
}

function wordingOf(part: SummaryPart, { source, sentences, exchanges }: WordingContext): readonly SummaryClaim[] {
  const claim = (instead?: string): SummaryClaim[] => [
    {
      class: "wording",
      text: part.text,
      at: part.at,
      isSupported: instead === undefined,
      sentence: part,
      ...(instead === undefined ? {} : { instead }),
    },
  ]
  const isLong = part.tokens.length >= FEWEST_TOKENS && !part.isCode
  const original = isLong ? swappedBack(part, source) : undefined
  if (original !== undefined) return claim(original)
  const near = isLong ? nearest(part.tokens, sentences) : undefined
  if (near && isAltered(part, near, source)) return claim(near.text)
  const isCode = part.isCode || CODE.test(part.text)
  const altered = alteredFrom({ tokens: part.tokens, isCode, isExact: exactIn(part.names) }, source.index)
  if (altered !== undefined) return claim(withWords(part, altered))
  const changedBack = part.isCode ? undefined : exchanges.original(part)
  if (changedBack !== undefined) return claim(changedBack)
  return near ? claim() : []
}

/** Matches a line that is entirely code, even without a fence. */
const CODE = /^`[^`]+`$|^\s*[\w.]+ = |:=|==|=>|&&|\|\||[{};]\s*$/

/** Replaces words of a text at their positions. A word that also occurs in the text keeps its spelling there. */
function withWords({ text, tokens }: SummaryPart, words: readonly string[]): string {
  const positions = positionsIn(text, tokens)
  const spelled = new Map(tokens.map((token, at) => [token, text.slice(positions[at]!, positions[at]! + token.length)]))
  let result = text
  for (let at = tokens.length - 1; at >= 0; at--) {
    const [position, word] = [positions[at]!, words[at]!]
    if (word === tokens[at] || position < 0) continue
    result = result.slice(0, position) + (spelled.get(word) ?? word) + result.slice(position + tokens[at]!.length)
  }
  return result
}

/** Words between two names that say nothing about their order. */
const UNORDERED = new Set("and or und oder et y e ou with".split(" "))
const MAX_NAMES = 4 // in one sentence

/**
 * The sentence with two names swapped, if the conversation has the words between them in that order. `undefined` if the sentence is
 * verbatim, or its words are not from the conversation.
 */
function swappedBack({ text, names: all }: SummaryPart, { index }: AuditSource): string | undefined {
  const names = all.filter((name) => name.class === "identifiers").slice(0, MAX_NAMES)
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      const between = text.slice(one.at + one.text.length, other.at)
      const tokens = tokensOf(between)
      if (one.text === other.text || tokens.every((token) => UNORDERED.has(token))) continue
      if (index.has(tokensOf(`${one.text} ${between} ${other.text}`))) continue
      if (index.has(tokensOf(`${other.text} ${between} ${one.text}`)))
        return text.slice(0, one.at) + other.text + between + one.text + text.slice(other.at + other.text.length)
    }
  }
  return undefined
}

const SENTENCES_PER_STEP = 200

function* byWord(
  sentences: readonly SourceSentence[],
  wanted: ReadonlySet<string>,
): CooperativeTask<ReadonlyMap<string, readonly SourceSentence[]>> {
  const index = new Map<string, SourceSentence[]>()
  for (const [at, sentence] of sentences.entries()) {
    if (at % SENTENCES_PER_STEP === 0) yield
    if (sentence.tokens.length < FEWEST_TOKENS) continue
    for (const token of new Set(sentence.tokens)) {
      if (!wanted.has(token)) continue
      const found = index.get(token)
      if (!found) index.set(token, [sentence])
      else if (found.length <= RARE) found.push(sentence)
    }
  }
  return index
}

/** The sentence that shares most words with these tokens, if they are nearly all the same. */
function nearest(
  tokens: readonly string[],
  index: ReadonlyMap<string, readonly SourceSentence[]>,
): SourceSentence | undefined {
  const shared = new Map<SourceSentence, number>()
  for (const token of new Set(tokens)) {
    const sentences = index.get(token) ?? []
    if (sentences.length > RARE) continue
    for (const sentence of sentences) shared.set(sentence, (shared.get(sentence) ?? 0) + 1)
  }
  let [best, share] = [undefined as SourceSentence | undefined, SAME_SHARE]
  for (const [sentence] of [...shared].sort((a, b) => b[1] - a[1]).slice(0, 20)) {
    const same =
      1 -
      (missing(tokens, sentence.tokens).length + missing(sentence.tokens, tokens).length) /
        (tokens.length + sentence.tokens.length)
    if (same > share) [best, share] = [sentence, same]
  }
  return best
}

/** The tokens of `some` that are not in `others`, counting repetitions. */
function missing(some: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const token of others) left.set(token, (left.get(token) ?? 0) + 1)
  return some.filter((token) => {
    const count = left.get(token) ?? 0
    if (count > 0) left.set(token, count - 1)
    return count === 0
  })
}

function isAltered({ tokens, names }: SummaryPart, sequence: SourceSentence, { index }: AuditSource): boolean {
  const [added, lost] = [missing(tokens, sequence.tokens), missing(sequence.tokens, tokens)]
  // the same words in another order: something was exchanged
  if (added.length === 0 && lost.length === 0) return tokens.join(" ") !== sequence.tokens.join(" ")
  if (added.length > MAX_CHANGED || lost.length > MAX_CHANGED) return false
  const hasNegation = (words: readonly string[]) => words.some((word) => NEGATIONS.has(word))
  if (hasNegation(lost) !== hasNegation(added) && isSame(without(tokens, added), without(sequence.tokens, lost)))
    return true
  if (added.length !== lost.length || !isSame(without(tokens, added), without(sequence.tokens, lost))) return false
  const isExact = exactIn(names)
  const isFromElsewhere = added
    .filter(isExact)
    .every((token) => /\d/.test(token) && occursElsewhere(tokens, tokens.indexOf(token), index))
  return added.some(isExact) && !isFromElsewhere && lost.some(exactIn(namesIn(sequence.text)))
}

const isSame = (some: readonly string[], others: readonly string[]) => some.join(" ") === others.join(" ")
const without = (tokens: readonly string[], left: readonly string[]) => tokens.filter((token) => !left.includes(token))

/** Returns a predicate for words that are a number or part of a name. */
function exactIn(names: readonly SummaryName[]): (token: string) => boolean {
  const words = new Set(names.flatMap((name) => tokensOf(name.text)))
  return (token) => /\d/.test(token) || words.has(token)
}

interface WordSequence {
  readonly tokens: readonly string[]
  /** Whether this is code: its word order is exact, and every word is a name. */
  readonly isCode: boolean
  /** Whether a word is a number or part of a name. */
  readonly isExact: (token: string) => boolean
}

const FEWEST_COMPARED = 3
const COMMON = 300 // places of one word: more say little, and cost time
const MAX_PLACES = 100 // that are compared in full
const MAX_EXCHANGED = 8 // words: a name can occur several times
const MAX_REPLACED = 2
/** Minimum number of equal words around a difference, by kind of difference. */
const AROUND = { code: 1, names: 2, words: 5, numbers: 4, numbersInCode: 3 } as const
const NEARBY = 2 // words next to a replaced one: if these occur together, the text comes from there

/**
 * Finds the position in the conversation that a text repeats nearly verbatim with two names swapped or a number replaced. Compares word by
 * word, so that code and tool output are handled like sentences. Returns the conversation's words, one for each word of the text;
 * `undefined` if nothing was altered, or the text does not come from the conversation.
 */
function alteredFrom(sequence: WordSequence, index: TokenIndex): readonly string[] | undefined {
  if (sequence.tokens.length < FEWEST_COMPARED) return undefined
  const starts = new Set([...positionsSwapped(sequence, index), ...similarPositions(sequence.tokens, index)])
  for (const start of [...starts].slice(0, 2 * MAX_PLACES)) {
    const there = index.tokens.slice(start, start + sequence.tokens.length)
    if (isSwapped(sequence, there) || isReplaced(sequence, there, index)) return there
  }
  return undefined
}

/** Start positions at which most words have the same distance from each other, best first. */
function similarPositions(tokens: readonly string[], index: TokenIndex): readonly number[] {
  const votes = new Map<number, number>()
  for (const [at, token] of tokens.entries()) {
    const positions = index.at(token)
    if (positions.length > COMMON) continue
    for (const position of positions) if (position >= at) votes.set(position - at, (votes.get(position - at) ?? 0) + 1)
  }
  const fewest = tokens.length > 2 * AROUND.words ? 2 : 1
  return [...votes]
    .filter(([start, count]) => count >= fewest && start + tokens.length <= index.tokens.length)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MAX_PLACES)
    .map(([start]) => start)
}

const MAX_RARE = 6 // of one text, the rarest

/** Start positions at which two names are as far apart as in the text, in the opposite order. */
function positionsSwapped({ tokens, isCode, isExact }: WordSequence, index: TokenIndex): readonly number[] {
  const names = tokens
    .map((token, at) => ({ token, at, positions: index.at(token) }))
    .filter(({ token, positions }) => positions.length <= COMMON && token.length > 2 && (isCode || isExact(token)))
    .sort((a, b) => a.positions.length - b.positions.length)
    .slice(0, MAX_RARE)
  return names.flatMap((one) =>
    names.flatMap((other) =>
      one.token === other.token
        ? []
        : [...one.positions]
            .filter((position) => index.tokens[position + one.at - other.at] === other.token)
            .map((position) => position - other.at)
            .filter((start) => start >= 0 && start + tokens.length <= index.tokens.length),
    ),
  )
}

function differingPositions(
  tokens: readonly string[],
  there: readonly string[],
  max: number,
): readonly number[] | undefined {
  const positions: number[] = []
  for (const [at, token] of tokens.entries()) {
    if (token === there[at]) continue
    if (positions.length === max) return undefined
    positions.push(at)
  }
  return positions
}

/** Whether two words are in each other's positions and nothing else differs. */
function isSwapped({ tokens, isCode, isExact }: WordSequence, there: readonly string[]): boolean {
  const positions = differingPositions(tokens, there, MAX_EXCHANGED)
  if (!positions || positions.length < 2) return false
  const [one, other] = [tokens[positions[0]!]!, there[positions[0]!]!]
  const isPair = positions.every((at) =>
    tokens[at] === one ? there[at] === other : tokens[at] === other && there[at] === one,
  )
  if (!isPair || !positions.some((at) => tokens[at] === other)) return false
  const same = tokens.length - positions.length
  if (isCode) return same >= AROUND.code
  return same >= (isExact(one) && isExact(other) ? AROUND.names : AROUND.words)
}

/** Whether only numbers differ. Words that also occur elsewhere in this form do not count as altered. */
function isReplaced({ tokens, isCode }: WordSequence, there: readonly string[], index: TokenIndex): boolean {
  const positions = differingPositions(tokens, there, MAX_REPLACED)
  if (
    !positions ||
    positions.length === 0 ||
    tokens.length - positions.length < (isCode ? AROUND.numbersInCode : AROUND.numbers)
  )
    return false
  return positions.every((at) => /\d/.test(tokens[at]!) && /\d/.test(there[at]!) && !occursElsewhere(tokens, at, index))
}

/** Whether the conversation contains this word with its neighbors on either side: in repeated sentences only a number differs. */
function occursElsewhere(tokens: readonly string[], at: number, index: TokenIndex): boolean {
  for (let from = at - NEARBY; from <= at; from++)
    if (from >= 0 && from + NEARBY < tokens.length && index.has(tokens.slice(from, from + NEARBY + 1))) return true
  return false
}
