/**
 * Two sentences that say the same in other words: one names the attribute with a noun, the other with the verb it comes from. "The auditor
 * of Atlas is Olu", "Atlas is audited by Olu"; "The opening time of the loft is 9 am", "The loft opens at 9 am".
 */
import type { Fact, FactWord } from "./fact.ts"
import { DIRECTIONS, isQuality } from "./fact-words.ts"

/** With the name of an attribute they add nothing to it. */
const HEADS = new Set("time number date day hour name amount value count level".split(" "))
const AGENT = /(?:er|or)$/
const MOST_ATTRIBUTE_WORDS = 3

/** Of the verb that a noun comes from: the auditor, audited. */
export const rootOfStem = (stem: string): string => (stem.length > 5 ? stem.replace(AGENT, "") : stem)

/** A word that a rewording may leave out. */
export const isHead = (stem: string): boolean => HEADS.has(stem)

export type Rewording = "same" | "another value" | "no"

export function rewordingOf(a: Fact, b: Fact): Rewording {
  const [noun, other] = isNaming(a) ? [a, b] : [b, a]
  if (!isNaming(noun) || isNaming(other) || other.shape === "order" || [a, b].some(isUnsure)) return "no"
  const verb = withVerb(other, noun)
  const [named, told] = [wordsOf(noun), wordsOf(verb)]
  const common = (words: readonly FactWord[], others: readonly FactWord[]) =>
    words.filter(({ stem }) => others.some((one) => one.stem === stem))
  const isValue = (word: FactWord) => noun.predicate.includes(word)
  const thing = common(named, told).filter((word) => !isValue(word) && !isOfVerb(word, verb))
  const attribute = named.filter((word) => !isValue(word) && !thing.includes(word))
  const rest = told.filter((word) => !thing.some(({ stem }) => stem === word.stem))
  const value = rest.filter(({ stem }) => noun.predicate.some((one) => one.stem === stem))
  const isSame = value.length === noun.predicate.length
  const others = rest.filter((word) => !value.includes(word))
  const said = isSame ? others : others.filter(({ kind }) => kind === undefined)
  const newValue = isSame ? value : others.filter(({ kind }) => kind !== undefined)
  if (verb.shape !== "statement" || thing.length === 0 || newValue.length === 0 || !isOneAttribute(attribute, said))
    return "no"
  if (!isToldOf({ thing, value: newValue, attribute, verb })) return "no"
  if (isSame) return "same"
  return value.length === 0 && kindsOf(newValue) === kindsOf(noun.predicate) ? "another value" : "no"
}

const wordsOf = ({ subject, predicate }: Fact): readonly FactWord[] => [...subject, ...predicate]

/** "The auditor of Atlas is Olu": the subject has the attribute, and all that follows is its value. */
const isNaming = ({ shape, verb, subject, predicate }: Fact): boolean =>
  shape === "statement" &&
  verb === undefined &&
  subject.length > 1 &&
  predicate.length > 0 &&
  predicate.length <= 3 &&
  predicate.every(({ kind, preposition, isOneOf }) => kind !== undefined && preposition === undefined && !isOneOf)

const isUnsure = ({ isNegative, isPast, adds, rejected }: Fact): boolean =>
  isNegative || isPast || adds || rejected.length > 0

const rootOf = ({ stem }: FactWord): string => rootOfStem(stem)
/** It is the verb, or what follows "is": "is licensed under". */
const isOfVerb = (word: FactWord, { predicate: [first] }: Fact): boolean =>
  first !== undefined && first.kind === undefined && first.preposition === undefined && rootOf(word) === rootOf(first)

/** Where no verb is known, the word that the noun comes from is one: "prints on", "the printer". */
function withVerb(fact: Fact, noun: Fact): Fact {
  if (fact.shape !== "unknown") return fact
  const roots = noun.subject.filter(({ kind }) => kind === undefined).map(rootOf)
  const at = fact.predicate.findIndex(
    (word, index) => index > 0 && word.kind === undefined && /s$/.test(word.text) && roots.includes(rootOf(word)),
  )
  if (at < 0) return fact
  const { predicate } = fact
  return {
    ...fact,
    shape: "statement",
    verb: predicate[at]!.stem,
    subject: predicate.slice(0, at),
    predicate: predicate.slice(at),
  }
}

/** The same root on both sides, and nothing else that says anything. */
function isOneAttribute(noun: readonly FactWord[], verb: readonly FactWord[]): boolean {
  const roots = (words: readonly FactWord[]) =>
    [...new Set(words.filter(({ stem, text }) => !HEADS.has(stem) && !DIRECTIONS.has(text)).map(rootOf))].sort()
  const [named, told] = [roots(noun), roots(verb)]
  return (
    named.length > 0 &&
    named.length <= MOST_ATTRIBUTE_WORDS &&
    named.join(" ") === told.join(" ") &&
    noun.every(({ kind, text }) => kind === undefined && (!isQuality(text) || /(?:ing|ed)$/.test(text)))
  )
}

interface Telling {
  readonly thing: readonly FactWord[]
  readonly value: readonly FactWord[]
  readonly attribute: readonly FactWord[]
  readonly verb: Fact
}

/** Who does it to whom: "The trainer of Ana is Bo" is "Bo trains Ana", and not "Ana trains Bo". */
function isToldOf({ thing, value, attribute, verb: { subject, predicate, verb } }: Telling): boolean {
  const isAgent = attribute.some(({ stem }) => AGENT.test(stem) && stem.length > 5)
  const has = (side: readonly FactWord[], words: readonly FactWord[]) =>
    words.every(({ stem }) => side.some((one) => one.stem === stem))
  if (has(subject, value)) return isAgent && verb !== undefined && has(predicate, thing)
  if (!has(subject, thing) || !has(predicate, value)) return false
  const preposition = predicate.find((word) => word.stem === value[0]!.stem)?.preposition
  if (!isAgent) return true
  return verb === undefined ? preposition === "by" || preposition === "with" : preposition !== undefined
}

const kindsOf = (words: readonly FactWord[]): string =>
  [...new Set(words.map(({ kind }) => kind).filter((kind) => kind !== "unit"))].sort().join(" ")
