/**
 * Which sentence replaces an earlier one. Both state the same with another value, as "The cap is $201" and "The cap is now $956", by
 * the rules of memories (`facts`). Or one names what it replaces, as "use pnpm instead of npm". In doubt, nothing is replaced.
 */
import { memoize } from "../../base/work.ts"
import { areContradictory } from "./facts/compare-facts.ts"
import { type FactWord, readFact } from "./facts/fact.ts"

/** A sentence that states a value. */
export interface StatedValue {
  readonly value: string
  /** The old value that it names. */
  readonly old?: string
}

const MAX_VALUE_WORDS = 6
const MAX_VALUE = 80 // characters
const LABEL = /^(?:[A-Z][A-Z ]{2,30}|[Rr]ule|[Ff]act|[Gg]oal|[Tt]ask|[Cc]onstraint|[Pp]reference):\s+/
const LEAD_IN =
  /^(?:(?:small|minor|quick|one)\s+)?(?:(?:update|correction|change|note|decision|reminder|important|fyi|actually|ok(?:ay)?|so|and|also|but|please|remember(?: that)?|from now on|for the record)\b[\s:,—–-]*)+/i
/** Kinds of values. Two values of one kind can replace each other. */
const VALUE_KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["amount", /[$€£¥]\s?\d[\d.,]*\s?[kmb]?\b|\b\d[\d.,]*\s?(?:usd|eur|dollars?|euros?)\b/gi],
  [
    "date",
    /\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.? \p{Lu}\p{Ll}{2,8}(?:,? \d{4})?\b|\b\p{Lu}\p{Ll}{2,8} \d{1,2}(?:,? \d{4})\b/gu,
  ],
  [
    "address",
    /\b[a-z][a-z\d+.-]*:\/\/\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|internal|local|test|example)\b/gi,
  ],
  ["path", /(?<![\w/])[\w.~-]*\/[\w./-]*\w/g],
  ["code", /\b(?=[\w-]*\d)(?=[\w-]*\p{L})\w+(?:-\w+)+\b/gu],
  ["version", /\bv?\d+\.\d+(?:\.\d+)+\b/g],
  [
    "person",
    /(?<!^)(?<![.!?:] )\b\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+\b|^\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+(?= (?:is|has|was|will|takes|owns))/gu,
  ],
  ["number", /(?<![\w.-])\d[\d.,]*\d(?![\w-])|(?<![\w.-])\d(?![\w-]|[.,]\d)/g],
]
const CHANGE =
  /\b(?:now|from today|from now on|since (?:today|this morning|yesterday)|rotated|taken over|takes over|changed?|updated?|instead|no longer|actually|correction|corrected|raised?|lowered?|increased?|decreased?|bumped?|moved?|renamed?|switch(?:ed)?|replaced?s?|revised|migrated?|jetzt|nun|geändert|stattdessen|statt|maintenant|désormais|ahora|agora)\b|→|->|现在|改为|改成|に変更|변경/iu
/** Words between a subject and its value. */
const COPULA =
  /\s*(?:\b(?:is|are|was|will be|should be|must be|has been|equals|becomes?|runs on|runs at|listens on|lives (?:in|at)|ist|sind|lautet|est|es)\b|\b(?=(?:changed?|moved?|updated?|raised|lowered|increased|decreased|bumped|renamed|switched|set)\b)|[:=→]|->|改为|改成|是)\s*/iu
const BEFORE_VALUE =
  /^(?:(?:now|currently|back|changed?|moved?|updated?|raised|lowered|increased|decreased|bumped|renamed|switched|set|going to be|no longer \S+ but|not \S+ but|to|at|on|the|jetzt|nun)\s+)*/i
