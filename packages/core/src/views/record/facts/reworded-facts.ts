/**
 * Two sentences with the same statement in other words. They have the same subject, share a root of the attribute, and all their other
 * words are light: "The fish supplier of Elm is Pescara", "Elm gets its fish from Pescara". Actor and object must agree.
 */
import { baseForm } from "../../../base/search-terms.ts"
import { type Fact, type FactWord, factWords } from "./fact.ts"
import { PLACE_VERBS } from "./fact-words.ts"

/** Nouns that only tell the kind of a value. */
const HEADS = new Set(
  (
    "time number date day hour name amount value count level place location region supplier provider vendor source tool library " +
    "convention kind type file"
  ).split(" "),
)
/** Verbs that with an object mean little more than its presence: wears shoe size 40, takes bus 4. */
const LIGHT_WORDS = new Set(
  (
    "have get take use wear carry hold keep go come make do give eat drink follow receive own cost pay find see read serve stand start begin " +
    "store place reach call name set put plan arrive lead hang sell pour show answer need occur happen may can each from under above via"
  ).split(" "),
)
/** Verbs that mean no more than "is" after a measured thing: the run takes an hour. */
const EQUALS = new Set("take last cost weigh measure happen occur".split(" "))
/** Words with the same root: the loan ends on May 3, it is on loan until May 3. */
const SAME_ROOT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ until: "end", till: "end", expire: "end", expiri: "end", valid: "end" },
    ...{ earn: "pay", salari: "pay", wage: "pay", allow: "pay" },
    ...{ deliver: "arriv", deliveri: "arriv", metric: "dashboard" },
  }),
)
const AGENT = /(?:er|or)$/
/** Second part of a compound: bedtime. */
const COMPOUND_HEAD = /(?<=^.{3,})(?:time?|dai|date?)$/
const MIN_ROOT = 5
const MAX_ENDING = 3
const MAX_VALUE = 4 // words

/** The root of the verb that a noun comes from: auditor, audited. */
export const rootOfStem = (stem: string): string =>
  SAME_ROOT.get(stem) ?? (stem.length > 5 ? stem.replace(AGENT, "").replace(COMPOUND_HEAD, "") : stem)

/** A word that a rewording may omit. */
export const isHead = (word: string): boolean => HEADS.has(word)
/** A verb that means no more than "is". */
export const isEqual = (verb: string): boolean => EQUALS.has(verb) || PLACE_VERBS.has(verb)
export const isLight = ({ text, kind }: FactWord): boolean =>
  (kind === undefined || kind === "unit") &&
  (HEADS.has(text.replace(/s$/, "")) || LIGHT_WORDS.has(baseVerb(text)) || isEqual(baseVerb(text)))
const baseVerb = (text: string): string => baseForm(text.replace(/(?<=[^s])s$|(?<=go)es$/, ""))

type Rewording = "same" | "another value" | "no"

export function compareRewording(a: Fact, b: Fact): Rewording {
  if (isUnsure(a) || isUnsure(b) || !hasCommonValue(a, b) || !isOneDirection(a, b)) return "no"
  const [restA, restB] = [remainingWords(a, b), remainingWords(b, a)]
  const shared = factWords(a).filter((word) => !restA.includes(word) && isContentWord(word))
  if (shared.length < 2 || shared.every(({ kind }) => kind !== undefined)) return "no"
  const [statedA, statedB] = [statedWords(restA, a), statedWords(restB, b)]
  if (statedA.length === 0 && statedB.length === 0) return shared.some(({ kind }) => kind !== undefined) ? "same" : "no"
  const stems = (fact: Fact, stated: readonly FactWord[]) =>
    factWords(fact)
      .flatMap((word) => (stated.includes(word) ? [] : [word.stem]))
      .join(" ")
  if (a.verb === b.verb && stems(a, statedA) === stems(b, statedB)) return "no" // the same words: their differences were compared before
  return isOtherValue(a, statedA) && isOtherValue(b, statedB) && valueKinds(statedA) === valueKinds(statedB)
    ? "another value"
    : "no"
}

/** The words of a fact that carry its statement. "The swimming lesson": the noun adds nothing to the gerund. */
const statedWords = (rest: readonly FactWord[], { subject }: Fact): readonly FactWord[] =>
  rest.filter(
    (word) => isContentWord(word) && (word.preposition !== undefined || !isGerund(subject[subject.indexOf(word) - 1])),
  )
