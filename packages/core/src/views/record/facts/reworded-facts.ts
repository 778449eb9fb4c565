/**
 * Two sentences that say the same in other words: one names the attribute with a noun, the other with the verb it comes from. "The auditor
 * of Atlas is Olu", "Atlas is audited by Olu"; "The opening time of the loft is 9 am", "The loft opens at 9 am".
 */
import { baseForm } from "../../../base/terms.ts"
import { type Fact, type FactWord, wordsOf } from "./fact.ts"
import { DIRECTIONS, isQuality } from "./fact-words.ts"

/** With the name of an attribute they add nothing to it. */
const HEADS = new Set("time number date day hour name amount value count level".split(" "))
const AGENT = /(?:er|or)$/
const MOST_ATTRIBUTE_WORDS = 3
/** After what is measured they say no more than "is": the run takes an hour. */
const EQUALS = new Set("take last cost weigh measure happen occur".split(" "))
const WHEN = new Set(["time", "date", "weekday", "month"])
const WHEN_PREPOSITIONS = new Set(["at", "on", "in"])
const LIGHT_VERBS = new Set(
  "have get take use wear carry hold keep go come make do give eat drink follow receive own cost".split(" "),
)
/** At the end of a compound: bedtime. */
const COMPOUND_HEAD = /(?<=^.{3,})(?:time?|dai|date?)$/
const SHORTEST_ROOT = 5
const LONGEST_ENDING = 3

/** Of the verb that a noun comes from: the auditor, audited. */
export const rootOfStem = (stem: string): string =>
  stem.length > 5 ? stem.replace(AGENT, "").replace(COMPOUND_HEAD, "") : stem

/** A word that a rewording may leave out. */
export const isHead = (word: string): boolean => HEADS.has(word)

type Rewording = "same" | "another value" | "no"

export function rewordingOf(a: Fact, b: Fact): Rewording {
  if ([a, b].some(isUnsure)) return "no"
  const found = [toldBy(a, b), toldBy(b, a), namedTwice(a, b)]
  return found.find((relation) => relation !== "no") ?? "no"
}

/** "The tour of Elm takes an hour", "Tours of Elm last an hour": the verbs say no more than "is". */
function namedTwice(a: Fact, b: Fact): Rewording {
  const [one, other] = [namingOf(a), namingOf(b)]
  if (!one || !other || (a.verb ?? b.verb) === undefined) return "no"
  const difference = (first: readonly FactWord[], second: readonly FactWord[]) =>
    without(first, second).length + without(second, first).length
  if (difference(one.subject, other.subject) > 0 || one.subject.length !== other.subject.length) return "no"
  if (difference(one.predicate, other.predicate) === 0) return "same"
  return kindsOf(one.predicate) === kindsOf(other.predicate) ? "another value" : "no"
}

/** The first names the attribute, the second tells of it. */
function toldBy(named: Fact, told: Fact): Rewording {
  const noun = namingOf(named)
  const isNaming = told.verb === undefined && namingOf(told) !== undefined
  if (!noun || isNaming || told.shape === "order") return "no"
  const verb = withVerb(told, noun)
  if (verb.shape !== "statement") return "no"
  const relation = toldOfThing(noun, verb)
  return relation === "no" ? toldOfDoer(noun, verb) : relation
}

/** "The shoe size of Ana is 40", "Ana wears shoe size 40": the rest is about the thing, and has the words of the attribute and the value. */
function toldOfThing(noun: Fact, { subject, predicate }: Fact): Rewording {
  const attribute = without(noun.subject, subject)
  if (subject.length === 0 || attribute.length + subject.length !== noun.subject.length) return "no"
  const kinds = new Set(noun.predicate.map(({ kind }) => kind))
  const value = predicate.filter(({ kind }) => kind !== undefined && (kinds.has(kind) || kind === "unit"))
  const said = predicate.filter((word) => !value.includes(word))
  if (value.length === 0 || !isOneAttribute(withoutGerundHead(attribute, said), withoutLight(said))) return "no"
  if (isAgentNamed(without(attribute, said))) return "no" // "Ana trains Bo" says nothing of Ana's trainer
  if (without(value, noun.predicate).length + without(noun.predicate, value).length === 0) return "same"
  const hasBoth = value.some(({ stem }) => noun.predicate.some((one) => one.stem === stem && one.kind !== "unit"))
  return !hasBoth && kindsOf(value) === kindsOf(noun.predicate) ? "another value" : "no"
}

