/**
 * Step 4, check. Checks and repairs every summary before it is accepted, whatever route produced it. A summary below the threshold is
 * requested once more, with the findings. If that does not help, the next route is tried, and the best repaired summary is the fallback.
 * `restore.ts` builds what follows an accepted summary.
 */
import { errorReason } from "../../../base/errors.ts"
import { fillPrompt, inputTokens, promptText } from "../../../base/text.ts"
import { type CooperativeTask, runCooperatively } from "../../../base/work.ts"
import type { AuditFigures } from "../../../journal/entries.ts"
import { inlineUpTo, textOf } from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/media.ts"
import { sentBlocks } from "../../../messages/messages.ts"
import { tokenCounts } from "../../../tokens/models.ts"
import { annotateReplaced } from "../../../views/record/statements.ts"
import type { CompactionRoute } from "../../layer.ts"
import type { CompactionContext } from "../compaction-context.ts"
import { renderRecord } from "../restore/post-compaction-context.ts"
import type { Route, RouteResult } from "../summarise/route.ts"
import { type AuditFact, type AuditReport, auditSteps, FACT_CLASSES, type FactClass, mentions } from "./audit.ts"
import { type AuditSource, sourceSteps } from "./source.ts"
import type { ClaimClass, SummaryClaim, TextSpan } from "./text.ts"
import { notFound, uncheckedNote } from "./unreadable.ts"

// Step 4, check. Repairs a summary without a model. Invented quotes and approvals are removed. Sentences that contradict the conversation
// are replaced by its words. Unknown names and numbers are labeled. Claims that could not be checked are listed once. Missing facts are
// appended as data with handles.

interface RepairResult {
  readonly text: string
  /** The findings as a separate text, for a summary that cannot be changed. */
  readonly notes: string
  /** Claims that were removed, corrected or labeled. */
  readonly flagged: readonly SummaryClaim[]
  readonly added: readonly AuditFact[]
}

interface RepairInput {
  readonly summary: string
  readonly claims: readonly SummaryClaim[]
  readonly unchecked: readonly SummaryClaim[]
  readonly facts: readonly AuditFact[]
  readonly estimate: (text: string) => number
  /** Maximum number of tokens to append. */
  readonly room: number
}

const MAX_FACT = 300 // characters; the handle gives the rest
const REMOVED: ReadonlySet<ClaimClass> = new Set(["quotes", "approvals"])
const SENTENCES: ReadonlySet<ClaimClass> = new Set(["quotes", "approvals", "prohibitions", "outcomes", "wording"])

export function repairSummary({ summary, claims, unchecked, facts, estimate, room }: RepairInput): RepairResult {
  const flagged = claims.filter(({ isSupported }) => !isSupported)
  const text = withEdits(summary, flagged)
  const added = fittingFacts(
    facts.filter(({ isCovered }) => !isCovered),
    { estimate, room },
  )
  const notes = [uncheckedNote(unchecked.map((claim) => claim.text)), appendix(added)]
  const joined = (texts: readonly string[]) => texts.filter((each) => each !== "").join("\n\n")
  return {
    text: joined([text, flaggedNote(flagged), ...notes]),
    notes: joined([flaggedList(flagged), ...notes]),
    flagged,
    added,
  }
}

/** The wrong claims of a summary that cannot be changed, as a list. */
function flaggedList(struck: readonly SummaryClaim[]): string {
  if (struck.length === 0) return ""
  const lines = struck.map(({ class: kind, text, sentence, instead }) => {
    if (!SENTENCES.has(kind)) return `- not found in the conversation: ${inlineUpTo(MAX_FACT, text)}`
    const correction = instead === undefined || REMOVED.has(kind) ? "" : ` It is: ${inlineUpTo(MAX_FACT, instead)}`
    return `- not so: ${inlineUpTo(MAX_FACT, sentence.text)}${correction}`
  })
  return ["The summary was checked against the conversation. Wrong in it:", ...lines].join("\n")
}

interface SummaryEdit extends TextSpan {
  readonly instead: string
}

