/**
 * Whether two sentences state the same, or the newer one replaces the older. It does so in three cases only: it negates the older one,
 * it states another value of an attribute that has one at a time, or it states that something changed. Otherwise both stay.
 */
import { compareWithNamedChange, sameAttribute } from "./attributes.ts"
import { type Fact, type FactWord, factWords, stemOf } from "./fact.ts"
import { DIRECTIONS, DUTIES, isQuality, MANY, MULTIPLE, ROLES, SHARED_STATES, VERBS } from "./fact-words.ts"
import { compareRewording, isEqual } from "./reworded-facts.ts"

export type FactRelation =
  | "same"
  /** The newer one replaces the older. */
  | "contradicts"
  /** The newer one names the older one's value as the old one, without a subject. It refers to this one only if no other has that value. */
  | "named over"
  /** The same subject and attribute, with another value. Both could still be true. */
  | "doubtful"
  /** The same subject, with values of one kind. Only a reader can decide whether both are true. */
  | "alike"
  | "apart"

export function compareFacts(older: Fact, newer: Fact): FactRelation {
  const named = compareWithNamedChange(older, newer)
  if (named !== undefined) return named
  const relation = compareWords(older, newer)
  if (relation === "same" || relation === "contradicts") return relation
  const attribute = compareAttributes(older, newer)
  if (attribute !== undefined) return attribute
  if (relation === "doubtful") return relation
  const rewording = compareRewording(older, newer)
  return rewording === "same" ? "same" : rewording === "another value" ? "doubtful" : relation
}

/** Compares facts that state the same attribute of the same subject, in any words. */
function compareAttributes(older: Fact, newer: Fact): FactRelation | undefined {
  const found = sameAttribute(older, newer)
  if (found === "no") return undefined
  if (found === "same value") return "same"
  return found === "another value" || newer.begins || newer.corrects ? "contradicts" : "doubtful"
}

/** Whether the newer one replaces the older. The same answer as `compareFacts` at a lower cost: a rewording never contradicts. */
export function areContradictory(older: Fact, newer: Fact): boolean {
  const named = compareWithNamedChange(older, newer)
  if (named !== undefined) return named === "contradicts"
  const relation = compareWords(older, newer)
  return relation === "contradicts" || (relation !== "same" && compareAttributes(older, newer) === "contradicts")
}

function compareWords(older: Fact, newer: Fact): FactRelation {
  const [a, b] = withoutSpeaker(older, newer)
  const [wordsOfA, wordsOfB] = [factWords(a), factWords(b)]
  const onlyA = withoutEqual(without(wordsOfA, wordsOfB), a, b)
  const onlyB = withoutEqual(without(wordsOfB, wordsOfA), b, a)
  if (onlyA.length === 0 && onlyB.length === 0) return compareEqual(a, b)
  if (a.isNegative !== b.isNegative || a.adds || b.adds) return "apart"
  const slots: DifferingWords = { a: { fact: a, words: onlyA }, b: { fact: b, words: onlyB } }
  const hasCommon = onlyA.length < wordsOfA.length
  if (hasCommon && isRejected(slots)) return "contradicts"
  if (onlyA.length === 0 || onlyB.length === 0) return "apart"
  if (!hasCommon) return isChoice(slots) ? "contradicts" : "apart"
  if (isOtherHolder(slots)) return "contradicts"
  if (isOtherDuty(slots) || isOtherDoer(slots)) return "doubtful"
  if (isLaterEnd(slots)) return "doubtful"
  if (!isSlot(slots.a) || !isSlot(slots.b)) return "apart"
  if (isSameSlot(slots)) return isPast(a, b) ?? compareSlots(slots)
  if (isDoubtful(slots) || isMeasuredOtherwise(slots)) return "doubtful"
  return kindOf(onlyA) !== undefined && kindOf(onlyA) === kindOf(onlyB) ? "alike" : "apart"
}