/** The words of the first that the second lacks. */
const without = (words: readonly FactWord[], others: readonly FactWord[]): readonly FactWord[] =>
  words.filter(({ stem }) => !others.some((one) => one.stem === stem))

/** With an object they say little more than that it is there: wears shoe size 40, takes bus 4. */
const withoutLight = (said: readonly FactWord[]): readonly FactWord[] =>
  said.length > 1 && LIGHT_VERBS.has(baseOfLight(said[0]!)) ? said.slice(1) : said
const baseOfLight = ({ text }: FactWord): string => baseForm(text.replace(/(?<=[^s])s$|(?<=go)es$/, ""))

/** "The swimming lesson of Ana": what follows is only the head of it, if the other one says that she swims. */
function withoutGerundHead(attribute: readonly FactWord[], [verb]: readonly FactWord[]): readonly FactWord[] {
  const at = attribute.findIndex(
    (word) => /ing$/.test(word.text) && verb !== undefined && rootOf(word) === rootOf(verb),
  )
  const head = attribute[at + 1]
  const isHeadOnly = at >= 0 && head !== undefined && head.kind === undefined && head.preposition === undefined
  return isHeadOnly ? attribute.filter((word) => word !== head) : attribute
}

function toldOfDoer(noun: Fact, verb: Fact): Rewording {
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
  if (thing.length === 0 || newValue.length === 0 || !isOneAttribute(attribute, said)) return "no"
  if (!isToldOf({ thing, value: newValue, attribute, verb })) return "no"
  if (isSame) return "same"
  return value.length === 0 && kindsOf(newValue) === kindsOf(noun.predicate) ? "another value" : "no"
}

/** "The auditor of Atlas is Olu": the subject has the attribute, and all that follows is its value. "The run of Ana takes an hour" too. */
function namingOf(fact: Fact): Fact | undefined {
  const { shape, verb, subject } = fact
  const isEqual = verb !== undefined && EQUALS.has(verb)
  if (shape !== "statement" || subject.length < 2 || (verb !== undefined && !isEqual)) return undefined
  const predicate = fact.predicate.slice(isEqual ? 1 : 0).filter(({ text }) => !HEADS.has(text))
  const isValue = ({ kind, preposition, isOneOf }: FactWord) =>
    kind !== undefined &&
    !isOneOf &&
    (preposition === undefined || (WHEN.has(kind) && WHEN_PREPOSITIONS.has(preposition)))
  return predicate.length > 0 && predicate.length <= 3 && predicate.every(isValue) ? { ...fact, predicate } : undefined
}

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
    (word, index) =>
      index > 0 &&
      word.kind === undefined &&
      /s$/.test(word.text) &&
      roots.some((root) => isOneRoot(root, rootOf(word))),
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
    [...new Set(words.filter(({ text }) => !HEADS.has(text) && !DIRECTIONS.has(text)).map(rootOf))].sort()
  const [named, told] = [roots(noun), roots(verb)]
  return (
    named.length > 0 &&
    named.length <= MOST_ATTRIBUTE_WORDS &&
    named.length === told.length &&
    named.every((root, at) => isOneRoot(root, told[at]!)) &&
    noun.every(
      (word) =>
        HEADS.has(word.text) ||
        (word.kind === undefined &&
          (!isQuality(word.text) || /(?:ing|ed)$/.test(word.text) || without([word], verb).length === 0)),
    )
  )
}

/** The same, or one is made from the other with an ending: weigh, weight; compete, competition. */
function isOneRoot(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return (
    short === long ||
    (short.length >= SHORTEST_ROOT && long.startsWith(short) && long.length - short.length <= LONGEST_ENDING)
  )
}

const isAgentNamed = (attribute: readonly FactWord[]): boolean =>
  attribute.some(({ stem }) => AGENT.test(stem) && stem.length > 5)

interface Telling {
  readonly thing: readonly FactWord[]
  readonly value: readonly FactWord[]
  readonly attribute: readonly FactWord[]
  readonly verb: Fact
}

/** Who does it to whom: "The trainer of Ana is Bo" is "Bo trains Ana", and not "Ana trains Bo". */
function isToldOf({ thing, value, attribute, verb: { subject, predicate, verb } }: Telling): boolean {
  const isAgent = isAgentNamed(attribute)
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
