/**
 * What one memory is to another. The bodies decide, sentence by sentence; a name only tells apart what the bodies leave open. One module for
 * everyone who has to know: extraction, the agent's own writes, a person's edits and dreams.
 */

import { attributeKey, heldIn } from "../../views/record/facts/attributes.ts"
import { compareFacts, type FactRelation } from "../../views/record/facts/compare-facts.ts"
import { type Fact, readFact, wordsOf } from "../../views/record/facts/fact.ts"
import { GENERAL, TITLES } from "../../views/record/facts/fact-words.ts"
import { isHead, rootOfStem } from "../../views/record/facts/reworded-facts.ts"
import { sentenceParts } from "../../views/record/user-messages.ts"
import type { Memory } from "../memory.ts"
import { LIST_MARK, ruleIn } from "../own-words.ts"

/**
 * What a memory is to another: `covered`: the other one says all of it. `outdated`: the other one says all of it, with another value at least
 * once. `named over`: the other one names its value as over, and not of what. `partly outdated`: it also says something that the other one does not. `doubtful`: the other one has another value, and both could
 * be true. `alike`: a reader may find a contradiction.
 */
export type Relation = "covered" | "outdated" | "named over" | "partly outdated" | "doubtful" | "alike" | "apart"
type Compared = Pick<Memory, "name" | "body" | "failed">

const MAX_SENTENCES = 40 // a longer text is a document, not a memory

export function relationOf(memory: Compared, other: Compared): Relation {
  if (memory.failed !== other.failed) return "apart"
  const [ours, theirs] = [contentOf(memory), contentOf(other)]
  if (isToldApart(ours, theirs)) return "apart"
  if (ours.text === theirs.text) return "covered"
  if (ours.facts.length === 0 || theirs.facts.length === 0) return "apart"
  const found = ours.facts.map((fact) => strongest(theirs.facts.map((one) => compareFacts(fact, one))))
  const has = (relation: FactRelation) => found.includes(relation)
  if (has("contradicts")) return has("apart") || has("alike") || has("doubtful") ? "partly outdated" : "outdated"
  if (has("named over")) return has("apart") || has("alike") ? "doubtful" : "named over"
  if (found.every((relation) => relation === "same")) return "covered"
  return has("doubtful") ? "doubtful" : has("alike") ? "alike" : "apart"
}

/** "same" is stronger: what another sentence of the text repeats is not in doubt. */
const STRENGTH: readonly FactRelation[] = ["same", "contradicts", "named over", "doubtful", "alike", "apart"]
const strongest = (relations: readonly FactRelation[]): FactRelation =>
  STRENGTH.find((relation) => relations.includes(relation)) ?? "apart"

interface Content {
  /** Without case, marks and spaces that say nothing. */
  readonly text: string
  readonly facts: readonly Fact[]
  /** Stems of all words. */
  readonly stems: ReadonlySet<string>
  /** Stems of the name that the body lacks. */
  readonly title: ReadonlySet<string>
  /** The body alone does not say what it is about: "The port is 80." */
  readonly isBare: boolean
}

const known = new WeakMap<Compared, Content>()

function contentOf(memory: Compared): Content {
  const before = known.get(memory)
  if (before) return before
  const body = ruleIn(memory.body)
  const facts = factsIn(body)
  const stems = new Set(facts.flatMap(stemsOf))
  const name = readFact(memory.name)
  const named = wordsOf(name).filter(({ text }) => !TITLES.has(text))
  const title = new Set(named.map(({ stem }) => stem).filter((stem) => !stems.has(stem)))
  const content = { text: normal(body), facts, stems, title, isBare: facts.some(isBare) || facts.length === 0 }
  known.set(memory, content)
  return content
}

const stemsOf = (fact: Fact): readonly string[] => wordsOf(fact).map(({ stem }) => stem)

/** One general word, or none. */
const isBare = ({ subject, shape }: Fact): boolean =>
  shape === "statement" && subject.length <= 1 && subject.every(({ text }) => GENERAL.has(text.replace(/s$/, "")))