const isGerund = (word: FactWord | undefined): boolean =>
  word !== undefined && /ing$/.test(word.text) && !/ing$/.test(word.stem)

/** Whether the facts share a value or a thing: most pairs do not, and need no further comparison. */
const hasCommonValue = (a: Fact, b: Fact): boolean =>
  factWords(a).some((word) => !isLight(word) && factWords(b).some(({ stem }) => stem === word.stem))

const SPEAKERS = new Set(["we", "i", "it", "they"])
const isContentWord = (word: FactWord): boolean => !isLight(word) && !SPEAKERS.has(word.stem)

const isUnsure = ({ isNegative, isPast, adds, rejected, shape }: Fact): boolean =>
  isNegative || isPast || adds || rejected.length > 0 || shape === "order"

/** The words of the first that the second has in no form, counting repetitions. */
function remainingWords(fact: Fact, other: Fact): readonly FactWord[] {
  const left = [...factWords(other)]
  return factWords(fact).filter((word) => {
    const at = left.findIndex((one) => isOneWord(word, one))
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

const isOneWord = (one: FactWord, other: FactWord): boolean =>
  one.stem === other.stem ||
  (one.kind === undefined && other.kind === undefined && isOneRoot(rootOfStem(one.stem), rootOfStem(other.stem)))

/** Whether two roots are the same, or one is derived from the other by an ending: weigh, weight; compete, competition. */
function isOneRoot(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return (
    short === long || (short.length >= MIN_ROOT && long.startsWith(short) && long.length - short.length <= MAX_ENDING)
  )
}

/** Whether the words can be a value: a measure anywhere, a name at the end or as an actor. */
function isOtherValue(fact: Fact, words: readonly FactWord[]): boolean {
  const { subject, predicate, shape } = fact
  if (words.length === 0 || words.length > MAX_VALUE || ![subject, predicate].some((side) => isPhrase(side, words)))
    return false
  if (words.some(({ kind, isOneOf }) => kind === undefined || isOneOf)) return false
  if (words.every(({ kind }) => MEASURED.has(kind!))) return true
  const isAll = (side: readonly FactWord[]) => words.every((word) => side.includes(word))
  if (isAll(predicate))
    return shape === "statement" && predicate.at(-1) === words.at(-1) && !WHOSE.has(words[0]!.preposition ?? "")
  return actorSide(fact) === "subject" && fact.verb !== undefined && isAll(subject) && words.length === subject.length
}
/** Whether the words are adjacent, without a preposition inside. */
const isPhrase = (all: readonly FactWord[], words: readonly FactWord[]): boolean =>
  words.every((word) => all.includes(word)) &&
  all.indexOf(words.at(-1)!) - all.indexOf(words[0]!) === words.length - 1 &&
  words.slice(1).every(({ preposition }) => preposition === undefined)
const MEASURED = new Set(["number", "unit", "date", "time", "month", "weekday", "frequency"])
const WHOSE = new Set(["of", "for", "about", "in"])

/** "Ana trains Bo", "The trainer of Ana is Bo": the side of the actor. */
function actorSide({ subject, predicate, verb }: Fact): "subject" | "predicate" {
  if (verb !== undefined) return "subject"
  const isAgent = subject.some(({ stem, kind }) => kind === undefined && stem.length > 5 && AGENT.test(stem))
  return isAgent || predicate.some(({ preposition }) => preposition === "by") ? "predicate" : "subject"
}

/** Whether values stay on their side. They may only swap if the actor does. */
function isOneDirection(a: Fact, b: Fact): boolean {
  const onBoth = (one: readonly FactWord[], other: readonly FactWord[]) =>
    one.filter((word) => other.some(({ stem, kind }) => stem === word.stem && (kind ?? word.kind) !== undefined)).length
  const moved = onBoth(a.subject, b.predicate) > 0 && onBoth(a.predicate, b.subject) > 0
  const stayed = onBoth(a.subject, b.subject) > 0 && onBoth(a.predicate, b.predicate) > 0
  return actorSide(a) === actorSide(b) ? !moved : !stayed
}

const valueKinds = (words: readonly FactWord[]): string =>
  [...new Set(words.map(({ kind }) => kind).filter((kind) => kind !== "unit"))].sort().join(" ")
