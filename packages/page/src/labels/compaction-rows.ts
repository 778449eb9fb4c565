/** Tells a compaction in words: why it happened, what it kept, and what it left out, or why it failed. Pure. */
import { isRequest, type Message } from "@strata/core"
import { formatDollars, formatNumber, formatPercent, pluralize } from "@strata/core/base"
import { contentOf, isToolResult } from "@strata/core/messages"
import type { DecisionOf } from "@strata/core/store"
import type { BoundaryNames } from "@strata/transcripts"
import type { CompactionContents } from "../live/compaction-contents.ts"
import { attachmentsLabel, attachmentTitle, listNames } from "./attachments.ts"
import { describeAudit, routeLabel } from "./compaction.ts"
import { describeLostNames, describeNamesInView } from "./needed-names.ts"

/** A label and one or more sentences. */
export type LabelledRow = readonly [label: string, words: string]

export interface DescribedCompaction {
  /** The program that wrote the transcript. */
  readonly program: string
  readonly metadata: Extract<Message, { readonly type: "system" }>["compactMetadata"]
  /** Absent for compactions of other programs. */
  readonly facts: DecisionOf<"compacted"> | undefined
  /** Instructions of the user, if there are no facts. */
  readonly typed: string | undefined
  /** Messages that stayed in the context unchanged. */
  readonly tail: readonly Message[]
  /** The summary and the attachments after it. */
  readonly written: readonly Message[]
  readonly contents: CompactionContents | undefined
  /** Names that were used again after it. */
  readonly needed: BoundaryNames | undefined
  /** Size of the next request. */
  readonly next: number | undefined
  /** Cost of the summary, as a sentence. */
  readonly cost: string
}

const MAX_FILES = 6
const MAX_QUOTED = 3
const QUOTE_CHARACTERS = 120

/** Programs whose transcripts record whether a compaction was automatic. */
const RECORDS_TRIGGER: ReadonlySet<string> = new Set(["strata", "claude-code", "opencode"])

/** `27,554 → 3,879 tokens`, and the share that is left. `next`: the size of the next request, where the size after is not recorded. */
export function compactionSizes({
  facts,
  metadata,
  next,
}: DescribedCompaction): readonly [sizes: string, share: string] {
  const before = facts?.tokensBefore ?? metadata?.preTokens
  const after = facts?.tokensAfter ?? next
  const sizes = [before, after].map((tokens) => (tokens ? formatNumber(tokens) : "unknown")).join(" → ")
  const where = facts || after === undefined ? "" : ", in the next request"
  return [`${sizes} tokens`, before && after ? `${formatPercent(after, before)} is left${where}` : ""]
}

/** Why it happened, what was asked, and how the summary was written. */
export function reasonRows({ program, metadata, facts, typed, cost }: DescribedCompaction): readonly LabelledRow[] {
  if (metadata?.byCaller)
    return [["started", "By the client: it sent a shorter list of messages, with a summary of its own."]]
  const trigger = facts?.trigger ?? (RECORDS_TRIGGER.has(program) ? metadata?.trigger : undefined)
  const instructions = facts?.instructions ?? typed
  return [
    ["started", describeTrigger(trigger, facts)],
    ...(trigger !== "manual"
      ? []
      : [["instructions", instructions === undefined ? "None are recorded." : `“${instructions}”`] as const]),
    ["summary", facts ? `${describeAuthor(facts)} ${cost}` : "Written by another program, which does not record how."],
  ]
}

function describeTrigger(trigger: "auto" | "manual" | undefined, facts: DescribedCompaction["facts"]): string {
  if (trigger === undefined) return "The transcript does not record why."
  if (trigger === "manual") return "By hand: you asked for it."
  if (!facts) return "Automatically. The transcript does not record the level."
  const { planned, threshold, tokensBefore } = facts
  if (planned !== undefined) return `Automatically, before the window was full. ${planned}`
  const level = `${formatNumber(threshold)} tokens`
  return tokensBefore >= threshold
    ? `Automatically: the window held ${formatNumber(tokensBefore)} tokens, and the level is ${level}.`
    : `Automatically, below the level of ${level}: the API refused a request as too long, or another model has less room.`
}

