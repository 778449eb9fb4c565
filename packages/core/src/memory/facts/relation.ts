/**
 * How two memories relate. The bodies decide, sentence by sentence; titles matter only if the bodies leave the subject open.
 * Extraction, the agent's writes, manual edits and dreams all use this module.
 */

import { attributeKey, readAttribute } from "../../views/record/facts/attributes.ts"
import { compareFacts, type FactRelation } from "../../views/record/facts/compare-facts.ts"
import { type Fact, factWords, readFact } from "../../views/record/facts/fact.ts"
import { GENERAL, TITLES } from "../../views/record/facts/fact-words.ts"
import { isHead, rootOfStem } from "../../views/record/facts/reworded-facts.ts"
import { sentenceParts } from "../../views/record/user-messages.ts"
import type { Memory } from "../memory.ts"
import { LIST_MARK, withoutRemarks } from "../user-quotes.ts"

/**
 * How a memory relates to another. `covered`: the other states all of it. `outdated`: the other states all of it, with another value at
 * least once. `named over`: the other names its value as the old one, without a subject. `partly outdated`: it also states something
 * that the other does not. `doubtful`: the other has another value, but both could be true. `alike`: a reader may find a contradiction.
 */
export type MemoryRelation = "covered" | "outdated" | "named over" | "partly outdated" | "doubtful" | "alike" | "apart"
type ComparedMemory = Pick<Memory, "name" | "body" | "failed">

const MAX_SENTENCES = 40 // a longer text is a document, not a memory

export function compareMemories(memory: ComparedMemory, other: ComparedMemory): MemoryRelation {
  if (memory.failed !== other.failed) return "apart"
  const [ours, theirs] = [contentOf(memory), contentOf(other)]
  if (isDistinguishedByTitle(ours, theirs)) return "apart"
  if (ours.text === theirs.text) return "covered"
  if (ours.facts.length === 0 || theirs.facts.length === 0) return "apart"
  const found = ours.facts.map((fact) => strongest(theirs.facts.map((one) => compareFacts(fact, one))))
  const has = (relation: FactRelation) => found.includes(relation)
  if (has("contradicts")) return has("apart") || has("alike") || has("doubtful") ? "partly outdated" : "outdated"
  if (has("named over")) return has("apart") || has("alike") ? "doubtful" : "named over"
  if (found.every((relation) => relation === "same")) return "covered"
  return has("doubtful") ? "doubtful" : has("alike") ? "alike" : "apart"
}

/** Strongest first. "same" is strongest: a sentence that the other text repeats is not in doubt. */
const STRENGTH: readonly FactRelation[] = ["same", "contradicts", "named over", "doubtful", "alike", "apart"]
const strongest = (relations: readonly FactRelation[]): FactRelation =>
  STRENGTH.find((relation) => relations.includes(relation)) ?? "apart"

interface Content {
  /** Without case, punctuation and insignificant white space. */
  readonly text: string
  readonly facts: readonly Fact[]
  /** Stems of all words. */
  readonly stems: ReadonlySet<string>
  /** Stems in the name that the body does not contain. */
  readonly title: ReadonlySet<string>
  /** Whether the body alone leaves its subject open: "The port is 80." */
  readonly isBare: boolean
}

const known = new WeakMap<ComparedMemory, Content>()

function contentOf(memory: ComparedMemory): Content {
  const before = known.get(memory)
  if (before) return before
  const body = withoutRemarks(memory.body)
  const facts = factsIn(body)
  const stems = new Set(facts.flatMap(stemsOf))
  const name = readFact(memory.name)
  const named = factWords(name).filter(({ text }) => !TITLES.has(text))
  const title = new Set(named.map(({ stem }) => stem).filter((stem) => !stems.has(stem)))
  const content = { text: normalize(body), facts, stems, title, isBare: facts.some(isBare) || facts.length === 0 }
  known.set(memory, content)
  return content
}

const stemsOf = (fact: Fact): readonly string[] => factWords(fact).map(({ stem }) => stem)

/** Whether the subject is one general word, or missing. */
const isBare = ({ subject, shape }: Fact): boolean =>
  shape === "statement" && subject.length <= 1 && subject.every(({ text }) => GENERAL.has(text.replace(/s$/, "")))

/** Whether two bodies leave their subject open and their titles differ: "Relay" and "Gateway", and both "The port is 80." */
function isDistinguishedByTitle(a: Content, b: Content): boolean {
  if (!a.isBare && !b.isBare) return false
  const lacks = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].some((stem) => !other.has(stem))
  return lacks(a.title, b.title) && lacks(b.title, a.title)
}