/** Compares facts that differ in the value only. */
function compareSlots(slots: DifferingWords): FactRelation {
  const { a, b } = slots
  if (isMany(slots)) return b.fact.begins || b.fact.corrects ? "doubtful" : "apart"
  if ((a.fact.shape === "order" || a.fact.verb === "prefer") && isClosed(kindOf(a.words) ?? "plain"))
    return "contradicts"
  return b.fact.begins || b.fact.corrects ? "contradicts" : "doubtful"
}

const MANY_NOUNS = new Set([...MANY].map(stemOf))
const MANY_VERBS = new Set("speak know like love support serve ship visit teach learn play".split(" "))

interface FactSide {
  readonly fact: Fact
  /** Words that the other fact does not have. */
  readonly words: readonly FactWord[]
}
interface DifferingWords {
  readonly a: FactSide
  readonly b: FactSide
}

/** Removes the speaker: "We keep the logs for a week" and "The logs are kept for a week" state the same. */
function withoutSpeaker(a: Fact, b: Fact): readonly [Fact, Fact] {
  const isAboutSpeaker = ({ subject, predicate }: Fact) =>
    subject.length === 1 && subject[0]!.stem === "we" && predicate.length > 2
  const open = (fact: Fact): Fact => (isAboutSpeaker(fact) ? { ...fact, subject: [] } : fact)
  return isAboutSpeaker(a) !== isAboutSpeaker(b) ? [open(a), open(b)] : [a, b]
}

/** Removes verbs that mean no more than "is": "lasts 14 days" equals "is 30 days" except for the value. */
const withoutEqual = (words: readonly FactWord[], fact: Fact, other: Fact): readonly FactWord[] =>
  other.verb === undefined && fact.verb !== undefined && isEqual(fact.verb)
    ? words.filter((word) => word !== fact.predicate[0])
    : words

/** The words of the first that the second lacks, counting repetitions. */
function without(words: readonly FactWord[], others: readonly FactWord[]): readonly FactWord[] {
  const left: (string | undefined)[] = others.map(({ stem }) => stem)
  return words.filter(({ stem }) => {
    const at = left.indexOf(stem)
    if (at >= 0) left[at] = undefined
    return at < 0
  })
}

/**
 * Compares facts with the same words. Words may move from one side of the verb to the other, but not swap places, because that changes
 * who does what to whom.
 */
function compareEqual(a: Fact, b: Fact): FactRelation {
  if (factWords(a).length === 0 || a.isPast !== b.isPast) return "apart"
  const moves = [without(a.subject, b.subject).length > 0, without(b.subject, a.subject).length > 0]
  if (moves[0] && moves[1] && !isPassiveOf(a, b) && !isPassiveOf(b, a)) return "apart"
  if (moves[0] && moves[1]) return a.isNegative === b.isNegative ? "same" : "contradicts"
  const isSpeakers = a.subject.length === 0 || b.subject.length === 0
  if (moves.includes(true) && !isSpeakers && [a, b].some(({ verb }) => verb !== undefined && verb !== "have"))
    return "apart"
  return a.isNegative === b.isNegative ? "same" : "contradicts"
}

/** "Atlas is maintained by Yuki", "Yuki maintains Atlas". */
function isPassiveOf(passive: Fact, active: Fact): boolean {
  const doer = passive.predicate.find(({ preposition }) => preposition === "by")
  return (
    passive.verb === undefined && active.verb !== undefined && active.subject.some(({ stem }) => stem === doer?.stem)
  )
}

/** Whether one fact explicitly negates what the other states. */
function isRejected({ a, b }: DifferingWords): boolean {
  const rejects = ({ fact }: FactSide, other: FactSide) =>
    fact.rejected.length > 0 &&
    other.words.length > 0 &&
    other.words.every(({ stem }) => fact.rejected.includes(stem)) &&
    isSlot(other)
  return rejects(a, b) || rejects(b, a)
}

/** "Ana leads the team", "Bo leads the team": only one person holds the post. */
function isOtherHolder({ a, b }: DifferingWords): boolean {
  const isHolder = ({ fact, words }: FactSide) => !fact.isPast && words.every((word) => fact.subject.includes(word))
  if (!isHolder(a) || !isHolder(b)) return false
  const holds = ({ fact }: FactSide) =>
    fact.verb === undefined
      ? fact.isAboutOneUser && fact.predicate.some(isPostName)
      : ROLES.has(fact.verb) && hasOneObject(fact)
  return holds(a) && holds(b)
}