function describeAuthor({ route, prepared }: DecisionOf<"compacted">): string {
  const how = `Written ${routeLabel(route)}${prepared ? ", in advance, so that no request waited" : ""}`
  return `${how}.`
}

/** What the context after it still contains. */
export function keptRows({ tail, contents, written }: DescribedCompaction): readonly LabelledRow[] {
  const attached = written.flatMap((message) => (message.type === "attachment" ? [message.attachment] : []))
  const record = attached.find((one) => one.type === "carried_facts")
  const others = Map.groupBy(
    attached.filter(({ type }) => type !== "carried_facts"),
    ({ type }) => type,
  )
  const groups = [...others].map(([type, [first, ...more]]) =>
    more.length === 0 ? attachmentTitle(first!) : `${formatNumber(more.length + 1)} ${attachmentsLabel(type)}`,
  )
  return [
    ["last messages", describeTail(tail)],
    ...(contents ? keptContents(contents) : []),
    ...(record ? [["record", describeRecord(record.content)] as const] : []),
    ...(groups.length === 0 ? [] : [["added again", `${groups.join("; ")}.`] as const]),
  ]
}

/** `12 messages, unchanged: 2 of yours, 6 answers, 4 with tool results.` */
function describeTail(tail: readonly Message[]): string {
  if (tail.length === 0) return "None stayed as it was."
  const own = tail.filter(isRequest).length
  const answers = tail.filter(({ type }) => type === "assistant").length
  const results = tail.filter((message) => message.type === "user" && contentOf(message).some(isToolResult)).length
  const parts = [
    ...(own > 0 ? [`${formatNumber(own)} of yours`] : []),
    ...(answers > 0 ? [pluralize(answers, "answer")] : []),
    ...(results > 0 ? [`${formatNumber(results)} with tool results`] : []),
  ]
  return `${pluralize(tail.length, "message")}, unchanged${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`
}

function keptContents({ userMessages, rules, changedFiles }: CompactionContents): readonly LabelledRow[] {
  const { count, complete, partial } = userMessages
  const beginnings = partial === 0 ? "" : `, ${formatNumber(partial)} more by the beginning`
  const files = changedFiles.named
  return [
    ...(count === 0 ? [] : [["your messages", `${shareOf(complete, count)} word for word${beginnings}.`] as const]),
    ...(rules.count === 0
      ? []
      : [["your rules", `${shareOf(rules.count - rules.missing.length, rules.count)} word for word.`] as const]),
    ...(files.length === 0
      ? []
      : [
          [
            "changed files",
            `${shareOf(files.length, files.length + changedFiles.missing.length)} by name: ${listNames(files, MAX_FILES)}.`,
          ] as const,
        ]),
  ]
}

function shareOf(some: number, all: number): string {
  if (all > 1 && some === all) return `All ${formatNumber(all)}`
  return `${some === 0 && all > 1 ? "None" : formatNumber(some)} of ${formatNumber(all)}`
}