const AFTER_VALUE =
  /\s*(?:[,;(]|\s[—–-]\s|\b(?:because|since|so that|which|after|before|as of|instead of|rather than|not|until|per the|and (?:the|it|we))\b).*$/i
const FROM_TO = /\bfrom\s+(\S+(?:\s+\S+){0,2}?)\s+to\s+(\S+(?:\s(?:ms|s|min|hours?|days?|[kmg]i?b|%|percent))?)/i
const REPLACES: readonly (readonly [RegExp, old: number, value: number])[] = [
  [/(\S+)\s+(?:instead of|rather than|in place of|statt|anstatt|au lieu de|en lugar de)\s+(\S+)/iu, 2, 1],
  [/\breplaced?\s+(\S+)\s+(?:with|by)\s+(\S+)/i, 1, 2],
  [/\b(?:renamed?|moved?|migrated?|switch(?:ed)?)\s+(?:the file\s+)?(\S+)\s+to\s+(\S+)/i, 1, 2],
  [/(\S+)\s+(?:is|was|has been)\s+(?:now\s+)?(?:renamed|moved)\s+to\s+(\S+)/i, 1, 2],
  [/\bnot\s+(\S+)\s+but\s+(\S+)/i, 1, 2],
  [/(\S+)\s*(?:→|->|=>)\s*(\S+)/, 1, 2],
]
/** Words that do not identify the subject of a sentence. */
const STOP = new Set(
  (
    "the a an of to in on at for by from with is are was were be been being will would should must can may has have had do does it its " +
    "this that these those there here our my your their his her we i you they he she us now new current currently changed change updated " +
    "update set moved raised lowered increased decreased bumped renamed switched switch rotated taken takes over instead actually no longer " +
    "not but and or as so than then final latest also still just all any always everything use uses used run runs work works called known " +
    "named today tomorrow yesterday week morning month der die das ein eine ist sind nun jetzt"
  ).split(" "),
)
const WORD = /[\p{L}\p{N}]+/gu
/** Recurring things: a second one does not replace the first. */
const RECURRING = /\b(?:bugs?|errors?|problems?|issues?|failures?|crash(?:es)?|causes?|questions?)\b/i
const QUESTION = /[?？]\s*$/
/** A reference to one of several things. */
const ONE_OF = /\b(?:one|some|two|several|another|both) of\b/i
/** Restricts nothing: every statement is about this project. */
const HERE = /\b(?:in|for|of) this (?:repository|repo|project|codebase|workspace)\b/gi
const CORRECTS = /\bcorrect(?:ion|ed)\b/i

export const findStatedValue = (sentence: string): StatedValue | undefined => read(sentence).stated

interface ReadSentence {
  readonly stated?: StatedValue
  /** The subject of the sentence: its words without values. */
  readonly about: ReadonlySet<string>
  readonly values: readonly TypedValue[]
  readonly isOrder: boolean
  readonly isChange: boolean
  readonly isCorrection: boolean
  readonly isAddition: boolean
  /** Whether it is a question, or names one of several things, and so replaces nothing. */
  readonly isOpen: boolean
  /** Whether it is about recurring things. */
  readonly isRecurring: boolean
  /** The thing that it is about, if it names one before the verb: the "cap" of "the cap for May". */
  readonly head: string | undefined
}

interface TypedValue {
  readonly kind: string
  readonly text: string
  /** Whether it names its subject: "Ticket 12 is closed". */
  readonly isSubject: boolean
}

const read = memoize((sentence): ReadSentence => {
  const plain = sentence.replace(/[*_`]/g, "").replace(LABEL, "").replace(LEAD_IN, "").trim()
  const isQuestion = QUESTION.test(sentence)
  const stated = sentence.length > 300 || isQuestion ? undefined : (replacement(plain) ?? assignment(plain))
  const { values, rest } = extractValues(plain)
  const { subject, shape, adds } = factOf(sentence)
  const about = contentWords(rest.replace(HERE, ""))
  const subjects = subject.map(({ text }) => text)
  const head = [...contentWords(subjects.slice(0, endOfPhrase(subject)).join(" "))].findLast((word) => about.has(word))
  return {
    ...(stated ? { stated } : {}),
    ...{ about, head, isOrder: shape === "order" && !COPULA.test(plain), isChange: CHANGE.test(sentence) },
    ...{ isCorrection: CORRECTS.test(sentence), isAddition: adds, isOpen: isQuestion || ONE_OF.test(sentence) },
    isRecurring: RECURRING.test(sentence),
    values: values.map(({ kind, text }) => ({
      ...{ kind, text },
      isSubject: [...contentWords(text)].every((word) => subjects.includes(word)),
    })),
  }
})

const factOf = memoize(readFact)

function endOfPhrase(words: readonly FactWord[]): number {
  const at = words.findIndex(({ preposition }, place) => place > 0 && preposition !== undefined)
  return at < 0 ? words.length : at
}

/** Reads a sentence that names the old and the new value. */
function replacement(sentence: string): StatedValue | undefined {
  const range = FROM_TO.exec(sentence)
  if (range && isExact(range[1]!) === isExact(range[2]!) && CHANGE.test(sentence))
    return labelledValue(range[1]!, range[2]!)
  for (const [pattern, old, value] of REPLACES) {
    const found = pattern.exec(sentence)
    if (found) return labelledValue(found[old]!, found[value]!)
  }
  return undefined
}

function labelledValue(old: string, value: string): StatedValue | undefined {
  const [was, is] = [stripPunctuation(old), stripPunctuation(value)]
  if (was === "" || is === "" || isSameValue(was, is) || STOP.has(was) || STOP.has(is)) return undefined
  return { value: is, old: was }
}

/** Reads a sentence that states what something is. */
function assignment(sentence: string): StatedValue | undefined {
  const copula = COPULA.exec(sentence)
  if (!copula || copula.index === 0) return undefined
  const about = contentWords(sentence.slice(0, copula.index))
  const after = sentence.slice(copula.index + copula[0].length)
  const value = stripPunctuation(after.replace(BEFORE_VALUE, "").replace(AFTER_VALUE, ""))
  if (value === "" || value.length > MAX_VALUE || value.split(/\s+/).length > MAX_VALUE_WORDS) return undefined
  if (about.size === 0 || about.size > MAX_VALUE_WORDS) return undefined
  return isExact(value) || CHANGE.test(sentence) || about.size > 1 ? { value } : undefined
}

/** Whether a sentence makes an earlier one outdated. `likely`: only if it does so for a single earlier sentence. */
export type Replacement = "clear" | "likely" | "no"

/** Compares a sentence with earlier ones. Most share no word with it, which is checked first. */
export function compareWithLater(later: string): (earlier: string) => Replacement {
  const after = read(later)
  if (after.isOpen) return () => "no"
  const namesOld = ((old) => {
    if (old === undefined) return () => false
    const words = contentWords(`${later} ${old}`)
    return (earlier: string, { about }: ReadSentence) => areWithin(about, words) && mentions(earlier, old)
  })(after.stated?.old)
  return (earlier) => {
    const before = read(earlier)
    if (before.isOpen || earlier === later) return "no"
    if (namesOld(earlier, before)) return "clear"
    if (!shareWord(before.about, after.about)) return "no"
    return contradicts({ earlier, before, later, after }) ? "clear" : isLikely(before, after) ? "likely" : "no"
  }
}

interface SentencePair {
  readonly earlier: string
  readonly before: ReadSentence
  readonly later: string
  readonly after: ReadSentence
}

function contradicts({ earlier, before, later, after }: SentencePair): boolean {
  if (before.isRecurring && !after.isChange) return false
  // an order with a number is one of many: "Look at ticket 12"
  if (before.isOrder && after.isOrder && after.values.length > 0) return false
  return areContradictory(factOf(earlier), factOf(later))
}

/**
 * Whether the later sentence states that something has changed, and the earlier one has the same subject in other words: each has one
 * value of a kind, and their subjects match.
 */
function isLikely(before: ReadSentence, after: ReadSentence): boolean {
  if (!after.isChange || after.isAddition || before.isOrder || after.isOrder) return false
  const isSame = areWithin(after.about, before.about) && (before.head === undefined || after.about.has(before.head))
  if (!isSame && !after.isCorrection) return false
  return VALUE_KINDS.some(([kind]) => {
    const [one, other] = [oneValue(before, kind), oneValue(after, kind)]
    return one !== undefined && other !== undefined && !isSameValue(one, other)
  })
}

function areWithin(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const word of words) if (!others.has(word)) return false
  return true
}

function shareWord(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const word of words) if (others.has(word)) return true
  return false
}

/** The only value of this kind that a sentence states. */
function oneValue({ values, stated }: ReadSentence, kind: string): string | undefined {
  const found = values.filter((each) => each.kind === kind)
  const newest = stated?.old === undefined ? found : found.filter(({ text }) => isSameValue(text, stated.value))
  const [only] = newest
  return newest.length !== 1 || (only!.isSubject && kind !== "person") ? undefined : only!.text
}

interface ValuesOut {
  readonly values: readonly Omit<TypedValue, "isSubject">[]
  /** The text without its values. */
  readonly rest: string
}

function extractValues(sentence: string): ValuesOut {
  const values: { readonly kind: string; readonly text: string; readonly at: number }[] = []
  let rest = sentence
  for (const [kind, pattern] of VALUE_KINDS)
    rest = rest.replace(pattern, (text: string, ...more: unknown[]) => {
      values.push({ kind, text: text.trim(), at: Number(more.find((each) => typeof each === "number")) })
      return " ".repeat(text.length)
    })
  return { values: values.sort((a, b) => a.at - b.at), rest }
}

/** Whether a sentence has a value of any kind: an amount, a date, a location, a code, a person, a number. */
export const hasValue = (sentence: string): boolean => read(sentence).values.length > 0

/** The value of the earlier sentence that the later one does not have. */
export function oldValue(earlier: string, later: string): string | undefined {
  const after = read(later).values.map(({ text }) => text)
  return read(earlier).values.find(({ text }) => !after.includes(text))?.text
}

const isSameValue = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Whether a sentence contains the value as a whole word. */
function mentions(sentence: string, value: string): boolean {
  const [text, sought] = [sentence.toLowerCase(), value.toLowerCase()]
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1))
    if (!/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? " "}${text[at + sought.length] ?? " "}`)) return true
  return false
}

const isExact = (value: string): boolean => /[\d$€£¥/_]|\w\.\w/.test(value)

/** Removes surrounding punctuation. */
const stripPunctuation = (text: string): string =>
  text
    .trim()
    .replace(/^[\s"'“‘«([]+|[\s"'”’»)\].,;:!。，]+$/gu, "")
    .trim()

function contentWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(WORD) ?? []
  return new Set(words.filter((word) => !STOP.has(word)).map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")))
}
