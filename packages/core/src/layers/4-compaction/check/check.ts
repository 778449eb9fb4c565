/**
 * Step 4, check. Checks every summary before it is accepted, whichever route it came by, and repairs it. One below the floor is asked for
 * once more, with what was found. If that does not help, the next route is taken, and the best repaired summary is held in case none is
 * better. What follows an accepted summary is put together by `restore.ts`.
 */
import { reasonOf } from "../../../base/errors.ts"
import { fillPrompt, inputTokens, promptText } from "../../../base/text.ts"
import { inSlices, type Steps } from "../../../base/work.ts"
import type { AuditFigures } from "../../../journal/entries.ts"
import { inlineUpTo, textOf } from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/media.ts"
import { sentBlocks } from "../../../messages/messages.ts"
import { tokenCounts } from "../../../tokens/models.ts"
import { markReplaced } from "../../../views/record/statements.ts"
import type { CompactionRoute } from "../../layer.ts"
import { carriedFacts } from "../restore/carried.ts"
import type { Situation } from "../situation.ts"
import type { Route, RouteOutcome } from "../summarise/route.ts"
import { type Audit, auditSteps, FACT_CLASSES, type Fact, type FactClass, speaksOf } from "./audit.ts"
import { type Source, sourceSteps } from "./source.ts"
import type { Claim, ClaimClass, Span } from "./text.ts"
import { notFound, uncheckedNote } from "./unreadable.ts"

// Step 4, check. Repairs a summary without a model. Invented quotes and approvals are removed. Sentences that differ from what was said are
// replaced by it. Names and numbers that the conversation does not have are marked. Those that could not be checked are listed once. What is
// missing is added at the end as data with handles.

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

const MAX_FACT = 300 // characters; the handle gives the rest
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
    if (!SENTENCES.has(kind)) return `- not found in the conversation: ${inlineUpTo(MAX_FACT, text)}`
    const said = instead === undefined || REMOVED.has(kind) ? "" : ` It is: ${inlineUpTo(MAX_FACT, instead)}`
    return `- not so: ${inlineUpTo(MAX_FACT, sentence.text)}${said}`
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
  const said = inlineUpTo(MAX_FACT, instead)
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
  `- ${uuid === undefined ? "" : `[${handleOf(uuid)}] `}${inlineUpTo(MAX_FACT, text)}`

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

type Summary = Extract<RouteOutcome, { kind: "summary" }>

export interface CheckedSummary extends Summary {
  readonly audit?: AuditFigures
  /** What was found, as an instruction for another attempt. Absent where the summary is good enough. */
  readonly findings?: string
  /** It does not speak of the conversation, so it cannot be used. */
  readonly saysNothing?: true
}

/** A summary, checked and repaired. */
export type Check = (summary: Summary) => Promise<CheckedSummary>

/** What one route leaves for the next. */
export interface Asking {
  /** What the next summary should do better: asking the same route again would read everything again. */
  readonly findings?: string | undefined
  /** A summary was asked for a second time. Another one would cost more than it helps. */
  readonly isAgain: boolean
}

export const FIRST: Asking = { isAgain: false }

interface ToAsk {
  readonly route: Pick<Route, "name">
  readonly instructions: readonly string[]
  readonly asking: Asking
  readonly check: Check
  readonly ask: (instructions: readonly string[]) => Promise<RouteOutcome>
}

interface Asked {
  readonly outcome: Exclude<RouteOutcome, Summary> | CheckedSummary
  readonly asking: Asking
}

/** Routes where asking again can help. */
export const ASKS_MODEL: ReadonlySet<CompactionRoute> = new Set(["server", "shared", "direct"])

const FEWEST_CLAIMS = 3 // without ground: a single one is repaired, and no reason to ask again
const FEWEST_FACTS = 5 // missing
const MAX_APPENDIX = 1_000 // tokens of what is added
const APPENDIX_SHARE = 0.05 // of the limit to compact at, where that is small
const APPENDIX_TO_SUMMARY = 0.5 // of the summary's budget, where that is small
const MAX_LISTED = 20 // findings in the journal and in a request, of each kind
const MAX_LISTED_LENGTH = 120 // characters of one