function withEdits(summary: string, struck: readonly SummaryClaim[]): string {
  const sentenceEdits = struck
    .filter((claim) => SENTENCES.has(claim.class))
    .sort(byRank)
    .map(sentenceEdit)
  const edits: SummaryEdit[] = []
  const isFree = ({ at, text }: TextSpan) =>
    edits.every((edit) => at + text.length <= edit.at || at >= edit.at + edit.text.length)
  for (const edit of [...sentenceEdits, ...struck.filter((claim) => !SENTENCES.has(claim.class)).map(nameEdit)])
    if (isFree(edit)) edits.push(edit)
  let text = summary
  for (const { at, text: old, instead } of edits.sort((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + instead + text.slice(at + old.length)
    if (instead === "") text = withoutEmptyLine(text, at)
  }
  return text
}

/** Sorts removals before corrections, because one sentence can have both. */
const byRank = (a: SummaryClaim, b: SummaryClaim) => Number(REMOVED.has(b.class)) - Number(REMOVED.has(a.class))

function sentenceEdit({ class: kind, sentence, instead }: SummaryClaim): SummaryEdit {
  const { text, at } = sentence
  if (REMOVED.has(kind) || instead === undefined) return { text, at, instead: "" }
  const correction = inlineUpTo(MAX_FACT, instead)
  if (kind === "outcomes") return { text, at, instead: `[corrected from the record: ${correction}]` }
  return { text, at, instead: `[corrected from the conversation, word for word: ${correction}]` }
}

const nameEdit = ({ text, at }: SummaryClaim): SummaryEdit => ({ text, at, instead: notFound(text) })

/** Removes a bullet that has no content left. */
function withoutEmptyLine(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1
  const end = text.indexOf("\n", at)
  const line = text.slice(start, end < 0 ? text.length : end)
  if (/[\p{L}\p{N}]/u.test(line.replace(/^\s*\d+[.)]/, ""))) return text
  return text.slice(0, start) + (end < 0 ? "" : text.slice(end + 1))
}

function flaggedNote(struck: readonly SummaryClaim[]): string {
  if (struck.length === 0) return ""
  const removed = struck.filter((claim) => REMOVED.has(claim.class)).length
  const corrected = struck.filter((claim) => SENTENCES.has(claim.class)).length - removed
  const marked = struck.length - removed - corrected
  const parts = [
    removed > 0
      ? `${pluralizeCount(removed, "quote or approval", "quotes or approvals")} that the user never gave removed`
      : "",
    corrected > 0 ? `${pluralizeCount(corrected, "statement", "statements")} corrected` : "",
    marked > 0 ? `${pluralizeCount(marked, "name or number", "names or numbers")} marked as not found` : "",
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

function appendix(added: readonly AuditFact[]): string {
  if (added.length === 0) return ""
  const lists = FACT_CLASSES.flatMap((kind) => {
    const lines = added.filter((fact) => fact.class === kind).map(lineOf)
    return lines.length === 0 ? [] : [`${TITLES[kind]}:`, ...lines]
  })
  return ["Missing in the summary and added from the conversation, each with its handle:", ...lists].join("\n")
}

const lineOf = ({ text, uuid }: AuditFact): string =>
  `- ${uuid === undefined ? "" : `[${handleOf(uuid)}] `}${inlineUpTo(MAX_FACT, text)}`

/** Selects facts that fit, class by class, newest first. */
function fittingFacts(
  facts: readonly AuditFact[],
  { estimate, room }: Pick<RepairInput, "estimate" | "room">,
): readonly AuditFact[] {
  let left = room
  const taken = new Set<AuditFact>()
  for (const kind of FACT_CLASSES) {
    for (const fact of facts.filter((each) => each.class === kind).toReversed()) {
      left -= estimate(lineOf(fact))
      if (left < 0) break
      taken.add(fact)
    }
  }
  return facts.filter((fact) => taken.has(fact))
}

const pluralizeCount = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`

type Summary = Extract<RouteResult, { kind: "summary" }>

export interface CheckedSummary extends Summary {
  readonly audit?: AuditFigures
  /** The findings as an instruction for another attempt. Absent if the summary is good enough. */
  readonly findings?: string
  /** Set if the summary is not about the conversation and cannot be used. */
  readonly saysNothing?: true
}

/** Checks a summary and repairs it. */
export type SummaryCheck = (summary: Summary) => Promise<CheckedSummary>

/** State that one route passes to the next. */
export interface RouteCarryover {
  /** Findings for the next summary. Asking the same route again would read everything again. */
  readonly findings?: string | undefined
  /** Whether a summary was already requested a second time. A third request would cost more than it helps. */
  readonly isAgain: boolean
}

export const NO_CARRYOVER: RouteCarryover = { isAgain: false }

interface AskAndCheckInput {
  readonly route: Pick<Route, "name">
  readonly instructions: readonly string[]
  readonly carryover: RouteCarryover
  readonly check: SummaryCheck
  readonly ask: (instructions: readonly string[]) => Promise<RouteResult>
}

interface CheckedResult {
  readonly result: Exclude<RouteResult, Summary> | CheckedSummary
  readonly carryover: RouteCarryover
}

/** Routes that ask a model, where a second request can help. */
export const MODEL_ROUTES: ReadonlySet<CompactionRoute> = new Set(["server", "shared", "direct"])

const FEWEST_CLAIMS = 3 // unsupported claims: a single one is repaired, and no reason to ask again
const FEWEST_FACTS = 5 // missing
const MAX_APPENDIX = 1_000 // tokens of what is added
const APPENDIX_SHARE = 0.05 // of the limit to compact at, where that is small
const APPENDIX_TO_SUMMARY = 0.5 // of the summary's budget, where that is small
const MAX_LISTED = 20 // findings in the journal and in a request, of each kind
const MAX_LISTED_LENGTH = 120 // characters of one

const OFF_TOPIC =
  "It does not speak of this conversation. Say what the user asked for, what was done, and what comes next."
const FINDINGS = promptText(new URL("./findings.md", import.meta.url)).trimEnd()

/** Tokens that the audit may add to a summary. */
export const appendixRoom = ({ limits, budgets }: Pick<CompactionContext, "limits" | "budgets">): number =>
  Math.min(MAX_APPENDIX, limits.autoCompact * APPENDIX_SHARE, budgets.summary * APPENDIX_TO_SUMMARY)

/**
 * Creates the check for one compaction. The source text is read once. A summary that cannot be checked is accepted unchanged: the check
 * must not prevent a compaction that would succeed.
 */
export function checkFor(situation: CompactionContext): SummaryCheck {
  const { flags, progress } = situation.context
  let source: Promise<AuditSource> | undefined
  return async (summary) => {
    if (!flags.on["compact-audit"]) return summary
    try {
      source ??= runCooperatively(sourceTask(situation))
      return await checkAndRepair(situation, await source, summary)
    } catch (error) {
      progress({ phase: "message", message: `The summary could not be checked: ${errorReason(error)}` })
      return summary
    }
  }
}

/** Requests, checks and repairs a summary; if the model was asked twice, returns the better one. */
export async function askAndCheck(situation: CompactionContext, toAsk: AskAndCheckInput): Promise<CheckedResult> {
  const { route, instructions: given, carryover: before, check, ask } = toAsk
  const { context } = situation
  const isModel = MODEL_ROUTES.has(route.name)
  const learned = isModel && before.findings !== undefined ? [before.findings] : []
  const carryover = { ...before, isAgain: before.isAgain || learned.length > 0 }
  const instructions = [...given, ...learned]
  const first = await ask(instructions)
  if (first.kind !== "summary") return { result: first, carryover }
  const one = await check(first)
  if (!isMismatched(one)) return { result: one, carryover }
  if (!isModel || carryover.isAgain || context.signal.aborted) return { result: unlessEmpty(one, situation), carryover }
  context.progress({ phase: "message", message: "The summary does not match the conversation. Asking once more." })
  const { findings } = one
  if (route.name !== "direct" && missedCache(first))
    return { result: unlessEmpty(one, situation), carryover: { findings, isAgain: false } }
  const second = await ask([...instructions, findings!])
  const other = second.kind === "summary" ? await check(second) : undefined
  const better = other && !isBetter(one, other) ? other : one
  return { result: unlessEmpty(better, situation), carryover: { findings, isAgain: true } }
}

/** A summary that is not about the conversation counts as failed, unless a user accepted it. */
function unlessEmpty(
  checked: CheckedSummary,
  { order }: CompactionContext,
): Exclude<RouteResult, Summary> | CheckedSummary {
  if (!checked.saysNothing || order.written) return checked
  const { responses } = checked
  return { kind: "failed", reason: "no_summary", message: "it says nothing about the conversation", responses }
}

const CACHED = 0.5 // of the input, at least: less was not read from the cache of the conversation

function missedCache({ responses }: Summary): boolean {
  const usage = responses.at(-1)?.usage
  if (!usage) return false
  const counts = tokenCounts(usage)
  return counts.cacheRead < CACHED * inputTokens(counts)
}

export const isMismatched = ({ findings }: CheckedSummary): boolean => findings !== undefined

/** Whether `one` is better: it is about the conversation, or it invents less, or it misses less. */
export function isBetter(one: CheckedSummary, other: CheckedSummary): boolean {
  if (one.saysNothing !== other.saysNothing) return other.saysNothing === true
  const [{ audit: a }, { audit: b }] = [one, other]
  if (!a || !b) return b === undefined
  return a.fabrication === b.fabrication ? a.coverage > b.coverage : a.fabrication < b.fabrication
}

async function checkAndRepair(
  situation: CompactionContext,
  source: AuditSource,
  summary: Summary,
): Promise<CheckedSummary> {
  const { views, flags } = situation.context
  const { cut, text } = summary
  const facts = await renderRecord(situation, cut, { summary: text })
  const found = await runCooperatively(
    auditSteps({
      summary: text,
      following: [facts, ...cut.preserved.map((message) => textOf(sentBlocks(message)))].join("\n"),
      source,
      record: views,
      replaced: new Set(cut.summarised.map(({ uuid }) => uuid)),
    }),
  )
  const better = repairSummary({
    summary: text,
    ...found,
    estimate: (each) => views.estimator.text(each),
    room: appendixRoom(situation),
  })
  const saysNothing = !summary.isQuoted && !mentions(text, source)
  const isGood = !saysNothing && isGoodEnough(found, flags.figures)
  const { signed, ...rest } = summary
  return {
    ...rest,
    // a summary that was cut to its budget differs from the signed one
    ...(signed?.summaryText === text ? { signed: { ...signed, notes: better.notes } } : {}),
    text: annotateReplaced(better.text, views.statements),
    audit: {
      ...found.scores,
      struck: better.flagged.slice(0, MAX_LISTED).map(listedClaim),
      ...(found.unchecked.length > 0 ? { unchecked: [...new Set(found.unchecked.map(listedClaim))] } : {}),
      added: better.added.slice(0, MAX_LISTED).map((fact) => `${fact.class}: ${short(fact.text)}`),
    },
    ...(isGood ? {} : { findings: findingsOf(found, saysNothing) }),
    ...(saysNothing ? { saysNothing } : {}),
  }
}

const listedClaim = (claim: SummaryClaim) => `${claim.class}: ${short(claim.text)}`
const short = (text: string) => inlineUpTo(MAX_LISTED_LENGTH, text.trim())

function isGoodEnough(
  { claims, facts, scores }: AuditReport,
  floors: CompactionContext["context"]["flags"]["figures"],
): boolean {
  const unsupported = claims.filter(({ isSupported }) => !isSupported).length
  const missing = facts.filter(({ isCovered }) => !isCovered).length
  const invents = unsupported >= FEWEST_CLAIMS && scores.fabrication * 100 > floors["audit-fabrication"]
  const misses = missing >= FEWEST_FACTS && scores.coverage * 100 < floors["audit-coverage"]
  return !invents && !misses
}

function findingsOf({ claims, facts }: AuditReport, saysNothing: boolean): string {
  const unsupported = claims.filter(({ isSupported }) => !isSupported).map(({ text }) => text)
  const missing = facts.filter(({ isCovered }) => !isCovered).map(({ text }) => text)
  const findings = [
    ...titledList("Claimed, but not in the conversation:", unsupported),
    ...titledList("In the conversation, but missing:", missing),
    ...(saysNothing ? [OFF_TOPIC] : []),
  ]
  return fillPrompt(FINDINGS, { findings: findings.join("\n") })
}

function titledList(title: string, texts: readonly string[]): readonly string[] {
  const lines = [...new Set(texts)].slice(0, MAX_LISTED).map((text) => `- ${short(text)}`)
  return lines.length === 0 ? [] : [title, ...lines]
}

/** Everything that the model saw before the summary, and what the record knows about earlier messages. */
function sourceTask({ context: { views, journal }, order }: CompactionContext): CooperativeTask<AuditSource> {
  const { prompt, session } = views.context
  const messages = views.context.journaledMessages()
  const here = new Set(messages.map(({ uuid }) => uuid))
  return sourceSteps({
    messages,
    earlierUserTexts: views.words.messages.filter(({ uuid }) => !here.has(uuid)).map(({ text }) => text),
    otherTexts: [
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
