/**
 * Step 4, check. What the view after a boundary must show of the messages it replaces, in the summary, in the record that follows it, or in
 * messages that stay. And whether the summary speaks of them at all.
 */
import type { Steps } from "../../../base/in-slices.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { fateOf } from "../../../views/record/artifacts.ts"
import { standingRules } from "../../../views/record/standing-rules.ts"
import { outdatedValues } from "../../../views/record/statements.ts"
import type { Views } from "../../../views/views.ts"
import type { Source } from "./source.ts"
import { namesIn, ownWords, stem, tokensOf } from "./text.ts"
import { indexSteps, type TokenIndex } from "./token-index.ts"

export const FACT_CLASSES = ["request", "rules", "messages", "names", "todos", "failures", "files"] as const
export type FactClass = (typeof FACT_CLASSES)[number]

export interface Fact {
  readonly class: FactClass
  readonly text: string
  readonly isCovered: boolean
  /** The message it is from. */
  readonly uuid?: Uuid
}

export interface CoverageInput {
  readonly source: Source
  readonly record: Pick<Views, "artifacts" | "frontier" | "statements">
  /** The messages that are replaced. */
  readonly replaced: ReadonlySet<Uuid>
  /** Everything that is shown after the boundary: the summary, the record, kept messages. */
  readonly visible: string
}

const QUOTE = 12 // words in a row: long enough to recognise a message by
const STEP = 6
const SHORT = 2 // words: so few are in many texts by chance, so the signs between them count too
const LONGEST = 30 // words of a command or a todo that are compared
const LONGEST_NAMED = 20_000 // characters of a message in which names are looked for: more is pasted
const SMALL = 20

export function* coverageSteps({ source, record, replaced, visible }: CoverageInput): Steps<readonly Fact[]> {
  const tokens = tokensOf(visible)
  yield
  const shown = yield* indexSteps(tokens)
  const raw = visible.toLowerCase()
  const isShown = (text: string) => isQuoted(text, shown) && (tokensOf(text).length > SHORT || isWritten(text, raw))
  const has = (text: string) => shown.has(tokensOf(text).slice(0, LONGEST))
  const turns = source.turns.filter(({ uuid }) => replaced.has(uuid))
  const { files, commands } = record.artifacts
  const { todos, request } = record.frontier
  const outdated = outdatedValues(record.statements)
  const facts: Fact[] = []
  const note = (fact: Fact) => facts.push(fact)

  if (request && replaced.has(request.uuid))
    note({ class: "request", text: request.text, uuid: request.uuid, isCovered: isShown(request.text) })
  for (const { text, uuid } of turns) {
    yield
    note({ class: "messages", text, uuid, isCovered: isShown(text) })
    for (const rule of standingRules(text))
      note({ class: "rules", text: rule, uuid, isCovered: shown.has(tokensOf(rule)) })
    for (const name of givenIn(text).filter((given) => !outdated.has(given)))
      note({ class: "names", text: name, uuid, isCovered: raw.includes(name.toLowerCase()) || has(name) })
  }
  for (const { content, status } of todos)
    if (status !== "completed") note({ class: "todos", text: content, isCovered: has(content) })
  yield
  for (const [command, { failed, last }] of commands)
    if (failed && replaced.has(last)) note({ class: "failures", text: command, uuid: last, isCovered: has(command) })
  yield
  for (const [path, file] of files) {
    if (fateOf(file) === "read" || !replaced.has(file.last)) continue
    note({ class: "files", text: path, uuid: file.last, isCovered: has(path) || has(path.split(/[\\/]/).at(-1)!) })
  }
  return distinct(facts)
}

/** A message counts as present with all its words, or with a quote that is long enough. */
function isQuoted(text: string, shown: TokenIndex): boolean {
  const tokens = tokensOf(text)
  if (tokens.length <= QUOTE) return shown.has(tokens)
  for (let at = 0; at + QUOTE <= tokens.length; at += STEP) if (shown.has(tokens.slice(at, at + QUOTE))) return true
  return false
}

/** A short message with the signs in it, whatever blanks are around them. */
function isWritten(text: string, raw: string): boolean {
  const pieces = text
    .trim()
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")
    .match(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}\s]/gu)
  return (
    !pieces || new RegExp(pieces.map((piece) => piece.replace(/[^\p{L}\p{N}\p{M}]/gu, "\\$&")).join("\\s*")).test(raw)
  )
}

/** Names and numbers in what the user wrote. Quotes are part of the message, and small numbers are counts. */
function givenIn(text: string): readonly string[] {
  return exactNamesIn(text.slice(0, LONGEST_NAMED))
    .filter(({ kind, name }) => kind !== "quoted" && !(kind === "number" && Number(name) <= SMALL))
    .map(({ name }) => name)
}

/** A rule or a name that was said several times is one fact, where it was said last. */
function distinct(facts: readonly Fact[]): readonly Fact[] {
  const last = new Map<string, Fact>()
  for (const fact of facts) last.set(fact.class === "messages" ? `${fact.uuid}` : `${fact.class} ${fact.text}`, fact)
  return [...last.values()]
}

const MOST_WANTED = 3 // words of the conversation: a summary of a long one has more
const WORDS_FOR_ONE = 20 // said in the conversation: of a short one, fewer are wanted
const OFTEN = 5 // times
const EXACT_NUMBER = /^\d{3,}$/
const NUMBER = /^\d+$/

/**
 * Whether a summary speaks of the messages it replaces. The record carries facts whatever the summary says, so a summary about something
 * else, or about nothing, would look complete. What counts are words that were said, thought or typed into tools in these messages, exact
 * names and numbers from anywhere in them, and words that tools returned again and again. In pages of tool output nearly every other word
 * occurs by chance.
 */
export function speaksOf(summary: string, { index, spoken }: Pick<Source, "index" | "spoken">): boolean {
  const wanted = Math.min(MOST_WANTED, Math.ceil(spoken.size / WORDS_FOR_ONE))
  if (wanted === 0) return true
  const found = new Set<string>()
  const own = new Set(ownWords(summary))
  for (const token of new Set(tokensOf(summary))) {
    const word = stem(token)
    const isFound = EXACT_NUMBER.test(token)
      ? index.at(token).length > 0
      : own.has(word) && (spoken.has(word) || index.at(token).length >= OFTEN)
    if (isFound && found.add(word).size >= wanted) return true
  }
  for (const { text } of namesIn(summary)) {
    const tokens = tokensOf(text)
    if (tokens.every((token) => NUMBER.test(token)) || !index.has(tokens)) continue
    if (found.add(text).size >= wanted) return true
  }
  return false
}