const UNSAID =
  "It does not speak of this conversation. Say what the user asked for, what was done, and what comes next."
const FINDINGS = promptText(new URL("./findings.md", import.meta.url)).trimEnd()

/** Tokens that the audit may add to a summary. */
export const appendixRoom = ({ limits, figures }: Pick<Situation, "limits" | "figures">): number =>
  Math.min(MAX_APPENDIX, limits.autoCompact * APPENDIX_SHARE, figures.summary * APPENDIX_TO_SUMMARY)

/** What summaries are checked against is read once. A summary that cannot be checked is taken as it is: the check must not cost a compaction that would succeed. */
export function checkFor(situation: Situation): Check {
  const { flags, progress } = situation.context
  let source: Promise<Source> | undefined
  return async (summary) => {
    if (!flags.on["compact-audit"]) return summary
    try {
      source ??= inSlices(sourceFor(situation))
      return await checked(situation, await source, summary)
    } catch (error) {
      progress({ phase: "message", message: `The summary could not be checked: ${reasonOf(error)}` })
      return summary
    }
  }
}

/** A route's summary, checked and repaired; the better of two where the model was asked again. */
export async function askAndCheck(situation: Situation, toAsk: ToAsk): Promise<Asked> {
  const { route, instructions: given, asking: before, check, ask } = toAsk
  const { context } = situation
  const isModel = ASKS_MODEL.has(route.name)
  const learned = isModel && before.findings !== undefined ? [before.findings] : []
  const asking = { ...before, isAgain: before.isAgain || learned.length > 0 }
  const instructions = [...given, ...learned]
  const first = await ask(instructions)
  if (first.kind !== "summary") return { outcome: first, asking }
  const one = await check(first)
  if (!isWanting(one)) return { outcome: one, asking }
  if (!isModel || asking.isAgain || context.signal.aborted) return { outcome: usable(one, situation), asking }
  context.progress({ phase: "message", message: "The summary does not match the conversation. Asking once more." })
  const { findings } = one
  if (route.name !== "direct" && missedCache(first))
    return { outcome: usable(one, situation), asking: { findings, isAgain: false } }
  const second = await ask([...instructions, findings!])
  const other = second.kind === "summary" ? await check(second) : undefined
  const better = other && !isBetter(one, other) ? other : one
  return { outcome: usable(better, situation), asking: { findings, isAgain: true } }
}

/** What says nothing counts as failed. A person who accepted it, and quotations as the last resort, are not asked. */
function usable(checked: CheckedSummary, { order }: Situation): Exclude<RouteOutcome, Summary> | CheckedSummary {
  if (!checked.saysNothing || order.written) return checked
  const { responses } = checked
  return { kind: "failed", why: "no_summary", message: "it says nothing about the conversation", responses }
}

const CACHED = 0.5 // of the input, at least: less was not read from the cache of the conversation

function missedCache({ responses }: Summary): boolean {
  const usage = responses.at(-1)?.usage
  if (!usage) return false
  const counts = tokenCounts(usage)
  return counts.cacheRead < CACHED * inputTokens(counts)
}

export const isWanting = ({ findings }: CheckedSummary): boolean => findings !== undefined

/** The one that says something; of two alike, the one that invents less, then the one that misses less. */
export function isBetter(one: CheckedSummary, other: CheckedSummary): boolean {
  if (one.saysNothing !== other.saysNothing) return other.saysNothing === true
  const [{ audit: a }, { audit: b }] = [one, other]
  if (!a || !b) return b === undefined
  return a.fabrication === b.fabrication ? a.coverage > b.coverage : a.fabrication < b.fabrication
}

