/**
 * Attributes that have one value at a time: where someone lives, a deadline, a port. Only these replace an earlier value without an
 * explicit correction. All others can have several: languages, children, customers. An attribute that is missing here only leaves both
 * facts current; one that is wrongly listed loses a true fact.
 */

import { type Fact, type FactWord, factWords } from "./fact.ts"
import { DUTIES, ROLES } from "./fact-words.ts"
import { isLight } from "./reworded-facts.ts"

interface AttributeRow {
  /** Nouns that name the attribute: "the port of …", "her salary". */
  readonly nouns: string
  /** Verbs in their base form that state the attribute. */
  readonly verbs?: string
  /** Prepositions of which one must precede the value. */
  readonly before?: string
}

const ONE_AT_A_TIME: Readonly<Record<string, AttributeRow>> = {
  home: { nouns: "home residence", verbs: "live reside move relocate", before: "in to at" },
  place: { nouns: "place location address" },
  employer: { nouns: "employer", verbs: "work", before: "for at" },
  title: { nouns: "rank profession occupation" },
  name: { nouns: "name surname nickname codename username" },
  superior: { nouns: "boss manager supervisor", verbs: "report", before: "to" },
  partner: { nouns: "wife husband spouse fiancé fiancée" },
  birthday: { nouns: "birthday birthdate" },
  age: { nouns: "age" },
  pronouns: { nouns: "pronouns" },
  timezone: { nouns: "timezone" },
  pay: { nouns: "salary pay wage allowance", verbs: "earn" },
  number: { nouns: "number" },
  measure: { nouns: "weight height altitude temperature humidity", verbs: "weigh" },
  deadline: { nouns: "deadline date birthday" },
  time: { nouns: "time bedtime start end expiry" },
  duration: { nouns: "duration timeout retention length", verbs: "last" },
  port: { nouns: "port", verbs: "listen", before: "on" },
  version: { nouns: "version" },
  limit: { nouns: "limit quota cap maximum minimum threshold budget goal target size capacity" },
  price: { nouns: "price cost fee rent deposit", verbs: "cost" },
  owner: { nouns: "owner lead maintainer head chair captain ceo cto" },
  branch: { nouns: "branch" },
  state: { nouns: "status state flag" },
  licence: { nouns: "licence license" },
}

const rowsBy = (words: (row: AttributeRow) => string | undefined): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(ONE_AT_A_TIME).flatMap(([name, row]) =>
      (words(row) ?? "")
        .split(" ")
        .filter((word) => word !== "")
        .map((word) => [word, name] as const),
    ),
  )
const BY_NOUN = rowsBy(({ nouns }) => nouns)
const BY_VERB = rowsBy(({ verbs }) => verbs)

/** A fact as one attribute of one subject. */
export interface AttributeValue {
  readonly attribute: string
  /** Stems of all other words: the subject, and further conditions. */
  readonly about: ReadonlySet<string>
  readonly value: readonly FactWord[]
}

/** `undefined` if the fact states no attribute of the table. */
export function readAttribute(fact: Fact): AttributeValue | undefined {
  if (!known.has(fact)) known.set(fact, read(fact))
  return known.get(fact)
}
const known = new WeakMap<Fact, AttributeValue | undefined>()

function read(fact: Fact): AttributeValue | undefined {
  if (isAddress(fact)) return { attribute: "address", value: fact.predicate.slice(2), about: new Set(["i"]) }
  if (fact.shape !== "statement" || fact.isPast || fact.isNegative || fact.adds) return undefined
  return readFromVerb(fact) ?? readFromSubject(fact) ?? readFromLabel(fact)
}

/** "Call me Bob". */
const isAddress = ({ shape, verb, predicate: [, object, name], isNegative }: Fact): boolean =>
  shape === "order" && verb === "call" && object?.text === "me" && name !== undefined && !isNegative

/** "The port of Orion is 80": the last word before "of" names the attribute, and everything after the verb is the value. */
function readFromSubject({ subject, predicate, verb, isMine }: Fact): AttributeValue | undefined {
  if (verb !== undefined) return undefined
  const end = subject.findIndex(({ preposition }, at) => at > 0 && preposition !== undefined)
  const head = subject[(end < 0 ? subject.length : end) - 1]
  const attribute = head && BY_NOUN.get(head.text)
  if (head === undefined || attribute === undefined || predicate.length === 0 || /[^s]s$/.test(head.text))
    return undefined
  const value = firstPhrase(predicate)
  const about = [...subject.filter((word) => word !== head), ...predicate.slice(value.length)]
  return { attribute, value, about: new Set([...(isMine ? ["i"] : []), ...about.map(({ stem }) => stem)]) }
}

/** "Ana lives in Oslo": the verb states the attribute. */
function readFromVerb({
  subject,
  predicate,
  verb,
  placeVerb,
  begins,
  isAboutOneUser,
}: Fact): AttributeValue | undefined {
  const stated = verb ?? placeVerb
  const attribute = stated === undefined ? undefined : BY_VERB.get(stated)
  if (attribute === undefined || subject.length === 0) return undefined
  const rest = predicate.slice(verb === undefined ? 0 : 1)
  const value = firstPhrase(rest)
  const allowed = ONE_AT_A_TIME[attribute]!.before?.split(" ")
  if (value.length === 0 || (allowed && !allowed.includes(value[0]!.preposition ?? ""))) return undefined
  const isUser = isAboutOneUser || (subject.length === 1 && subject[0]!.stem === "i")
  if (placeVerb !== undefined && CHANGING.has(placeVerb) && !(begins && isUser)) return undefined
  return { attribute, value, about: new Set([...subject, ...rest.slice(value.length)].map(({ stem }) => stem)) }
}