/** "leads the payments team": if there are several objects, or a direction, several subjects can be true. */
function hasOneObject({ predicate: [, ...rest] }: Fact): boolean {
  const end = rest.findIndex(({ preposition }) => preposition !== undefined)
  const object = end < 0 ? rest : rest.slice(0, end)
  const isHead = ({ kind, text }: FactWord) => kind === "name" || kind === "label" || !/[^s]s$/.test(text)
  return object.length > 0 && isHead(object.at(-1)!) && rest.every(({ kind }) => !MEASURED.has(kind ?? ""))
}

/** "Ana answers tickets for Atlas", "Bo answers tickets for Atlas": often only one does, but sometimes both. */
function isOtherDuty({ a, b }: DifferingWords): boolean {
  const isDoer = ({ fact: { subject, predicate, verb, isAboutOneUser, isPast }, words }: FactSide) =>
    isAboutOneUser &&
    !isPast &&
    isDuty(verb ?? "", predicate[1]) &&
    words.length === subject.length &&
    words[0] === subject[0]
  return isDoer(a) && isDoer(b)
}

/** Whether a verb describes a duty. An unknown verb does if it has an object: "Ilse curates the museum". */
const isDuty = (verb: string, object: FactWord | undefined): boolean =>
  DUTIES.has(verb) ||
  (verb !== "" &&
    !VERBS.has(verb) &&
    object?.preposition === undefined &&
    object?.isOneOf === false &&
    !MEASURED.has(object.kind ?? ""))

/** "Ana is fed by Bo", "Cy feeds Ana": the same action with another actor. */
function isOtherDoer({ a, b }: DifferingWords): boolean {
  const isNames = (words: readonly FactWord[]) => words.every(({ kind }) => kind === "name" || kind === undefined)
  const isPassive = ({ fact: { verb, predicate }, words }: FactSide) =>
    verb === undefined &&
    words[0]!.preposition === "by" &&
    isNames(words) &&
    words.every((word) => predicate.includes(word))
  const isActive = ({ fact: { verb, subject, isPast }, words }: FactSide) =>
    verb !== undefined && !isPast && words.length === subject.length && words.every((word) => subject.includes(word))
  return (isPassive(a) && isActive(b)) || (isPassive(b) && isActive(a))
}

/** "the owner", but not "owned". */
const isPostName = ({ stem, text, kind }: FactWord): boolean =>
  kind === undefined && ROLES.has(stem) && !/ed$/.test(text)

/** "Use tabs", "Use spaces": an order that consists only of one of several choices. */
function isChoice({ a, b }: DifferingWords): boolean {
  const kind = kindOf(a.words)
  return (
    a.fact.shape === "order" &&
    b.fact.shape === "order" &&
    kind === kindOf(b.words) &&
    kind !== undefined &&
    isClosed(kind)
  )
}

/** Whether the words are adjacent in the predicate and not part of the subject. */
function isSlot({ fact, words }: FactSide): boolean {
  const { predicate, shape } = fact
  const places = words.map((word) => predicate.indexOf(word))
  if (places.includes(-1) || places.some((place, at) => at > 0 && place !== places[at - 1]! + 1)) return false
  // a preposition inside starts another phrase: "for Atlas to Oslo"
  const isOne = words
    .slice(1)
    .every(
      ({ preposition }) => preposition === undefined || (preposition === "of" && words.length === predicate.length),
    )
  if (!isOne || (WHOSE.has(words[0]!.preposition ?? "") && !MEASURED.has(kindOf(words) ?? ""))) return false
  if (shape === "statement") return true
  if (shape === "order") return places[0]! > 0 || fact.verb === undefined
  return places[0]! > 1 && places.at(-1) === predicate.length - 1 // without a verb, only the end of a longer sentence is certain
}