async function checked(situation: Situation, source: Source, summary: Summary): Promise<CheckedSummary> {
  const { views, flags } = situation.context
  const { cut, text } = summary
  const facts = await carriedFacts(situation, cut, { summary: text })
  const found = await inSlices(
    auditSteps({
      summary: text,
      following: [facts, ...cut.kept.map((message) => textOf(sentBlocks(message)))].join("\n"),
      source,
      record: views,
      replaced: new Set(cut.summarised.map(({ uuid }) => uuid)),
    }),
  )
  const better = repaired({
    summary: text,
    ...found,
    estimate: (each) => views.estimator.text(each),
    room: appendixRoom(situation),
  })
  const saysNothing = !summary.isQuoted && !speaksOf(text, source)
  const isGood = !saysNothing && isGoodEnough(found, flags.figures)
  const { signed, ...rest } = summary
  return {
    ...rest,
    // one that was cut to its budget says something else
    ...(signed?.says === text ? { signed: { ...signed, notes: better.notes } } : {}),
    text: markReplaced(better.text, views.statements),
    audit: {
      ...found.figures,
      struck: better.struck.slice(0, MAX_LISTED).map(listedClaim),
      ...(found.unchecked.length > 0 ? { unchecked: [...new Set(found.unchecked.map(listedClaim))] } : {}),
      added: better.added.slice(0, MAX_LISTED).map((fact) => `${fact.class}: ${short(fact.text)}`),
    },
    ...(isGood ? {} : { findings: findingsOf(found, saysNothing) }),
    ...(saysNothing ? { saysNothing } : {}),
  }
}

const listedClaim = (claim: Claim) => `${claim.class}: ${short(claim.text)}`
const short = (text: string) => inlineUpTo(MAX_LISTED_LENGTH, text.trim())

function isGoodEnough({ claims, facts, figures }: Audit, floors: Situation["context"]["flags"]["figures"]): boolean {
  const unsupported = claims.filter(({ isSupported }) => !isSupported).length
  const missing = facts.filter(({ isCovered }) => !isCovered).length
  const invents = unsupported >= FEWEST_CLAIMS && figures.fabrication * 100 > floors["audit-fabrication"]
  const misses = missing >= FEWEST_FACTS && figures.coverage * 100 < floors["audit-coverage"]
  return !invents && !misses
}

function findingsOf({ claims, facts }: Audit, saysNothing: boolean): string {
  const unsupported = claims.filter(({ isSupported }) => !isSupported).map(({ text }) => text)
  const missing = facts.filter(({ isCovered }) => !isCovered).map(({ text }) => text)
  const findings = [
    ...listed("Claimed, but not in the conversation:", unsupported),
    ...listed("In the conversation, but missing:", missing),
    ...(saysNothing ? [UNSAID] : []),
  ]
  return fillPrompt(FINDINGS, { findings: findings.join("\n") })
}

function listed(title: string, texts: readonly string[]): readonly string[] {
  const lines = [...new Set(texts)].slice(0, MAX_LISTED).map((text) => `- ${short(text)}`)
  return lines.length === 0 ? [] : [title, ...lines]
}

/** Everything the model had before it, and what the record knows about earlier messages. */
function sourceFor({ context: { views, journal }, order }: Situation): Steps<Source> {
  const { prompt, session } = views.context
  const messages = views.context.journaledMessages()
  const here = new Set(messages.map(({ uuid }) => uuid))
  return sourceSteps({
    messages,
    saidBefore: views.words.messages.filter(({ uuid }) => !here.has(uuid)).map(({ text }) => text),
    beside: [
      ...(prompt ? [JSON.stringify(prompt.system), JSON.stringify(prompt.tools), prompt.context] : []),
      session?.cwd ?? "",
      journal.location ?? "",
      journal.notesPath ?? "",
      order.instructions ?? "",
      ...views.artifacts.files.keys(),
      ...views.artifacts.commands.keys(),
      ...views.frontier.todos.map(({ content }) => content),
      ...[views.names.said, views.names.typed, views.names.seen].map((names) => [...names.keys()].join("\n")),
      views.frontier.plan.text ?? "",
    ],
  })
}