/** "Orion runs on port 80", "it has a limit of 20": the word before the value names the attribute. */
function readFromLabel({ subject, predicate, verb }: Fact): AttributeValue | undefined {
  if (verb !== undefined && verb !== "have") return undefined
  const at = predicate.findIndex(
    ({ kind }, index) => kind === undefined && BY_NOUN.has(predicate[index]!.text) && predicate[index + 1]?.kind,
  )
  if (at < 0 || subject.length === 0) return undefined
  const value = firstPhrase(predicate.slice(at + 1))
  const others = [...predicate.slice(0, at), ...predicate.slice(at + 1 + value.length)]
  const about = new Set([...subject, ...others].map(({ stem }) => stem))
  return { attribute: BY_NOUN.get(predicate[at]!.text)!, value, about }
}

/** Verbs with a home as their value: people move to a home, but meetings to a room. */
const CHANGING = new Set(["move", "relocate"])
/** The words up to the next preposition. */
function firstPhrase(words: readonly FactWord[]): readonly FactWord[] {
  const end = words.findIndex(({ preposition }, at) => at > 0 && preposition !== undefined)
  return end < 0 ? words : words.slice(0, end)
}

/**
 * Whether two facts state one attribute of one subject, and how their values compare. `wider`: one of them adds something about the
 * speaker, as in "I live in Leeds with my sister".
 */
export function sameAttribute(a: Fact, b: Fact): "same value" | "another value" | "wider" | "no" {
  const [one, other] = [readAttribute(a), readAttribute(b)]
  if (!one || !other || one.attribute !== other.attribute) return "no"
  const isPart = (part: ReadonlySet<string>, whole: ReadonlySet<string>) => [...part].every((stem) => whole.has(stem))
  const [aInB, bInA] = [isPart(one.about, other.about), isPart(other.about, one.about)]
  if (one.about.size === 0 || other.about.size === 0 ? one.about.size !== other.about.size : !aInB && !bInA) return "no"
  const stems = (words: readonly FactWord[]) =>
    words
      .map(({ stem }) => stem)
      .sort()
      .join(" ")
  if (!aInB || !bInA) return one.about.has("i") && stems(one.value) !== stems(other.value) ? "wider" : "no"
  return stems(one.value) === stems(other.value) ? "same value" : "another value"
}

/** Keys of a fact with a known attribute: any fact that states it in other words contains all of these. */
export function attributeKey(fact: Fact): readonly string[] | undefined {
  const held = readAttribute(fact)
  return (
    held &&
    [...held.about]
      .sort()
      .slice(0, 1)
      .map((stem) => `attribute:${held.attribute}:${stem}`)
  )
}

// Whether a sentence states the old value that a newer one names: "we switched from Jest to Vitest".

/** "We switched from Jest to Vitest" contradicts a statement that something is Jest. */
export function compareWithNamedChange(
  older: Fact,
  { over }: Fact,
): "contradicts" | "named over" | "doubtful" | undefined {
  if (!over || older.isNegative || older.isPast || !isStateWith(older, over.was)) return undefined
  const named = new Set([...over.was, ...over.about])
  const words = factWords(older)
  const isAbout = over.about.every((stem) => words.some((word) => word.stem === stem) || isSpeaker(stem))
  const rest = words.filter((word) => !named.has(word.stem) && !isLight(word) && !isSpeaker(word.stem))
  if (over.about.length > 0) return isAbout && rest.every(isOfRole) ? "contradicts" : undefined
  return rest.some(({ kind, preposition }) => kind === "name" && preposition !== undefined) ? "doubtful" : "named over"
}

const isSpeaker = (stem: string): boolean => stem === "we" || stem === "i"
const isOfRole = ({ stem, preposition }: FactWord): boolean =>
  ROLES.has(stem) || DUTIES.has(stem) || preposition === undefined

/**
 * Whether the value is at one end of the sentence, as in "we use Jest", "the runner is Jest", "Bo leads billing". Preferences are not
 * such states.
 */
function isStateWith({ subject, predicate, verb, shape, isAboutOneUser, placeVerb }: Fact, was: readonly string[]) {
  if (was.length === 0 || shape === "order" || (verb !== undefined && ATTITUDES.has(verb))) return false
  const isAll = (words: readonly FactWord[]) =>
    words.length === was.length && words.every(({ stem }, at) => stem === was[at])
  if (isAll(subject)) {
    const isHome = isAboutOneUser && placeVerb !== undefined
    return verb === undefined ? !isHome && predicate.some(isPostOrOnCall) : ROLES.has(verb) || DUTIES.has(verb)
  }
  const start = predicate.findIndex(({ stem }) => stem === was[0])
  return start >= 0 && isAll(predicate.slice(start, start + was.length))
}

const ATTITUDES = new Set("like love hate enjoy know speak want learn teach mention meet visit eat drink".split(" "))
/** "the owner", "on call". */
const isPostOrOnCall = ({ stem, text, preposition }: FactWord): boolean =>
  ROLES.has(stem) || /(?:er|or|ist|lead|head|chief)$/.test(text) || (preposition === "on" && stem === "call")