const SECTION = /^## (.+)$/
const FENCE = /^`{3,}$/

/** The headings of the record. Quoted text is in fences, so no line of it is taken for a heading. */
function describeRecord(content: string): string {
  let fence: string | undefined
  const sections: string[] = []
  for (const line of content.split("\n")) {
    if (fence !== undefined) fence = line === fence ? undefined : fence
    else if (FENCE.test(line)) fence = line
    else sections.push(...(SECTION.exec(line)?.slice(1) ?? []))
  }
  const size = pluralize(content.length, "character")
  const titles = sections.join(", ").toLowerCase()
  return sections.length === 0
    ? `${size}, computed from the journal.`
    : `${titles.charAt(0).toUpperCase()}${titles.slice(1)}: ${size}, computed from the journal.`
}

/** What left the context, and what of it was missed later. */
export function omittedRows({ contents, needed, facts }: DescribedCompaction): readonly LabelledRow[] {
  return [
    ...(contents && needed !== "unrecorded" ? omittedContents(contents) : []),
    ...(facts?.audit ? [["check", `${describeAudit(facts.audit)}.`] as const] : []),
    ["used again", describeLater(needed)],
  ]
}

function omittedContents({ userMessages, rules, changedFiles, results }: CompactionContents): readonly LabelledRow[] {
  const { missing } = userMessages
  const gone = results.before - results.after
  return [
    ...(results.before === 0
      ? []
      : [
          [
            "tool results",
            `${shareOf(gone, results.before)} left the window${results.cleared === 0 ? "" : `; ${formatNumber(results.cleared)} had been cleared before`}.`,
          ] as const,
        ]),
    ...quotedRow("your messages", missing, "not in the window"),
    ...quotedRow("your rules", rules.missing, "not word for word"),
    ...(changedFiles.missing.length === 0
      ? []
      : [["changed files", `Not named: ${listNames(changedFiles.missing, MAX_FILES)}.`] as const]),
  ]
}

const quotedRow = (label: string, missing: readonly string[], how: string): readonly LabelledRow[] =>
  missing.length === 0
    ? []
    : [[label, `${formatNumber(missing.length)} ${how}: ${listNames(missing.map(quoted), MAX_QUOTED)}.`]]

function quoted(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  return `“${line.length > QUOTE_CHARACTERS ? `${line.slice(0, QUOTE_CHARACTERS)}…` : line}”`
}

function describeLater(needed: BoundaryNames | undefined): string {
  const found = describeNamesInView(needed)
  if (!needed || needed === "unrecorded" || needed.names === 0)
    return `${found.charAt(0).toUpperCase()}${found.slice(1)}.`
  const lost = describeLostNames({ ...needed, lost: needed.lost.map((name) => `“${name}”`) }) // a name may be a number
  return `Still there: ${found}.${lost === "" ? "" : ` Lost: ${lost}.`}`
}

export interface FailedCompaction {
  readonly failure: DecisionOf<"compaction-failed">
  /** Number of failures since the last compaction, with this one. */
  readonly inARow: number
  /** Requests for summaries that were not used. Absent if no model was asked. */
  readonly bill: SummaryBill | undefined
}

/** Requests for a summary. */
export interface SummaryBill {
  readonly requests: number
  readonly models: ReadonlySet<string>
  /** `undefined` if a price is unknown. */
  readonly dollars: number | undefined
}

const MAX_FAILURES = 3 // default of the flag `compact-failures`

const FAILURE_LABELS: Readonly<Record<DecisionOf<"compaction-failed">["reason"], string>> = {
  no_summary: "There was no summary that could be used.",
  api_error: "The API did not answer the request for a summary.",
  prompt_too_long: "The API refused the request for a summary as too long.",
  threshold_exceeded: "The window would not have become small enough.",
  aborted: "It was stopped.",
}

/** What was tried, why it failed, and what was kept. */
export function failureRows({ failure, inARow, bill }: FailedCompaction): readonly LabelledRow[] {
  const { trigger, reason, message } = failure
  const label: string | undefined = FAILURE_LABELS[reason] // a journal of another version may have another reason
  return [
    ["started", trigger === "manual" ? "By hand: you asked for it." : "Automatically."],
    ["tried", describeAttempt(bill)],
    ["failed because", label ?? "The journal has only the message."],
    ["message", `“${message}”`],
    ["kept", "Everything: no message left the window, and none was changed."],
    ...(inARow < 2 ? [] : [["in a row", describeRepetition(inARow)] as const]),
  ]
}

function describeAttempt(bill: SummaryBill | undefined): string {
  if (bill === undefined) return "No summary was paid for."
  const { requests, models, dollars } = bill
  const cost = dollars === undefined ? "at an unknown price" : `for ${formatDollars(dollars)}`
  return `A summary by ${[...models].join(", ")}: ${pluralize(requests, "request")} ${cost}.`
}

const describeRepetition = (inARow: number): string =>
  `${formatNumber(inARow)} failed since the last one that worked. After ${MAX_FAILURES}, none is automatic, unless the flag compact-failures is another number; /compact still works.`
