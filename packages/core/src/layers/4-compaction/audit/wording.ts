/**
 * Sentences that are nearly word for word from the conversation, but not quite: with two names exchanged, a number or a name replaced, or
 * a "not" lost. Only what the user and the assistant wrote is compared.
 */
import type { Claim, Part } from "./claim.ts"
import { namesIn } from "./names.ts"
import type { Source } from "./source.ts"
import { phrase, phraseOf, sentencesIn, tokensOf } from "./text.ts"

const FEWEST_TOKENS = 5 // shorter sentences are alike by chance
const SAME_SHARE = 0.7 // of the words of both sentences
const MOST_CHANGED = 2 // words, on each side
const RARE = 40 // sentences that share a word: more say nothing
const NEGATIONS = new Set(
  "not no never none without cannot dont don t nicht nie niemals kein keine ohne pas jamais nunca sin non mai niet nooit не никогда нельзя 不 别 勿 没 禁".split(
    " ",
  ),
)

interface Sentence {
  readonly tokens: readonly string[]
  readonly text: string
}

export function wordingClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  const asked = parts
    .filter(({ isCode }) => !isCode)
    .map((part) => ({ part, tokens: tokensOf(part.text) }))
    .filter(({ tokens }) => tokens.length >= FEWEST_TOKENS && !source.words.includes(phrase(tokens)))
  const wanted = new Set(asked.flatMap(({ tokens }) => tokens))
  const index = indexOf(source.prose, wanted)
  return asked.flatMap(({ part, tokens }): Claim[] => {
    const original = exchangedBack(part.text, source)
    if (original !== undefined)
      return [{ class: "wording", text: part.text, at: part.at, isSupported: false, sentence: part, instead: original }]
    const near = nearest(tokens, index)
    if (!near) return []
    const isSupported = !isAltered({ tokens, text: part.text }, near)
    return [
      {
        class: "wording",
        text: part.text,
        at: part.at,
        isSupported,
        sentence: part,
        ...(isSupported ? {} : { instead: near.text }),
      },
    ]
  })
}

/** Between two names these say nothing about their order. */
const UNORDERED = new Set("and or und oder et y e ou with".split(" "))
const MOST_NAMES = 4 // in one sentence

/**
 * The words from one name to another, as they are in the conversation: with the two names exchanged. `undefined` where the sentence is as it
 * was said, or where its words are not from the conversation.
 */
function exchangedBack(text: string, { words }: Source): string | undefined {
  const names = namesIn(text)
    .filter((name) => name.class === "identifiers")
    .slice(0, MOST_NAMES)
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      const between = text.slice(one.at + one.text.length, other.at)
      const tokens = tokensOf(between)
      if (one.text === other.text || tokens.every((token) => UNORDERED.has(token))) continue
      if (words.includes(phraseOf(`${one.text} ${between} ${other.text}`))) continue
      if (words.includes(phraseOf(`${other.text} ${between} ${one.text}`))) return `${other.text}${between}${one.text}`
    }
  }
  return undefined
}

function indexOf(prose: readonly string[], wanted: ReadonlySet<string>): ReadonlyMap<string, Sentence[]> {
  const index = new Map<string, Sentence[]>()
  for (const text of prose) {
    for (const { text: found } of sentencesIn(text)) {
      const tokens = tokensOf(found)
      if (tokens.length < FEWEST_TOKENS) continue
      const sentence = { tokens, text: found }
      for (const token of new Set(tokens)) {
        if (!wanted.has(token)) continue
        const sentences = index.get(token)
        if (!sentences) index.set(token, [sentence])
        else if (sentences.length <= RARE) sentences.push(sentence)
      }
    }
  }
  return index
}

/** The sentence that shares most words with these, if that is nearly all of them. */
function nearest(tokens: readonly string[], index: ReadonlyMap<string, readonly Sentence[]>): Sentence | undefined {
  const shared = new Map<Sentence, number>()
  for (const token of new Set(tokens)) {
    const sentences = index.get(token) ?? []
    if (sentences.length > RARE) continue
    for (const sentence of sentences) shared.set(sentence, (shared.get(sentence) ?? 0) + 1)
  }
  let [best, share] = [undefined as Sentence | undefined, SAME_SHARE]
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

function isAltered({ tokens, text }: Sentence, given: Sentence): boolean {
  const [added, lost] = [missing(tokens, given.tokens), missing(given.tokens, tokens)]
  // the same words in another order: something was exchanged
  if (added.length === 0 && lost.length === 0) return tokens.join(" ") !== given.tokens.join(" ")
  if (added.length > MOST_CHANGED || lost.length > MOST_CHANGED) return false
  const hasNegation = (words: readonly string[]) => words.some((word) => NEGATIONS.has(word))
  if (hasNegation(lost) !== hasNegation(added) && isSame(without(tokens, added), without(given.tokens, lost)))
    return true
  if (added.length !== lost.length || !isSame(without(tokens, added), without(given.tokens, lost))) return false
  return added.some(exactIn(text)) && lost.some(exactIn(given.text))
}

const isSame = (some: readonly string[], others: readonly string[]) => some.join(" ") === others.join(" ")
const without = (tokens: readonly string[], left: readonly string[]) => tokens.filter((token) => !left.includes(token))

/** Whether a word is a number or belongs to a name. */
function exactIn(text: string): (token: string) => boolean {
  const names = new Set(namesIn(text).flatMap((name) => tokensOf(name.text)))
  return (token) => /\d/.test(token) || names.has(token)
}