/** The common kind of these values. Units belong to their number. */
function kindOf(words: readonly FactWord[]): string | undefined {
  const kinds = new Set(words.map(({ kind }) => kind ?? "plain"))
  if (kinds.has("number")) kinds.delete("unit")
  if (kinds.has("name")) kinds.delete("label")
  return kinds.size === 1 ? [...kinds][0] : undefined
}

const MEASURED = new Set(["number", "date", "time", "month", "frequency"])
const OPEN = new Set(["name", "plain", "address", "label"])
const WHOSE = new Set(["of", "for", "about", "von", "für", "de", "di", "van", "voor"])
const isClosed = (kind: string): boolean => !MEASURED.has(kind) && !OPEN.has(kind)

/** Whether the facts state another value of one thing, as far as words can tell. */
function isSameSlot(slots: DifferingWords): boolean {
  const { a, b } = slots
  const [kind, other] = [kindOf(a.words), kindOf(b.words)]
  if (kind === undefined || other === undefined) return isNamedAttribute(slots)
  if (isQualified(a) || isQualified(b)) return false
  if (kind !== other) return !isClosed(kind) && !isClosed(other) && isNamedAttribute(slots)
  if (!OPEN.has(kind)) return true
  if (isNamedAttribute(slots) || isPurposeNamed(slots)) return true
  if (isFollowed(a) || isFollowed(b)) return false
  const isPlain = a.fact.verb === undefined && b.fact.verb === undefined
  if (kind === "label")
    return isPlain || b.fact.begins || (NEEDS.has(a.fact.verb ?? "") && NEEDS.has(b.fact.verb ?? ""))
  if (isMultiple(a.fact) || isMultiple(b.fact)) return false
  if (kind === "plain") return isPlain && isPart(a) && isPart(b)
  if (isPost(a) && isPost(b)) return true
  if ((a.fact.corrects || b.fact.corrects) && isSingle(a) && isSingle(b)) return true
  const [first, second] = [prepositionOf(a), prepositionOf(b)]
  if (first === undefined || second === undefined || a.fact.shape !== "statement") return false
  return (first === second || a.fact.begins || b.fact.begins) && !isOneOfSeveral(a, first) && !isOneOfSeveral(b, second)
}

const MAX_VALUE = 5 // words

/** Whether the two differ only in their ends, after the same words: "reads its orders from Kafka", "from the nightly batch". */
function isDoubtful({ a, b }: DifferingWords): boolean {
  const isUnread = ({ fact, words }: FactSide) =>
    fact.shape === "unknown" && words.some(({ kind }) => kind === undefined) && words[0]!.preposition === undefined
  if (isUnread(a) || isUnread(b)) return false
  const isPastEvent = ({ fact }: FactSide) => fact.isPast && fact.verb !== undefined // an event can happen again
  if (isPastEvent(a) || isPastEvent(b) || a.fact.isPast !== b.fact.isPast || !isFinalValue(a) || !isFinalValue(b))
    return false
  const [first, second] = [a.words[0]!.preposition, b.words[0]!.preposition]
  return first === second && (first !== undefined || (isLed(a) && isLed(b)))
}

/** "It serves 80 covers a night", "it serves 130": the same words, and one measure. */
function isMeasuredOtherwise({ a, b }: DifferingWords): boolean {
  const [one, other] = [kindOf(a.words), kindOf(b.words)]
  return one === other && MEASURED.has(one ?? "") && ![a, b].some(isQualified) && !a.fact.isPast && !b.fact.isPast
}

/** "Ana plays for Rovers", "Update: Ana plays for United": both could be true, but one states that something changed. */
function isLaterEnd({ a, b }: DifferingWords): boolean {
  const isEnd = ({ fact: { subject, predicate, verb, shape, isPast }, words }: FactSide) =>
    shape === "statement" &&
    verb !== undefined &&
    !isPast &&
    words.length <= MAX_VALUE &&
    words.every((word) => predicate.includes(word)) &&
    words.length === predicate.length - 1 && // right after the verb
    words.every(({ preposition }, at) => (at === 0) === (preposition !== undefined)) &&
    subject.every(({ stem }) => stem !== "we" && stem !== "i")
  const isLater = [a, b].some(({ fact }) => fact.corrects || fact.begins)
  return isLater && isEnd(a) && isEnd(b) && a.words[0]!.preposition === b.words[0]!.preposition && !isSameSlot({ a, b })
}

