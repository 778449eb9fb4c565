/**
 * Step 4, check. Repairs a summary without a model. Invented quotes and approvals are removed. Sentences that differ from what was said are
 * replaced by it. Names and numbers that the conversation does not have are marked. Those that could not be checked are listed once. What is
 * missing is added at the end as data with handles.
 */
import { handleOf } from "../../../messages/handles.ts"
import { inlineUpTo } from "../../../messages/inline.ts"
import type { Claim, ClaimClass } from "./claim.ts"
import { FACT_CLASSES, type Fact, type FactClass } from "./coverage.ts"
import type { Span } from "./text.ts"
import { notFound, uncheckedNote } from "./unsure.ts"

interface Repaired {
  readonly text: string
  /** The same findings as a text of their own, where the summary itself cannot be changed. */
  readonly notes: string
  /** What was removed, corrected or marked. */
  readonly struck: readonly Claim[]
  readonly added: readonly Fact[]
}

interface ToRepair {
  readonly summary: string
  readonly claims: readonly Claim[]
  readonly unchecked: readonly Claim[]
  readonly facts: readonly Fact[]
  readonly estimate: (text: string) => number
  /** Tokens of what may be added. */
  readonly room: number
}

const LONGEST_FACT = 300 // characters; the handle gives the rest
const REMOVED: ReadonlySet<ClaimClass> = new Set(["quotes", "approvals"])
const SENTENCES: ReadonlySet<ClaimClass> = new Set(["quotes", "approvals", "prohibitions", "outcomes", "wording"])

export function repaired({ summary, claims, unchecked, facts, estimate, room }: ToRepair): Repaired {
  const struck = claims.filter(({ isSupported }) => !isSupported)
  const text = withEdits(summary, struck)
  const added = thatFit(
    facts.filter(({ isCovered }) => !isCovered),
    { estimate, room },
  )
  const notes = [uncheckedNote(unchecked.map((claim) => claim.text)), appendix(added)]
  const joined = (texts: readonly string[]) => texts.filter((each) => each !== "").join("\n\n")
  return {
    text: joined([text, struckNote(struck), ...notes]),
    notes: joined([struckList(struck), ...notes]),
    struck,
    added,
  }
}

/** What a reader must not take from a summary that stays as it is. */
function struckList(struck: readonly Claim[]): string {
  if (struck.length === 0) return ""
  const lines = struck.map(({ class: kind, text, sentence, instead }) => {
    if (!SENTENCES.has(kind)) return `- not found in the conversation: ${inlineUpTo(LONGEST_FACT, text)}`
    const said = instead === undefined || REMOVED.has(kind) ? "" : ` It is: ${inlineUpTo(LONGEST_FACT, instead)}`
    return `- not so: ${inlineUpTo(LONGEST_FACT, sentence.text)}${said}`
  })
  return ["The summary was checked against the conversation. Wrong in it:", ...lines].join("\n")
}

interface Edit extends Span {
  readonly instead: string
}

function withEdits(summary: string, struck: readonly Claim[]): string {
  const whole = struck
    .filter((claim) => SENTENCES.has(claim.class))
    .sort(byRank)
    .map(sentenceEdit)
  const edits: Edit[] = []
  const isFree = ({ at, text }: Span) =>
    edits.every((edit) => at + text.length <= edit.at || at >= edit.at + edit.text.length)
  for (const edit of [...whole, ...struck.filter((claim) => !SENTENCES.has(claim.class)).map(nameEdit)])
    if (isFree(edit)) edits.push(edit)
  let text = summary
  for (const { at, text: old, instead } of edits.sort((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + instead + text.slice(at + old.length)
    if (instead === "") text = withoutEmptyLine(text, at)
  }
  return text
}

/** What is removed comes before what is corrected, where both are about one sentence. */
const byRank = (a: Claim, b: Claim) => Number(REMOVED.has(b.class)) - Number(REMOVED.has(a.class))

function sentenceEdit({ class: kind, sentence, instead }: Claim): Edit {
  const { text, at } = sentence
  if (REMOVED.has(kind) || instead === undefined) return { text, at, instead: "" }
  const said = inlineUpTo(LONGEST_FACT, instead)
  if (kind === "outcomes") return { text, at, instead: `[corrected from the record: ${said}]` }
  return { text, at, instead: `[corrected from the conversation, word for word: ${said}]` }
}

const nameEdit = ({ text, at }: Claim): Edit => ({ text, at, instead: notFound(text) })

/** A bullet without content goes. */
function withoutEmptyLine(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1
  const end = text.indexOf("\n", at)
  const line = text.slice(start, end < 0 ? text.length : end)
  if (/[\p{L}\p{N}]/u.test(line.replace(/^\s*\d+[.)]/, ""))) return text
  return text.slice(0, start) + (end < 0 ? "" : text.slice(end + 1))
}

function struckNote(struck: readonly Claim[]): string {
  if (struck.length === 0) return ""
  const removed = struck.filter((claim) => REMOVED.has(claim.class)).length
  const corrected = struck.filter((claim) => SENTENCES.has(claim.class)).length - removed
  const marked = struck.length - removed - corrected
  const parts = [
    removed > 0 ? `${count(removed, "quote or approval", "quotes or approvals")} that the user never gave removed` : "",
    corrected > 0 ? `${count(corrected, "statement", "statements")} corrected` : "",
    marked > 0 ? `${count(marked, "name or number", "names or numbers")} marked as not found` : "",
  ]
  return `This summary was checked against the conversation: ${parts.filter((part) => part !== "").join(", ")}.`
}

const TITLES: Readonly<Record<FactClass, string>> = {
  request: "The newest request",
  rules: "Rules of the user",
  messages: "Messages of the user",
  names: "Names and numbers that the user gave",
  todos: "Open todos",
  failures: "Commands whose last run failed",
  files: "Files that were changed",
}

function appendix(added: readonly Fact[]): string {
  if (added.length === 0) return ""
  const lists = FACT_CLASSES.flatMap((kind) => {
    const lines = added.filter((fact) => fact.class === kind).map(lineOf)
    return lines.length === 0 ? [] : [`${TITLES[kind]}:`, ...lines]
  })
  return ["Missing in the summary and added from the conversation, each with its handle:", ...lists].join("\n")
}

const lineOf = ({ text, uuid }: Fact): string =>
  `- ${uuid === undefined ? "" : `[${handleOf(uuid)}] `}${inlineUpTo(LONGEST_FACT, text)}`

/** By class, and in each the newest first. */
function thatFit(facts: readonly Fact[], { estimate, room }: Pick<ToRepair, "estimate" | "room">): readonly Fact[] {
  let left = room
  const taken = new Set<Fact>()
  for (const kind of FACT_CLASSES) {
    for (const fact of facts.filter((each) => each.class === kind).toReversed()) {
      left -= estimate(lineOf(fact))
      if (left < 0) break
      taken.add(fact)
    }
  }
  return facts.filter((fact) => taken.has(fact))
}

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
