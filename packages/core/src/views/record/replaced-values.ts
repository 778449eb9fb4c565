/**
 * Which sentence replaces an earlier one: both say the same thing with another value, as "The cap is $201" and "The cap is now $956", or
 * one names what it replaces, as "use pnpm instead of npm". A rule of words, without a model. Where it is unsure, nothing is replaced.
 */
import { remembering } from "../../base/remembering.ts"
import { exactNamesIn } from "../../messages/exact-names.ts"

/** A sentence that states a value. */
export interface StatedValue {
  /** The words that say what the value belongs to. */
  readonly about: ReadonlySet<string>
  readonly value: string
  /** The value that it names as the one before. */
  readonly old?: string
  /** It says what something is, as "The cap is $201". Otherwise the value is one among other words. */
  readonly isAssigned?: true
  /** It says itself that something has changed. */
  readonly isChange: boolean
}

const MAX_VALUE_WORDS = 6
const MAX_VALUE = 80 // characters
const LABEL = /^(?:[A-Z][A-Z ]{2,30}|[Rr]ule|[Ff]act|[Gg]oal|[Tt]ask|[Cc]onstraint|[Pp]reference):\s+/
const LEAD_IN =
  /^(?:(?:small|minor|quick|one)\s+)?(?:(?:update|correction|change|note|decision|reminder|important|fyi|actually|ok(?:ay)?|so|and|also|but|please|remember(?: that)?|from now on|for the record)\b[\s:,—–-]*)+/i
/** What kind of value a word is. Two of one kind can replace each other. */
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
  ["number", /(?<![\w.-])\d[\d.,]*\d(?![\w-])|(?<![\w.-])\d(?![\w.-])/g],
]
const CHANGE =
  /\b(?:now|from today|from now on|since (?:today|this morning|yesterday)|rotated|taken over|takes over|changed?|updated?|instead|no longer|actually|correction|corrected|raised?|lowered?|increased?|decreased?|bumped?|moved?|renamed?|switch(?:ed)?|replaced?s?|revised|migrated?|jetzt|nun|geändert|stattdessen|statt|maintenant|désormais|ahora|agora)\b|→|->|现在|改为|改成|に変更|변경/iu