/** Whether the value ends the sentence, and no other word in it is a value. */
function isFinalValue({ fact, words }: FactSide): boolean {
  const { predicate, shape, verb, isAboutOneUser } = fact
  const [start, end] = [predicate.indexOf(words[0]!), predicate.indexOf(words.at(-1)!) + 1]
  const isOther = ({ kind }: FactWord, at: number) => at < start && MEASURED.has(kind ?? "") && !isOfName(fact, at)
  return (
    shape !== "order" &&
    end === predicate.length &&
    words.length <= MAX_VALUE &&
    !words[0]!.isOneOf &&
    !isMultiple(fact) &&
    !(isAboutOneUser && (verb !== undefined || shape === "unknown") && !LIVES.has(verb ?? "")) &&
    !predicate.some(isOther)
  )
}

/** Whether the words before the value introduce it: "reads its orders from", or "the trailer of Echo is". */
const isLed = ({ fact: { subject, predicate }, words }: FactSide): boolean =>
  predicate[0] !== words[0] ||
  (subject.some(({ preposition }) => preposition === "of") && !words.every(({ text }) => isQuality(text)))

/** Whether the statement is not one of many things that someone does: "Actually, Ana rides Echo" corrects nothing about Bramble. */
const isSingle = ({ fact: { verb, shape, isAboutOneUser }, words }: FactSide): boolean =>
  (verb === undefined && !(isAboutOneUser && shape === "unknown")) ||
  (words[0]!.preposition !== undefined && (!isAboutOneUser || LIVES.has(verb ?? "")))

/** "Ana keeps the key to Elm": people do many things, and words after an object may belong to it. */
function isOneOfSeveral({ fact: { verb, predicate, isAboutOneUser }, words }: FactSide, preposition: string): boolean {
  if (verb === undefined) return false
  const hasObject = predicate.indexOf(words[0]!) > 1 && predicate[1]!.preposition === undefined
  return (isAboutOneUser && !LIVES.has(verb)) || (hasObject && !PLACES.has(preposition))
}
const LIVES = new Set(["live", "work", "sit", "stay", "study", "report", "commute"])

/**
 * The preposition of the value, or of the words that introduce it: "in the region Oslo". After an action verb, "with" names one of
 * many.
 */
function prepositionOf({ fact: { predicate, verb }, words }: FactSide): string | undefined {
  const before = predicate.slice(0, predicate.indexOf(words[0]!) + 1)
  const isOther = ({ kind, preposition }: FactWord) => kind !== undefined && preposition === undefined
  const led = before.slice(before.slice(0, -1).findLastIndex(isOther) + 1)
  const found = led.findLast(({ preposition }) => preposition !== undefined)?.preposition
  return found === "with" && verb !== undefined ? undefined : found
}

/** Verbs that name the version of a thing: "needs Node 22". */
const NEEDS = new Set(["need", "require", "use"])

/** A name after the words may be the value, and the words only its owner. */
const isFollowed = ({ fact: { predicate }, words }: FactSide): boolean =>
  predicate.slice(predicate.indexOf(words.at(-1)!) + 1).some(({ kind }) => kind !== undefined && kind !== "unit")

/**
 * Whether the predicate has another value: "30 seconds in production", "logs of team 2 for 90 days". The differing words may then only
 * tell when, where or whose.
 */
function isQualified({ fact, words }: FactSide): boolean {
  const isMeasured = MEASURED.has(kindOf(words) ?? "")
  return fact.predicate.some(({ kind, ...word }, at) => {
    if (isOfName(fact, at)) return false
    if (kind === undefined || kind === "unit" || kind === "name" || words.some(({ stem }) => stem === word.stem))
      return false
    return !isMeasured || MEASURED.has(kind) || kind === "label"
  })
}

