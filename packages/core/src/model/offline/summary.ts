/**
 * An extractive summary: the requested sections, filled with quotations. It states that it is extractive. Within a budget every section
 * gets its share, and unused shares go to other sections. The first entry and the newest ones are dropped last.
 */
import { type CooperativeTask, runSync } from "../../base/work.ts"
import { headOf, quote, type Section, sentencesOf, splitDocument, unquote } from "./document.ts"
import { type Facts, factsTask } from "./facts.ts"
import { fillTask, NEWEST_TEXT, sectionShare, USUAL_TITLES } from "./fill.ts"
import type { ReadMessage, TokenBudget } from "./read-message.ts"
import { ORIGIN, type TimelineEntry, timelineTask } from "./timeline.ts"

export const NOTHING = "Nothing in the conversation."
const BEGINNING = "beginning of: "
const LARGEST_ENTRY = 1 / 3 // of a section's share; longer quotations are truncated
const MIN_CUT = 40 // characters; a shorter prefix is useless
const CHARACTERS_PER_TOKEN = 3 // a safe value; the result is measured
const SMALLER = 0.85 // applied each time the text still exceeds the budget
const MAX_TRIES = 24
const ASKED_SHARE = 1 / 4 // of the budget, for what the user asked to preserve
const MAX_ASKED = 400 // tokens: only the start of a summary is checked to recognize it
const MAX_REQUEST = 200 // characters

/** Summarizes the conversation in the sections that `instructions` name, or in the nine usual ones. */
export const summarize = (messages: readonly ReadMessage[], instructions = "", budget?: TokenBudget): string =>
  runSync(summaryTask(messages, instructions, budget))

function* summaryTask(
  messages: readonly ReadMessage[],
  instructions: string,
  budget?: TokenBudget,
  shown?: string,
): CooperativeTask<string> {
  const facts = yield* factsTask(yield* timelineTask(messages))
  return yield* writeSections({ sections: splitDocument(instructions), facts, budget, shown })
}

export interface SummaryAboutOptions {
  /** The user's request. */
  readonly topic: string
  readonly budget: TokenBudget
  /** Text displayed next to the summary. It is not repeated, and a section without anything else is omitted. */
  readonly shown?: string
}

/**
 * The same, preceded by quotations about the user's request. A later summary does not mistake them for a section. Empty if there is
 * nothing to say.
 */
export function* summarizeAbout(
  messages: readonly ReadMessage[],
  { topic, budget, shown }: SummaryAboutOptions,
): CooperativeTask<string> {
  const tokens = Math.min(budget.tokens * ASKED_SHARE, MAX_ASKED)
  const quotes = yield* quotesAbout(messages, topic, { ...budget, tokens })
  if (quotes.length === 0) return yield* summaryTask(messages, "", budget, shown)
  const request = headOf(topic.trim().replaceAll(/\s+/g, " "), MAX_REQUEST)
  const opening = [`Asked for: ${quote(request)}. The conversation says:`, ...quotes.map((each) => `   - ${each}`)]
  const asked = `\n\n${opening.join("\n")}`
  const left = { ...budget, tokens: budget.tokens - budget.tokensOf(asked) }
  const rest = yield* summaryTask(messages, "", left, shown)
  return `${ORIGIN}${asked}${rest.slice(ORIGIN.length)}`
}

interface SectionsInput {
  readonly sections: readonly Pick<Section, "title">[]
  readonly facts: Facts
  readonly budget?: TokenBudget | undefined
  readonly shown?: string | undefined
}

interface FilledSection {
  readonly title: string
  readonly entries: readonly string[]
  /** Number of omitted entries. */
  readonly missing: number
}

export function* writeSections({ sections, facts, budget, shown }: SectionsInput): CooperativeTask<string> {
  const titles = sections.length > 0 ? sections.map(({ title }) => title) : USUAL_TITLES
  const filled: FilledSection[] = []
  for (const title of titles) {
    yield
    const all = yield* fillTask(title, facts)
    const entries = shown === undefined ? all : all.filter((entry) => !isRepeated(entry, shown))
    if (shown === undefined || entries.length > 0) filled.push({ title, entries, missing: 0 })
  }
  if (filled.length === 0) return ""
  return budget ? yield* fitWithinBudget(filled, budget) : render(filled)
}

const REASON = /`{1,3} failed: /

/** Whether the quoted text is already displayed. The mere name of a file or program adds nothing; the reason of a failure does. */
function isRepeated(entry: string, shown: string): boolean {
  const [, words] = labelled(entry)
  if (words !== undefined) return shown.includes(words)
  return entry.startsWith("`") && !REASON.test(entry)
}

function* fitWithinBudget(filled: readonly FilledSection[], budget: TokenBudget): CooperativeTask<string> {
  const bare = render(filled.map(({ title, entries }) => ({ title, entries: [], missing: entries.length })))
  let room = budget.tokens - budget.tokensOf(bare)
  for (let tries = 0; tries < MAX_TRIES && room > 0; tries++) {
    const text = render(fitToBudget(filled, room, budget))
    if (budget.tokensOf(text) <= budget.tokens) return text
    room = Math.floor(room * SMALLER)
    yield
  }
  return bare
}

interface SectionEntry {
  readonly text: string
  readonly tokens: number
}