/** Two bodies that say too little, with names that each say something else: "Relay" and "Gateway", and both "The port is 80." */
function isToldApart(a: Content, b: Content): boolean {
  if (!a.isBare && !b.isBare) return false
  const lacks = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].some((stem) => !other.has(stem))
  return lacks(a.title, b.title) && lacks(b.title, a.title)
}

const factsIn = (body: string): readonly Fact[] => sentencesIn(body).map(({ fact }) => fact)

/** The sentences that say something. None where one of them asks, or where the text is more than a memory. */
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

/** The sentences of a memory that another one says otherwise, as they are written. */
export function contradictedIn(memory: Compared, other: Compared): readonly string[] {
  const { facts } = contentOf(other)
  const isContradicted = (fact: Fact) => strongest(facts.map((one) => compareFacts(fact, one))) === "contradicts"
  return sentencesIn(ruleIn(memory.body))
    .filter(({ fact }) => isContradicted(fact))
    .map(({ sentence }) => sentence)
}

const normal = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim()

const stemsIn = (memory: Compared): ReadonlySet<string> => contentOf(memory).stems
export const textKey = (memory: Compared): string => contentOf(memory).text

/** The words that a related memory must have, every one of them. Nothing: any word may be the one that differs. */
export function wordsInCommon(memory: Compared): readonly string[] {
  const [first] = contentOf(memory).facts
  if (first === undefined || first.isAboutOneUser) return []
  // "the school bus of Ana": a rewording has her, and may lack the bus
  const whose = first.subject.findIndex(({ preposition }) => preposition === "of" || preposition === "for")
  const thing = whose > 0 ? first.subject.slice(whose) : first.subject
  return thing.filter(({ text }) => !isHead(text)).map(({ stem }) => rootOfStem(stem))
}

/** What a memory can be found by: its words, and the kinds of its values. */
export const keysOf = (memory: Compared): readonly string[] => {
  const { stems, facts } = contentOf(memory)
  const kinds = facts
    .filter(({ shape }) => shape === "order")
    .flatMap(({ predicate }) => predicate.map(({ kind }) => kind))
  return [
    ...new Set([...stems, ...[...stems].map(rootOfStem)]),
    ...new Set(kinds.filter((kind) => kind !== undefined).map((kind) => `kind:${kind}`)),
  ]
}

/** Beside its words: the attribute that it states, and what it names as over. */
export const keysAsNewer = (memory: Compared): readonly string[] =>
  contentOf(memory).facts.flatMap((fact) => [
    ...(attributeKey(fact) ?? []),
    ...(fact.over?.was.slice(0, 1) ?? []).map((stem) => `over:${stem}`),
  ])
/** Under which a newer one that has other words may be found. */
export const rarerKeysOf = (memory: Compared): readonly string[] => {
  const { facts, stems } = contentOf(memory)
  return [...facts.flatMap((fact) => attributeKey(fact) ?? []), ...[...stems].map((stem) => `over:${stem}`)]
}

/** Whether a sentence that someone says can replace something: it says that something changed, or gives an attribute that has one value. */
export function mayOutdate(sentence: string): boolean {
  if (/[?？؟]\W*$/u.test(sentence)) return false
  const fact = readFact(sentence)
  return heldIn(fact) !== undefined || (fact.shape !== "order" && saysChange(fact))
}
const saysChange = ({ begins, corrects, over }: Fact): boolean => begins || corrects || over !== undefined

/** Whether a text itself says that something changed. */
export const isChange = (memory: Compared): boolean => contentOf(memory).facts.some(saysChange)

const MERGED = 0.8 // share of a memory's words that a text made from it has

/** Whether a reader may have found that the newer memory takes the older one's place. What is clearly about something else cannot. */
export function mayReplace(newer: Compared, older: Compared): boolean {
  if (relationOf(older, newer) !== "apart") return true
  const [words, has] = [[...stemsIn(older)], stemsIn(newer)]
  return words.length > 0 && words.filter((word) => has.has(word)).length >= words.length * MERGED
}