const factsIn = (body: string): readonly Fact[] => sentencesIn(body).map(({ fact }) => fact)

/** The sentences that state something. Empty if one of them is a question, or if the text is longer than a memory. */
function sentencesIn(body: string): readonly { readonly sentence: string; readonly fact: Fact }[] {
  if (/^(?:```|~~~)/m.test(body)) return []
  const text = body
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
  const sentences = sentenceParts(text)
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter((sentence) => sentence !== "")
  if (sentences.length > MAX_SENTENCES || sentences.some((sentence) => /[?？؟]\W*$/u.test(sentence))) return []
  return sentences
    .map((sentence) => ({ sentence, fact: readFact(sentence) }))
    .filter(({ fact }) => stemsOf(fact).length > 0)
}

/** The sentences of a memory that the other one contradicts, as they are written. */
export function contradictedSentences(memory: ComparedMemory, other: ComparedMemory): readonly string[] {
  const { facts } = contentOf(other)
  const isContradicted = (fact: Fact) => strongest(facts.map((one) => compareFacts(fact, one))) === "contradicts"
  return sentencesIn(withoutRemarks(memory.body))
    .filter(({ fact }) => isContradicted(fact))
    .map(({ sentence }) => sentence)
}

const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim()

const stemsIn = (memory: ComparedMemory): ReadonlySet<string> => contentOf(memory).stems
export const textKey = (memory: ComparedMemory): string => contentOf(memory).text

/** The words that a related memory must contain, all of them. Empty: any word may differ. */
export function wordsInCommon(memory: ComparedMemory): readonly string[] {
  const [first] = contentOf(memory).facts
  if (first === undefined || first.isAboutOneUser) return []
  // "the school bus of Ana": a rewording contains her name, but not necessarily the bus
  const whose = first.subject.findIndex(({ preposition }) => preposition === "of" || preposition === "for")
  const thing = whose > 0 ? first.subject.slice(whose) : first.subject
  return thing.filter(({ text }) => !isHead(text)).map(({ stem }) => rootOfStem(stem))
}

/** Keys under which a memory is indexed: its stems, and the kinds of its values. */
export const memoryKeys = (memory: ComparedMemory): readonly string[] => {
  const { stems, facts } = contentOf(memory)
  const kinds = facts
    .filter(({ shape }) => shape === "order")
    .flatMap(({ predicate }) => predicate.map(({ kind }) => kind))
  return [
    ...new Set([...stems, ...[...stems].map(rootOfStem)]),
    ...new Set(kinds.filter((kind) => kind !== undefined).map((kind) => `kind:${kind}`)),
  ]
}

/** Further keys of a newer memory: the attribute that it states, and the old values that it names. */
export const newerMemoryKeys = (memory: ComparedMemory): readonly string[] =>
  contentOf(memory).facts.flatMap((fact) => [
    ...(attributeKey(fact) ?? []),
    ...(fact.over?.was.slice(0, 1) ?? []).map((stem) => `over:${stem}`),
  ])
/** Keys under which a newer memory with different words may be found. */
export const olderMemoryKeys = (memory: ComparedMemory): readonly string[] => {
  const { facts, stems } = contentOf(memory)
  return [...facts.flatMap((fact) => attributeKey(fact) ?? []), ...[...stems].map((stem) => `over:${stem}`)]
}

/** Whether a sentence can replace a memory: it states a change, or a value of an attribute that has only one. */
export function mayOutdate(sentence: string): boolean {
  if (/[?？؟]\W*$/u.test(sentence)) return false
  const fact = readFact(sentence)
  return readAttribute(fact) !== undefined || (fact.shape !== "order" && saysChange(fact))
}
const saysChange = ({ begins, corrects, over }: Fact): boolean => begins || corrects || over !== undefined

/** Whether a text states that something changed. */
export const isChange = (memory: ComparedMemory): boolean => contentOf(memory).facts.some(saysChange)

const MIN_MERGED_SHARE = 0.8 // share of a memory's words that a text merged from it contains

/**
 * Whether a reader may have concluded that the newer memory supersedes the older one. Impossible if the two clearly have different
 * subjects.
 */
export function mayReplace(newer: ComparedMemory, older: ComparedMemory): boolean {
  if (compareMemories(older, newer) !== "apart") return true
  const [words, has] = [[...stemsIn(older)], stemsIn(newer)]
  return words.length > 0 && words.filter((word) => has.has(word)).length >= words.length * MIN_MERGED_SHARE
}