/** Fills each section's share first, then gives the rest to the sections in order. */
function fitToBudget(
  filled: readonly FilledSection[],
  room: number,
  { tokensOf }: TokenBudget,
): readonly FilledSection[] {
  const total = filled.reduce((sum, { title }) => sum + sectionShare(title), 0)
  let left = room
  const chosen = filled.map(({ title, entries }) => {
    const share = (room * sectionShare(title)) / total
    const kept = new Map<number, SectionEntry>()
    let open = share
    for (const at of byImportance(entries.length)) {
      const text = shortenEntry(entries[at]!, Math.max(MIN_CUT, share * LARGEST_ENTRY * CHARACTERS_PER_TOKEN))
      if (text === undefined) continue
      const tokens = tokensOf(`   - ${text}\n`)
      if (tokens > open) continue
      open -= tokens
      left -= tokens
      kept.set(at, { text, tokens })
    }
    return kept
  })
  return filled.map(({ title, entries }, section) => {
    const kept = chosen[section]!
    for (const at of byImportance(entries.length)) {
      const whole = entries[at]!
      const tokens = tokensOf(`   - ${whole}\n`) - (kept.get(at)?.tokens ?? 0)
      if (kept.get(at)?.text === whole || tokens > left) continue
      left -= tokens
      kept.set(at, { text: whole, tokens })
    }
    const texts = [...kept].sort(([a], [b]) => a - b).map(([, { text }]) => text)
    return { title, entries: texts, missing: entries.length - texts.length }
  })
}

/** The first entry, which shows how the work started, then from the newest back. */
function byImportance(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => (at === 0 ? 0 : count - at))
}

/** Shortens a quotation at its end, or drops a file's newest text. `undefined` if nothing shorter makes sense. */
function shortenEntry(entry: string, characters: number): string | undefined {
  if (entry.length <= characters) return entry
  const file = entry.indexOf(NEWEST_TEXT)
  if (file > 0 && file <= characters) return entry.slice(0, file)
  const [label, words] = labelled(entry)
  const head = words === undefined ? "" : headOf(words, characters - label.length - BEGINNING.length)
  return head.length < MIN_CUT ? undefined : `${BEGINNING}${label}${quote(head.trimEnd())}`
}

/** Splits `the user: "No."` into the label `the user: ` and the text `No.`. */
function labelled(entry: string): [label: string, words: string | undefined] {
  const label = /^[a-z ]{1,30}: (?=["v])/.exec(entry)?.[0] ?? ""
  return [label, unquote(entry.slice(label.length))]
}

function render(filled: readonly FilledSection[]): string {
  const sections = filled.map(({ title, entries, missing }, index) => {
    const lines = entries.map((entry) => `   - ${entry}`)
    const rest = missing > 0 ? [`   (${missing} more left out here)`] : entries.length === 0 ? [`   ${NOTHING}`] : []
    return [`${index + 1}. ${title}:`, ...lines, ...rest].join("\n")
  })
  return [ORIGIN, ...sections].join("\n\n")
}

/**
 * Limits of the quotations about the user's request: sentences and lines that share the most terms with it, the newest first among equals.
 */
const MAX_LENGTH = 400 // characters; more is data, not a sentence
const MAX = 20
const TERM = /[\p{L}\p{N}_]{3,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/gu
/** Terms of almost every such request, which do not identify its subject. */
const COMMON: ReadonlySet<string> = new Set(
  "all and any everything focus for from keep please remember summary that the them these this those with about what which sure not".split(
    " ",
  ),
)

function* quotesAbout(
  messages: readonly ReadMessage[],
  wanted: string,
  budget: TokenBudget,
): CooperativeTask<readonly string[]> {
  const terms = queryTerms(wanted)
  if (terms.size === 0) return []
  const found = new Map<string, number>()
  for (const text of (yield* timelineTask(messages)).flatMap(textsOf)) {
    yield
    for (const sentence of sentencesOf(text)) {
      if (sentence.length > MAX_LENGTH) continue
      const shared = [...queryTerms(sentence)].filter((term) => terms.has(term)).length
      found.delete(sentence) // only the newest occurrence remains
      if (shared > 0) found.set(sentence, shared)
    }
  }
  const order = [...found.keys()]
  const ranked = [...found].toReversed().toSorted(([, a], [, b]) => b - a)
  const chosen = new Set<string>()
  let left = budget.tokens
  for (const [sentence] of ranked) {
    const tokens = budget.tokensOf(`   - ${quote(sentence)}\n`)
    if (tokens > left) continue
    left -= tokens
    chosen.add(sentence)
    if (chosen.size === MAX) break
  }
  return order.filter((sentence) => chosen.has(sentence)).map(quote)
}

/** Lower-case terms without a plural ending, so that "ports" also finds the port. */
function queryTerms(text: string): ReadonlySet<string> {
  const terms = text.toLowerCase().match(TERM) ?? []
  return new Set(terms.filter((term) => !COMMON.has(term)).map((term) => term.replace(/(?<=\p{L}{3})s$/u, "")))
}

function textsOf(moment: TimelineEntry): readonly string[] {
  if (moment.kind === "call") return moment.call.result ? [moment.call.result.text] : []
  return moment.kind === "human" || moment.kind === "assistant" ? [moment.text] : []
}
