/**
 * Reads a sentence as a fact: its subject, its statement, and which of its words are values. No grammar is complete, so a fact also
 * contains how far the reading can be trusted: an uncertain comparison leaves both sentences unchanged.
 */
import { stemmer } from "stemmer"
import { baseForm } from "../../../base/search-terms.ts"
import { readText } from "./fact-text.ts"
import {
  ARTICLES_OF_A_CLASS,
  CARRIERS,
  CHANGE_VERBS,
  COPULAS,
  DIRECTIONS,
  EVERY,
  FILLING,
  NEGATIONS,
  OPPOSITES,
  ORDERS,
  PAST,
  PLACE_VERBS,
  PREPOSITIONS,
  SAME_WORD,
  STATES,
  UNITS,
  VALUES,
  VERBS,
} from "./fact-words.ts"

export interface FactWord {
  /** The form used in comparisons. */
  readonly stem: string
  /** As written, in lower case. */
  readonly text: string
  /** The kind of value, such as `number`, `weekday` or `name`. Absent: a plain word. */
  readonly kind?: string
  /** The preposition before it. */
  readonly preposition?: string
  /** Whether it follows "a" or "an", and so is one of a class. */
  readonly isOneOf: boolean
}

export interface Fact {
  /** Words before the verb. Empty in an order. */
  readonly subject: readonly FactWord[]
  /** Words after the verb. All words if no verb is known. */
  readonly predicate: readonly FactWord[]
  /** The verb in its base form, if it means more than "is". */
  readonly verb?: string
  readonly shape: "statement" | "order" | "unknown"
  readonly isNegative: boolean
  /** Whether it states an event, not a state. */
  readonly isPast: boolean
  /** Whether it states that something else was wrong. */
  readonly corrects: boolean
  /** Whether it states that this has started or changed. */
  readonly begins: boolean
  readonly adds: boolean
  /** Words that the sentence rejects: "instead of tabs". */
  readonly rejected: readonly string[]
  /** The old value that it names, and the words of its subject: "we switched from Jest to Vitest for the web app". */
  readonly over?: { readonly was: readonly string[]; readonly about: readonly string[] }
  /** A verb that with its preposition means no more than "is", but matters for a home: "lives in". */
  readonly placeVerb?: string
  /** Whether it is about something that the speaker has: "my". */
  readonly isMine: boolean
  readonly isAboutOneUser: boolean
}

/** Cached, because each comparison needs it. */
const allWords = new WeakMap<Fact, readonly FactWord[]>()
export function factWords(fact: Fact): readonly FactWord[] {
  const before = allWords.get(fact)
  if (before) return before
  const words = [...fact.subject, ...fact.predicate]
  allWords.set(fact, words)
  return words
}