/** What is between a subject and its value. */
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
const STOP = new Set(
  (
    "the a an of to in on at for by from with is are was were be been being will would should must can may has have had do does it its " +
    "this that these those there here our my your their his her we i you they he she now new current currently changed change updated " +
    "update set moved raised lowered increased decreased bumped renamed switched instead actually no longer not but and or as so than " +
    "then final latest also still just all any der die das ein eine ist sind nun jetzt"
  ).split(" "),
)
const WORD = /[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu

/** `undefined` where a sentence states no single value. */
export const valueStatedIn = (sentence: string): StatedValue | undefined => read(sentence).stated

/** Whether it says itself that something has changed. */
export const saysChange = (sentence: string): boolean =>
  CHANGE.test(sentence) || valueStatedIn(sentence)?.isChange === true

const read = remembering((sentence) => {
  const stated = statedIn(sentence)
  return stated ? { stated } : {}
})

function statedIn(sentence: string): StatedValue | undefined {
  if (sentence.length > 300 || /[?？]\s*$/.test(sentence)) return undefined
  const isChange = CHANGE.test(sentence)
  const plain = sentence.replace(/[*_`]/g, "").replace(LABEL, "").replace(LEAD_IN, "").trim()
  return replacement(plain) ?? assignment(plain, isChange) ?? amid(plain, isChange)
}

/** It names both. */
function replacement(sentence: string): StatedValue | undefined {
  const range = FROM_TO.exec(sentence)
  if (range && isExact(range[1]!) === isExact(range[2]!) && CHANGE.test(sentence))
    return named(sentence.replace(range[0], " "), range[1]!, range[2]!)
  for (const [pattern, old, value] of REPLACES) {
    const found = pattern.exec(sentence)
    if (found) return named(sentence.replace(found[0], " "), found[old]!, found[value]!)
  }
  return undefined
}

function named(rest: string, old: string, value: string): StatedValue | undefined {
  const [was, is] = [bare(old), bare(value)]
  if (was === "" || is === "" || was.toLowerCase() === is.toLowerCase() || STOP.has(was) || STOP.has(is))
    return undefined
  return { about: contentWords(rest), value: is, old: was, isChange: true }
}

function assignment(sentence: string, isChange: boolean): StatedValue | undefined {
  const copula = COPULA.exec(sentence)
  if (!copula || copula.index === 0) return undefined
  const about = contentWords(sentence.slice(0, copula.index))
  const value = bare(
    sentence
      .slice(copula.index + copula[0].length)
      .replace(BEFORE_VALUE, "")
      .replace(AFTER_VALUE, ""),
  )
  if (value === "" || value.length > MAX_VALUE || value.split(/\s+/).length > MAX_VALUE_WORDS) return undefined
  if (about.size === 0 || about.size > MAX_VALUE_WORDS) return undefined
  if (!isExact(value) && !isChange && about.size < 2) return undefined
  return { about, value, isAssigned: true, isChange }
}

/** One exact value amid words. */
function amid(sentence: string, isChange: boolean): StatedValue | undefined {
  const values = exactNamesIn(sentence).filter(({ name, kind }) => kind !== "quoted" && /\d/.test(name))
  const [only, second] = values
  if (!only || second) return undefined
  const about = contentWords(sentence.replace(only.name, " "))
  return about.size < 2 || about.size > 12 ? undefined : { about, value: only.name, isChange }
}

/** Whether the later sentence makes the earlier one outdated. */
export function isReplacedBy(earlier: string, later: string): boolean {
  if (earlier === later) return false
  const [before, after] = [valueStatedIn(earlier), valueStatedIn(later)]
  if (!after) return false
  if (after.old !== undefined && speaksOf(earlier, after.old) && sharesWord(earlier, later, after)) return true
  if (!before || same(before.value, after.value) || isExact(before.value) !== isExact(after.value)) return false
  if (before.old !== undefined && same(before.old, after.value)) return false // changed back: the newest counts, and it names it
  const [small, large] =
    before.about.size <= after.about.size ? [before.about, after.about] : [after.about, before.about]
  if (small.size === 0) return false
  const isPart = [...small].every((word) => large.has(word))
  return isPart && (after.isChange || (after.isAssigned === true && small.size === large.size))
}

/** Whether two sentences differ in a single value and say the same otherwise. */
export function differInOneValue(earlier: string, later: string): boolean {
  const [before, after] = [withoutValues(earlier), withoutValues(later)]
  if (before.words.size < 2 || !sameSets(before.words, after.words) || before.values.length !== after.values.length)
    return false
  const changed = before.values.filter(
    ({ kind, text }, at) => kind !== after.values[at]!.kind || text !== after.values[at]!.text,
  )
  return changed.length === 1
}

/** It asks for something, so it says nothing about how things are. */
const REQUEST = /^(?:please|now|then|next|let|can you|could you|bitte)\b/i
const COUNT = /^\d{1,2}$/ // of tests, files, servers: many things have one

/**
 * Whether the later sentence says that something has changed, and the earlier one is about it: both have one value of a kind, and a word in
 * common. That is a weak sign, so it counts only where a single earlier sentence shows it, and never for a count.
 */
export function mayReplace(later: string, earlier: string): boolean {
  if (!CHANGE.test(later) || REQUEST.test(later) || earlier === later) return false
  const [before, after] = [withoutValues(earlier), withoutValues(later)]
  const shared = [...before.words].some((word) => word.length > 3 && after.words.has(word))
  return (
    shared &&
    VALUE_KINDS.some(([kind]) => {
      const [one, other] = [
        before.values.filter((each) => each.kind === kind),
        after.values.filter((each) => each.kind === kind),
      ]
      if (one.length !== 1 || other.length !== 1 || one[0]!.text === other[0]!.text) return false
      return !COUNT.test(one[0]!.text) && !COUNT.test(other[0]!.text)
    })
  )
}

interface ValuesOut {
  readonly values: readonly { readonly kind: string; readonly text: string }[]
  readonly words: ReadonlySet<string>
}

const withoutValues = remembering((sentence): ValuesOut => {
  const values: { readonly kind: string; readonly text: string; readonly at: number }[] = []
  let rest = sentence.replace(LABEL, "").replace(LEAD_IN, "")
  for (const [kind, pattern] of VALUE_KINDS)
    rest = rest.replace(pattern, (text: string, ...more: unknown[]) => {
      values.push({ kind, text: text.trim(), at: Number(more.find((each) => typeof each === "number")) })
      return " ".repeat(text.length)
    })
  return { values: values.sort((a, b) => a.at - b.at), words: contentWords(rest) }
})

const sameSets = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((word) => other.has(word))

/** Whether it has a value of any kind: an amount, a date, a place, a code, a person, a number. */
export const hasValue = (sentence: string): boolean => withoutValues(sentence).values.length > 0

/** The value that the earlier of two sentences has and the later one has not. */
export function oldValue(earlier: string, later: string): string | undefined {
  const after = withoutValues(later).values.map(({ text }) => text)
  return withoutValues(earlier).values.find(({ text }) => !after.includes(text))?.text
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** As a whole word. */
function speaksOf(sentence: string, value: string): boolean {
  const [text, sought] = [sentence.toLowerCase(), value.toLowerCase()]
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1))
    if (!/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? " "}${text[at + sought.length] ?? " "}`)) return true
  return false
}

/** Besides the two values, or it has nothing else to share. */
function sharesWord(earlier: string, later: string, { value, old }: StatedValue): boolean {
  const values = new Set([value.toLowerCase(), old!.toLowerCase()])
  const words = new Set([...contentWords(later)].filter((word) => !values.has(word)))
  const shared = [...contentWords(earlier)].filter((word) => words.has(word))
  return words.size === 0 || shared.length > 0
}

const isExact = (value: string): boolean => /[\d$€£¥/_]|\w\.\w/.test(value)

/** Without punctuation around it. */
const bare = (text: string): string =>
  text
    .trim()
    .replace(/^[\s"'“‘«([]+|[\s"'”’»)\].,;:!。，]+$/gu, "")
    .trim()

function contentWords(text: string): ReadonlySet<string> {
  return new Set(
    wordsIn(text)
      .filter((word) => !STOP.has(word))
      .map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")),
  )
}

const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(WORD) ?? []
