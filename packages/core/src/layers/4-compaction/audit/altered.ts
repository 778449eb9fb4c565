/**
 * Finds the place in the conversation that a text repeats nearly word for word, and what differs there: two names exchanged, or a number
 * replaced. It compares word by word, so that code and tool output are compared like sentences.
 */
import type { TokenIndex } from "./token-index.ts"

export interface Given {
  readonly tokens: readonly string[]
  /** In code the order of words is exact, and every word is a name. */
  readonly isCode: boolean
  /** Whether a word is a number or belongs to a name. */
  readonly isExact: (token: string) => boolean
}

const FEWEST_TOKENS = 3
const COMMON = 300 // places of one word: more say little, and cost time
const MOST_PLACES = 100 // that are compared in full
const MOST_EXCHANGED = 8 // words: a name can occur several times
const MOST_REPLACED = 2
/** Words that must be the same around what differs, by what differs. */
const AROUND = { code: 1, names: 2, words: 5, numbers: 4, numbersInCode: 3 } as const
const NEARBY = 2 // words beside a replaced one: where these occur together, the text is from there

/** The words of the conversation that the text altered, one for each of its own. `undefined` where nothing was altered, or it is from nowhere. */
export function alteredFrom(given: Given, index: TokenIndex): readonly string[] | undefined {
  if (given.tokens.length < FEWEST_TOKENS) return undefined
  const starts = new Set([...placesExchanged(given, index), ...placesLike(given.tokens, index)])
  for (const start of [...starts].slice(0, 2 * MOST_PLACES)) {
    const there = index.tokens.slice(start, start + given.tokens.length)
    if (isExchanged(given, there) || isReplaced(given, there, index)) return there
  }
  return undefined
}

/** Where most words are at the same distance from each other, the best place first. */
function placesLike(tokens: readonly string[], index: TokenIndex): readonly number[] {
  const votes = new Map<number, number>()
  for (const [at, token] of tokens.entries()) {
    const places = index.at(token)
    if (places.length > COMMON) continue
    for (const place of places) if (place >= at) votes.set(place - at, (votes.get(place - at) ?? 0) + 1)
  }
  const fewest = tokens.length > 2 * AROUND.words ? 2 : 1
  return [...votes]
    .filter(([start, count]) => count >= fewest && start + tokens.length <= index.tokens.length)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MOST_PLACES)
    .map(([start]) => start)
}

const MOST_NAMES = 6 // of one text, the rarest

/** Where two names are as far from each other as in the text, but the other way round. */
function placesExchanged({ tokens, isCode, isExact }: Given, index: TokenIndex): readonly number[] {
  const names = tokens
    .map((token, at) => ({ token, at, places: index.at(token) }))
    .filter(({ token, places }) => places.length <= COMMON && token.length > 2 && (isCode || isExact(token)))
    .sort((a, b) => a.places.length - b.places.length)
    .slice(0, MOST_NAMES)
  return names.flatMap((one) =>
    names.flatMap((other) =>
      one.token === other.token
        ? []
        : [...one.places]
            .filter((place) => index.tokens[place + one.at - other.at] === other.token)
            .map((place) => place - other.at)
            .filter((start) => start >= 0 && start + tokens.length <= index.tokens.length),
    ),
  )
}

function differing(tokens: readonly string[], there: readonly string[], most: number): readonly number[] | undefined {
  const places: number[] = []
  for (const [at, token] of tokens.entries()) {
    if (token === there[at]) continue
    if (places.length === most) return undefined
    places.push(at)
  }
  return places
}

/** Each of two words is where the other should be, and nothing else differs. */
function isExchanged({ tokens, isCode, isExact }: Given, there: readonly string[]): boolean {
  const places = differing(tokens, there, MOST_EXCHANGED)
  if (!places || places.length < 2) return false
  const [one, other] = [tokens[places[0]!]!, there[places[0]!]!]
  const isPair = places.every((at) =>
    tokens[at] === one ? there[at] === other : tokens[at] === other && there[at] === one,
  )
  if (!isPair || !places.some((at) => tokens[at] === other)) return false
  const same = tokens.length - places.length
  if (isCode) return same >= AROUND.code
  return same >= (isExact(one) && isExact(other) ? AROUND.names : AROUND.words)
}

/** A number is another one. Words that occur like this elsewhere are from there. */
function isReplaced({ tokens, isCode }: Given, there: readonly string[], index: TokenIndex): boolean {
  const places = differing(tokens, there, MOST_REPLACED)
  if (
    !places ||
    places.length === 0 ||
    tokens.length - places.length < (isCode ? AROUND.numbersInCode : AROUND.numbers)
  )
    return false
  return places.every((at) => /\d/.test(tokens[at]!) && /\d/.test(there[at]!) && !occursElsewhere(tokens, at, index))
}

/** Whether the conversation has this word with its neighbours, on either side: in repeated sentences only a number differs. */
export function occursElsewhere(tokens: readonly string[], at: number, index: TokenIndex): boolean {
  for (let from = at - NEARBY; from <= at; from++)
    if (from >= 0 && from + NEARBY < tokens.length && index.has(tokens.slice(from, from + NEARBY + 1))) return true
  return false
}