const IRREGULAR = new Set(
  "met went bought saw gave took wrote made found said left came got sold built began broke spent paid lost won flew drove ate".split(
    " ",
  ),
)
/** Words that, if they are the entire subject, refer to the speaker. */
const SPEAKERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    i: "i",
    user: "i",
    we: "we",
    it: "it",
    they: "they",
    ich: "i",
    wir: "we",
  }),
)
const ADVERBS = new Set("always still also do does usually mostly only already".split(" "))
const MODALS = new Set("may can must should shall will would".split(" "))
/** Words after "is" that only announce a name. */
const NAMED = new Set("called named titled labelled labeled dubbed".split(" "))
const NOUN_FOLLOWS = new Set("the a an this that its my our your their every each".split(" "))
/** Particles that add nothing after a change verb: "pushed back to". */
const PARTICLES = new Set("back forward up down out over".split(" "))
/** Titles before a name. */
const HONORIFICS = new Set("Mr Mrs Ms Dr Prof Herr Frau Captain Chef Coach Uncle Aunt".split(" "))
const PRONOUNS = new Set("i we they you who it he she this that".split(" "))
const TOKEN =
  /https?:\/\/\S+|[\p{L}\p{N}._+-]+@[\p{L}\p{N}.-]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[$€£]?[~./]?[\p{L}\p{N}_¬#␣]+(?:[./:'+-]+[\p{L}\p{N}_#␣]+)*%?|=/gu
const GERMAN = /\b(?:[Dd]er|[Dd]ie|[Dd]as|ist|sind|und|nicht|[Ww]ir|wird|eine[nmr]?)\b/u

export function readFact(sentence: string): Fact {
  const { text, rejected, over, corrects, begins, adds, isMine } = readText(sentence)
  const reading = readWords(text)
  return {
    ...splitAtVerb(reading),
    ...{ corrects, adds, isMine, begins: begins || reading.hasChanged },
    ...(over ? { over: { was: stemsIn(over.was), about: stemsIn(over.about, WHEN) } } : {}),
    rejected: rejected.flatMap((text) => stemsIn(text)),
  }
}

const WHEN = new Set(["date", "time", "unit"])
const stemsIn = (text: string, without: ReadonlySet<string> = new Set()): readonly string[] =>
  readWords(text)
    .words.filter(({ kind }) => !without.has(kind ?? ""))
    .map(({ stem }) => stem)

interface SentenceReading {
  readonly words: readonly FactWord[]
  /** Number of words before the verb. Absent if no verb was found. */
  readonly before?: number
  readonly verb?: string
  readonly placeVerb?: string
  readonly isOrder: boolean
  readonly isNegative: boolean
  readonly isPast: boolean
  readonly hasChanged: boolean
  readonly isAboutOneUser: boolean
}

function readWords(text: string): SentenceReading {
  const tokens = [...text.matchAll(TOKEN)]
    .map(([token]) => token.replace(/'s$/u, "").replace(/[.:]+$/u, ""))
    .filter((token) => !HONORIFICS.has(token))
  const isGerman = GERMAN.test(text)
  const first = tokens.findIndex((token) => !isSkipped(token))
  const isNoun = (token: string) => NOUN_FOLLOWS.has(token.toLowerCase())
  const isAddressed = first >= 0 && !tokens.slice(0, first).some((token) => speakerOf(token) || isNoun(token))
  const isOrder = isAddressed && ORDERS.has(tokens[first]!.toLowerCase()) && !isFiniteLater(tokens, first)
  const at = isOrder ? { index: first, kind: "order" as const } : findVerb(tokens)
  const words: FactWord[] = []
  let [preposition, isOneOf, isNegative, hasChanged]: [string | undefined, boolean, boolean, boolean] = [
    undefined,
    false,
    false,
    false,
  ]
  let before: number | undefined
  let verb: string | undefined
  let placeVerb: string | undefined
  let isPast = at?.kind === "past"
  for (const [index, token] of tokens.entries()) {
    const text = token.toLowerCase()
    const isVerb = index === at?.index
    if (isVerb) {
      const speaker = tokens.slice(0, index).map(speakerOf).find(Boolean)
      if (words.length === 0 && speaker !== undefined) words.push({ stem: speaker, text: speaker, isOneOf: false })
      before = words.length
      if (NEGATIONS.has(text)) isNegative = !isNegative
      const base = baseOf(text)
      const follows = tokens[index + 1]?.toLowerCase() ?? ""
      if (at.kind === "copula" || at.kind === "past") continue
      if (base !== undefined && CHANGE_VERBS.has(base) && isToSomething(tokens, index)) {
        hasChanged = true
        placeVerb = base
      } else if (base !== undefined && PLACE_VERBS.has(base) && PREPOSITIONS.has(follows) && !isOrder) {
        placeVerb = base
        continue
      }
      if (!hasChanged && !(isOrder && CARRIERS.has(text))) {
        verb = SAME_WORD.get(base ?? text) ?? base ?? text.replace(/(?<=[^s])s$/, "")
        if (verb !== "have" && verb !== "get") words.push({ stem: stemOf(verb), text, isOneOf: false }) // "has a port of 80" is "the port is 80"
      }
      isPast = at.kind === "event" && !hasChanged
      continue
    }
    const isLowerCase = token === text || index === 0
    if (hasChanged && PARTICLES.has(text) && words.length === before) continue
    if (NEGATIONS.has(text) && isLowerCase) isNegative = !isNegative
    else if (ARTICLES_OF_A_CLASS.has(text) && isLowerCase && index + 1 !== at?.index && index + 1 < tokens.length)
      isOneOf = true
    else if (EVERY.has(text) || (FILLING.has(text) && isLowerCase)) continue
    else if (PREPOSITIONS.has(text) && isLowerCase && !isState(tokens, index)) preposition = text
    else {
      const isNaming =
        NAMED.has(text) && before === words.length && !PREPOSITIONS.has(tokens[index + 1]?.toLowerCase() ?? "")
      if (isNaming && verb === undefined && index + 1 < tokens.length) continue
      const opposite = OPPOSITES.get(text)
      if (opposite !== undefined) isNegative = !isNegative
      const base = before === words.length ? baseOf(text) : undefined
      const isParticiple = before !== undefined && base !== undefined && /(?:ed|en|ld|un|t)$/u.test(text)
      if (isParticiple && CHANGE_VERBS.has(base) && isToSomething(tokens, index)) {
        ;[hasChanged, isPast] = [true, false]
        continue
      }
      if (isParticiple && PLACE_VERBS.has(base) && PREPOSITIONS.has(tokens[index + 1]?.toLowerCase() ?? "")) continue
      // "Birch Court", "Green Valley": two capitalised words are a name, even if each has a meaning of its own
      const neighbours = [
        preposition === undefined && (words.at(-1)?.kind === "name" || (index === 1 && words.length === 1))
          ? tokens[index - 1]
          : "",
        tokens[index + 1],
      ]
      const isNext = neighbours.some((one) => isCapital(one ?? ""))
      const isName = !isGerman && (index !== 0 || (isNext && VALUES.has(text)))
      const word = wordFor(token, { preposition, isOneOf, isName, opposite, isNext })
      const isLabel =
        word.kind === "number" &&
        preposition === undefined &&
        words.length !== before &&
        isNamed(words.at(-1), tokens[index - 1])
      words.push(isLabel ? { ...word, kind: "label" } : word)
      ;[preposition, isOneOf] = [DIRECTIONS.has(text) ? text : undefined, false]
    }
  }
  return {
    ...{ words: words.map(asModifier), isOrder, isNegative, isPast, hasChanged },
    ...(before === undefined ? {} : { before }),
    ...(verb === undefined ? {} : { verb }),
    ...(placeVerb === undefined ? {} : { placeVerb }),
    isAboutOneUser:
      (before === 1 || (before === undefined && /^\p{Ll}+s$/u.test(tokens[1] ?? ""))) && // start of an unknown verb
      first === 0 &&
      !tokens.includes("its") &&
      !PRONOUNS.has(tokens[0]!.toLowerCase()) &&
      !PREPOSITIONS.has(tokens[0]!.toLowerCase()) &&
      /^\p{Lu}(?:['-]\p{Lu})?\p{Ll}+(?:-\p{Lu}\p{Ll}+)?$/u.test(tokens[0]!), // also O'Brien
  }
}

/** "was cut to", but not "is cut on Tuesdays". */
const isToSomething = (tokens: readonly string[], verb: number): boolean =>
  tokens.slice(verb + 1).some((token) => TOWARDS.has(token.toLowerCase()))
const TOWARDS = new Set("to into onto nach auf à vers a para naar на".split(" "))

const speakerOf = (token: string): string | undefined => SPEAKERS.get(token.toLowerCase())
const isSkipped = (token: string): boolean => FILLING.has(token.toLowerCase()) || NEGATIONS.has(token.toLowerCase())

/** "The weekly review": the word identifies the thing, and is not a frequency. "$4 a week": it belongs to the number. */
function asModifier(word: FactWord, at: number, words: readonly FactWord[]): FactWord {
  const next = words[at + 1]
  if (word.kind === "frequency" && words.slice(0, at).some(({ kind }) => kind === "number"))
    return { ...word, kind: "unit" }
  if (word.kind !== "frequency" || next === undefined || next.kind !== undefined || next.preposition !== undefined)
    return word
  const { kind: _, ...rest } = word
  return rest
}

/** "Atlas 2": the number belongs to the name. */
const isNamed = (word: FactWord | undefined, token: string | undefined): boolean =>
  word?.kind === "name" || (word?.kind === undefined && /^\p{Lu}/u.test(token ?? ""))

/** "Log retention is a week" is not an order; "Use tabs where the file is old" is one. */
const isFiniteLater = (tokens: readonly string[], first: number): boolean => {
  const copula = tokens.findIndex((token, index) => index > first && COPULAS.has(token))
  return copula > 0 && !tokens.slice(first, copula).some((token) => CONJUNCTIONS.has(token))
}
const CONJUNCTIONS = new Set(
  "that which who when where if unless because while until what whatever before after as".split(" "),
)

/** "is on", "turned off": whether the word describes a state. */
const isState = (tokens: readonly string[], index: number): boolean =>
  STATES.has(tokens[index]!.toLowerCase()) && index === tokens.length - 1

type VerbPosition = { readonly index: number; readonly kind: "copula" | "past" | "order" | "verb" | "event" }

function findVerb(tokens: readonly string[]): VerbPosition | undefined {
  const find = (fits: (token: string, index: number) => boolean) =>
    tokens.findIndex((token, index) => index > 0 && fits(token, index))
  const copula = find(
    (token, index) =>
      token === "=" ||
      (/^gets?$/.test(token) && /ed$/.test(tokens[index + 1] ?? "")) || // "gets emptied"
      (COPULAS.has(token) && !(token === "am" && !/^i$/i.test(tokens[index - 1]!))),
  )
  const past = find((token) => PAST.has(token))
  if (copula > 0 && (past < 0 || copula < past)) return { index: copula, kind: "copula" }
  if (past > 0) return { index: past, kind: "past" }
  const isPlural = (last: number) => {
    const doer = tokens
      .slice(0, last + 1)
      .findLast((token) => !NEGATIONS.has(token.toLowerCase()) && !ADVERBS.has(token.toLowerCase()))
    const head = tokens.find((token) => !isSkipped(token)) // "backups of the importer run at three"
    return (
      doer !== undefined &&
      (/[^s]s$/i.test(doer) || PRONOUNS.has(doer.toLowerCase()) || (last > 0 && /[^s]s$/i.test(head ?? "")))
    )
  }
  const active = find((token, index) => {
    const base = baseOf(token)
    const before = tokens[index - 1]!.toLowerCase()
    const isLed = MODALS.has(before) // "may use"
    const isNoun = NOUN_FOLLOWS.has(before) || PREPOSITIONS.has(before) // "the map"
    return base !== undefined && !isNoun && (token !== base ? /s$/u.test(token) : isLed || isPlural(index - 1))
  })
  const spoken = /^(?:i|we|they|you)$/i.test(tokens[0] ?? "")
    ? find((token) => !ADVERBS.has(token) && !NEGATIONS.has(token))
    : -1
  const event = find((token) => IRREGULAR.has(token) || (/ed$/u.test(token) && token.length > 4))
  if (active > 0 && (event < 0 || active < event)) return { index: active, kind: "verb" }
  if (event > 0) return { index: event, kind: "event" }
  if (spoken > 0) return { index: spoken, kind: "verb" }
  // "Ilse curates the museum": a name, and an unknown verb
  const isUnknown =
    /^\p{Lu}\p{Ll}+$/u.test(tokens[0] ?? "") && /^\p{Ll}{3,}s$/u.test(tokens[1] ?? "") && !isSkipped(tokens[0]!)
  return isUnknown ? { index: 1, kind: "verb" } : undefined
}

function baseOf(text: string): string | undefined {
  const forms = [
    text,
    text.replace(/s$/, ""),
    text.replace(/es$/, ""),
    text.replace(/ies$/, "y"),
    text.replace(/d$/, ""),
    text.replace(/ed$/, ""),
    baseForm(text),
  ]
  const doubled = text.replace(/(.)\1ed$/, "$1")
  const known = [...forms, doubled, SAME_WORD.get(text) ?? ""].find(
    (form) => VERBS.has(form) || CHANGE_VERBS.has(form) || PLACE_VERBS.has(form),
  )
  return known
}

interface WordFacts {
  readonly preposition: string | undefined
  readonly isOneOf: boolean
  /** Whether a capital letter makes it a name. */
  readonly isName: boolean
  readonly opposite: string | undefined
  /** Whether it is next to another capitalised word. */
  readonly isNext: boolean
}

const isCapital = (token: string): boolean => /^\p{Lu}/u.test(token)
const CAPITAL_KINDS = new Set(["weekday", "month"])

function wordFor(token: string, { preposition, isOneOf, isName, opposite, isNext }: WordFacts): FactWord {
  const text = token.toLowerCase()
  const canonical = opposite ?? SAME_WORD.get(text) ?? text
  const value = VALUES.get(canonical)
  const known = isNext && isName && isCapital(token) && !CAPITAL_KINDS.has(value?.kind ?? "") ? undefined : value
  const stem = known?.value ?? (UNITS.has(singular(canonical)) ? singular(canonical) : stemOf(canonical))
  const kind = known?.kind ?? kindOf(canonical, stem) ?? (isName && /\p{Lu}/u.test(token) ? "name" : undefined)
  return {
    stem: SAME_WORD.get(stem) ?? stem,
    text,
    isOneOf,
    ...(kind === undefined ? {} : { kind }),
    ...(preposition === undefined ? {} : { preposition }),
  }
}

export const stemOf = (word: string): string => {
  const base = baseForm(word)
  return /^[a-z]{4,}$/.test(base) ? stemmer(base) : base
}
const singular = (text: string): string => text.replace(/s$/, "")

function kindOf(text: string, stem: string): string | undefined {
  if (/^date:|^\d{4}-\d{2}(?:-\d{2})?/.test(text)) return "date"
  if (/^\d{1,2}:\d{2}$/.test(text)) return "time"
  if (/^[$€£]?v?\d[\d.,]*(?:%|[a-z]{1,3})?$|^\d+(?:-\d+)+$/.test(text)) return "number"
  if (UNITS.has(stem) || UNITS.has(singular(text))) return "unit"
  if (/[/@␣]|\.[a-z]{2,}$/.test(text)) return "address"
  return /^#|^\p{L}.*[\d_]|^\p{L}+-\p{L}.*\d/u.test(text) ? "name" : undefined
}

type SentenceParts = Omit<Fact, "corrects" | "adds" | "begins" | "rejected" | "over" | "isMine">

function splitAtVerb({
  words,
  before,
  verb,
  placeVerb,
  isOrder,
  isNegative,
  isPast,
  isAboutOneUser,
}: SentenceReading): SentenceParts {
  const shape = isOrder ? "order" : before === undefined ? "unknown" : "statement"
  const cut = shape === "statement" ? before! : 0
  return {
    ...{ subject: words.slice(0, cut), predicate: words.slice(cut), shape, isNegative, isPast, isAboutOneUser },
    ...(verb === undefined ? {} : { verb }),
    ...(placeVerb === undefined ? {} : { placeVerb }),
  }
}