/** "of the wiki 2": the number belongs to the name. */
function isOfName({ predicate, verb }: Fact, at: number): boolean {
  const [before, word, next] = [predicate[at - 1], predicate[at]!, predicate[at + 1]]
  if (word.preposition !== undefined || (word.kind !== "number" && word.kind !== "label") || next?.kind === "unit")
    return false
  const isVerb = at === 1 && verb !== undefined
  return before !== undefined && !isVerb && predicate.slice(0, at).some(({ preposition }) => preposition !== undefined)
}

/** "The port of the relay is …": the subject names the attribute, and its value follows. */
function isNamedAttribute({ a, b }: DifferingWords): boolean {
  const isValue = ({ fact, words }: FactSide) =>
    fact.shape === "statement" &&
    fact.verb === undefined &&
    fact.subject.length > 0 &&
    fact.predicate.length === words.length &&
    words.length <= 4 &&
    !words[0]!.isOneOf &&
    words.every(({ preposition }, at) => preposition === undefined || (at > 0 && preposition === "of")) &&
    !words.some(({ text, kind }) => kind === undefined && isQuality(text))
  return isValue(a) && isValue(b)
}

/** "uses pnpm for installs": both name the same purpose. */
function isPurposeNamed({ a, b }: DifferingWords): boolean {
  const purpose = ({ fact, words }: FactSide) => {
    const next = fact.predicate[fact.predicate.indexOf(words.at(-1)!) + 1]
    return (next?.preposition === "for" || next?.preposition === "as") && fact.verb === "use" ? next.stem : undefined
  }
  return purpose(a) !== undefined && purpose(a) === purpose(b) && kindOf(a.words) === "name"
}

/** Whether the word after the differing one is the thing: "the core package", "the edge package". */
function isPart({ fact, words }: FactSide): boolean {
  const next = fact.predicate[fact.predicate.indexOf(words.at(-1)!) + 1]
  return (
    words.length === 1 &&
    next !== undefined &&
    next.preposition === undefined &&
    next.kind === undefined &&
    !isQuality(words[0]!.text)
  )
}

/** Whether several values can be true. If an object precedes the location, there is only one: "reads its keys from the vault". */
function isMultiple({ verb, predicate }: Fact): boolean {
  if (verb === undefined) return predicate.some(({ text }) => SHARED_STATES.has(text))
  const object = predicate[1]
  const hasObject =
    object !== undefined &&
    object.kind === undefined &&
    object.preposition === undefined &&
    !DIRECTIONS.has(object.text)
  const isPlaced = predicate.slice(2).some(({ preposition }) => preposition !== undefined && PLACES.has(preposition))
  const isWay = ROLES.has(verb) && object?.preposition !== undefined // "leads to the lake"
  return MULTIPLE.has(verb) && !isWay && !(hasObject && isPlaced)
}
const PLACES = new Set(["in", "from", "at", "on"])

/** "is owned by Ana", "the owner is Bo". */
const isPost = ({ fact: { verb, subject, predicate } }: FactSide): boolean =>
  verb === undefined && [...subject, ...predicate].some(({ stem, kind }) => kind === undefined && ROLES.has(stem))
/** Compares past facts. An event can happen again, and a past state can have had other values. */
function isPast(a: Fact, b: Fact): FactRelation | undefined {
  if ((!a.isPast && !b.isPast) || b.corrects) return undefined
  return a.isPast && b.isPast && a.verb === undefined && b.verb === undefined ? "doubtful" : "alike"
}

/** Whether the attribute can have several values: people have several languages and children, and companies several customers. */
function isMany({ a, b }: DifferingWords): boolean {
  const isOfMany = ({ fact: { subject, predicate, verb }, words }: FactSide) =>
    MANY_VERBS.has(verb ?? "") ||
    words[0]!.isOneOf ||
    subject.some(({ stem }) => MANY_NOUNS.has(stem)) ||
    predicate.some((word) => MANY_NOUNS.has(word.stem) && !words.includes(word))
  return isOfMany(a) && isOfMany(b)
}
