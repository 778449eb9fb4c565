/**
 * Compaction for a conversation that the caller stores: from an array of messages to the content of its next context. The newest messages
 * stay unchanged; a text with a summary and the record replaces the others. Pure: equal arguments produce equal results.
 */

import { anOption, checkOptions, InvalidOptionError, type OptionRules, oneOf } from "../../../base/options.ts"
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { formatNumber } from "../../../base/text.ts"
import { type CooperativeTask, runCooperatively } from "../../../base/work.ts"
import { renderAttachment } from "../../../messages/attachment-texts.ts"
import { textOf } from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/media.ts"
import { isSentToModel, type Message, sentBlocks, userText } from "../../../messages/messages.ts"
import { createEstimator, type Estimator } from "../../../tokens/estimate.ts"
import { findModel } from "../../../tokens/models.ts"
import { annotateReplaced } from "../../../views/record/statements.ts"
import { type Cut, cutAll } from "../cut.ts"
import { factSteps } from "../restore/facts.ts"
import { shortRecord } from "../restore/short-record.ts"
import { continuationText, readSummary, summaryPrompt, withinBudget } from "../summarise/prompts.ts"
import { asRead } from "../summarise/route.ts"
import { addEarlierRecord, notLikeRecord } from "./earlier-record.ts"
import { type CompactableMessage, type InputMessage, inputMessages, textIn } from "./input-messages.ts"
import { type CompactionRecord, MessageRecord } from "./message-record.ts"
import { type PrunedText, pruneMessages } from "./prune-messages.ts"

export interface CompactMessagesOptions {
  /** Maximum tokens of the result: text and preserved messages. Default 10,000, and never more than the input. */
  readonly budget?: number
  /** Tokens of the newest messages that stay unchanged. Default 4,000, and at most 30% of the budget. */
  readonly keep?: number
  /** What the summary should focus on. */
  readonly instructions?: string
  /** A finished summary, or a function that asks your model. Default: quotations from the conversation, without a model. */
  readonly summary?: string | ((request: SummaryRequest) => Promise<string>)
  /** All messages before the given ones, if you still have them: the record covers them too. */
  readonly earlier?: readonly CompactableMessage[]
  /** The `state` of the previous call, if you do not have the earlier messages. */
  readonly before?: CompactionCarryover
  /** The model whose tokens are counted. Default: a current Claude model. */
  readonly model?: string
  /** Where the complete conversation can be read. The text mentions it. */
  readonly transcript?: string
  /** Name of the tool that returns messages by handle. The text mentions it. */
  readonly recall?: string
  /**
   * How to make room. "summary": a text replaces all but the newest messages. "prune": every message stays, and only very long results and
   * results that later work has made obsolete are cut. Default "summary".
   */
  readonly mode?: "summary" | "prune"
  /** How the model continues: with the work, without a user to ask, or as the user says next. Default "automatic". */
  readonly continuation?: "automatic" | "autonomous" | "by-hand"
  readonly signal?: AbortSignal
}

/** A request for your model: these messages, followed by the prompt as a user message. */
export interface SummaryRequest {
  readonly messages: readonly CompactableMessage[]
  readonly prompt: string
}

/** State to pass to the next call, as plain JSON. It contains text of the user. */
export interface CompactionCarryover {
  readonly version: 1
  readonly record: unknown
  /** Keys of the preserved messages: they come back and are already recorded. */
  readonly kept: readonly string[]
  readonly text: string
  readonly summary: string
}

/** The content of the next context. */
export interface CompactedMessages<M> {
  /**
   * A user message with the text, then the preserved messages unchanged. If nothing can be summarized: all messages unchanged. In the mode
   * "prune": all messages, some with shortened results.
   */
  readonly messages: readonly (M | { readonly role: "user"; readonly content: string })[]
  readonly kept: readonly M[]
  /** Summary and record with the text around them. Empty if nothing can be summarized. */
  readonly text: string
  readonly summary: string
  /** The computed part of the text. Empty if there is nothing to record. */
  readonly facts: string
  readonly record: CompactionRecord
  /** In the mode "prune": the replacement of each result that was cut. */
  readonly pruned?: readonly PrunedText[]
  /** Estimated tokens, without system prompt and tools. */
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number; readonly kept: number }
  /** Set if the budget was exceeded: rules, the open task and unread results are never cut. */
  readonly overBudget?: { readonly budget: number; readonly min: number; readonly message: string }
  readonly state: CompactionCarryover
}

const BUDGET = 10_000 // tokens of everything
const KEEP = 4_000 // tokens of the newest messages: they are used again soonest
const KEEP_SHARE = 0.3 // of the budget
const UNREAD = 20_000 // tokens of results that the model has not read yet: they stay complete
const SUMMARY_SHARE = 0.3 // of the budget, where the caller's model writes one
const QUOTED_SHARE = 0.15 // where none does: the record says the rest
const MAX_TRIES = 6
const MODEL = "claude-opus-4-6"

const OPTIONS: OptionRules<CompactMessagesOptions> = {
  budget: anOption.number,
  keep: anOption.number,
  instructions: anOption.text,
  summary: {
    expected: "a text or a function",
    accepts: (value) => typeof value === "string" || typeof value === "function",
  },
  earlier: anOption.list,
  before: {
    expected: "the state of an earlier call",
    accepts: (value) => Object(value).version === 1 && typeof Object(value).record === "object",
  },
  model: anOption.filledText,
  transcript: anOption.text,
  recall: anOption.filledText,
  mode: oneOf("summary", "prune"),
  continuation: oneOf("automatic", "autonomous", "by-hand"),
  signal: { expected: "an AbortSignal", accepts: (value) => value instanceof AbortSignal },
}

export async function compactMessages<M extends CompactableMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactedMessages<M>> {
  checkOptions("compactMessages", options, OPTIONS)
  if (!Array.isArray(messages))
    throw new InvalidOptionError("messages", "compactMessages() takes a list of messages as its first argument.")
  const { signal } = options
  const inputs = inputMessages(messages, options.before)
  const estimator = createEstimator(findModel(options.model ?? MODEL).facts.family)
  const tokensOf = measureOnce(estimator)
  const record = await runCooperatively(recordSteps(inputs, options), { signal })
  const all = inputs.map(({ message }) => message).filter(isSentToModel)
  if (options.mode === "prune") return pruneOnly({ inputs, record, estimator, tokensOf }, options)
  const sum = (some: readonly Message[]) => Math.ceil(some.reduce((tokens, message) => tokens + tokensOf(message), 0))
  const before = sum(all)
  const budget = Math.min(options.budget ?? BUDGET, before)
  const keep = budget < SHORT_TEXT ? 0 : Math.floor(Math.min(options.keep ?? KEEP, budget * KEEP_SHARE))
  const cutFor = (newest: number) =>
    cutAll({
      ...{ messages: all, tokensOf, newest: { budget: newest, tokensOf } },
      limits: { min: 0, max: UNREAD, messages: 0 },
    })
  const cut = cutFor(keep)
  const asGiven = (): CompactedMessages<M> => ({
    ...{ messages, kept: messages, text: "", summary: "", facts: "", record: record.data },
    tokens: { before, after: before, facts: 0, kept: before },
    ...(before <= (options.budget ?? before) ? {} : { overBudget: unchangedOverBudget(before, options.budget!) }),
    state: stateOf(record, inputs, { text: options.before?.text ?? "", summary: options.before?.summary ?? "" }),
  })
  if (!cut.summarised.some(({ type }) => type === "assistant")) return asGiven()
  const estimate = (text: string) => estimator.text(text)
  const answer = await writtenSummary({ cut, inputs, estimate, budget }, options)
  const written = answer === undefined ? undefined : annotateReplaced(notLikeRecord(answer), record.views.statements)
  const composed = await composedWithin({ record, cuts: [cut, cutFor(0)], written, budget, estimate, sum }, options)
  if (composed.tokens >= before) return asGiven()
  const held = new Set(composed.cut.preserved)
  const kept = inputs.filter(({ message }) => held.has(message))
  const { text, summary, facts } = composed
  const first = { role: "user", content: text } as const
  return {
    ...{ messages: [first, ...kept.map(({ original }) => original)], kept: kept.map(({ original }) => original) },
    ...{ text, summary, facts, record: record.data },
    tokens: { before, after: composed.tokens, facts: Math.ceil(estimate(facts)), kept: sum(composed.cut.preserved) },
    ...(composed.tokens <= budget ? {} : { overBudget: overBudget(composed, { budget, estimate, sum }) }),
    state: stateOf(record, kept, { text, summary }),
  }
}

interface ComposedText {
  readonly cut: Cut
  readonly text: string
  readonly summary: string
  readonly facts: string
  readonly tokens: number
}

interface ComposeInput {
  readonly record: MessageRecord
  /** The usual cut, and one that preserves as little as possible. */
  readonly cuts: readonly Cut[]
  /** A summary of the caller or of the caller's model. */
  readonly written: string | undefined
  readonly budget: number
  readonly estimate: (text: string) => number
  readonly sum: (some: readonly Message[]) => number
}

/** Composes smaller and smaller texts until one fits: first with a smaller record, then with fewer preserved messages. */
async function composedWithin(inputs: ComposeInput, options: CompactMessagesOptions): Promise<ComposedText> {
  const { record, cuts, written, budget, estimate, sum } = inputs
  const outdated = [...record.views.statements.replaced.keys()]
  let min: ComposedText | undefined
  for (const cut of cuts) {
    const kept = sum(cut.preserved)
    const held = new Set(cut.preserved.map(({ uuid }) => uuid))
    const isShort = budget < SHORT_TEXT
    const around = (summary: string, facts: string) =>
      isShort ? [SHORT_FRAME, summary, facts].filter(Boolean).join("\n") : textAround({ summary, facts, cut }, options)
    const frame = estimate(around(written ?? "", ""))
    const quoted = written === undefined && !isShort ? Math.floor(budget * QUOTED_SHARE) : 0
    let room = Math.floor(Math.min(budget - kept - frame, options.budget === undefined ? MAX_RECORD : budget))
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const shared = { estimate, budget: Math.max(0, room), preserved: held, summary: written ?? "" }
      const content = isShort
        ? shortRecord(record.views, shared).toWellFormed()
        : await runCooperatively(
            factSteps(record.views, {
              ...shared,
              isAlone: written === undefined,
              hasRecall: options.recall !== undefined,
            }),
            options,
          )
      const facts = content === "" || isShort ? content : textOf(renderAttachment({ type: "carried_facts", content }))
      const left = Math.floor(budget - kept - frame - estimate(facts))
      const summary =
        written ?? (await quotedSummary({ cut, facts, outdated, estimate, tokens: Math.min(left, quoted) }, options))
      const text = around(summary, facts)
      const composed = { cut, text, summary, facts, tokens: Math.ceil(estimate(text)) + kept }
      if (composed.tokens <= budget) return composed
      if (!min || composed.tokens < min.tokens) min = composed
      if (room <= 0) break
      room -= Math.max(Math.ceil(composed.tokens - budget), Math.ceil(room * SMALLER))
    }
  }
  return min!
}

const SHORT_TEXT = 1_000 // tokens: a smaller budget leaves no room for explanations
const SHORT_FRAME = "This conversation continues an earlier one that was too long."
const MAX_RECORD = 4_000 // tokens, where the caller gives no budget
const SMALLER = 0.1 // of the record, at least, each time everything together exceeds the budget

function overBudget(
  { tokens, cut, summary, facts }: ComposedText,
  { budget, estimate, sum }: Pick<ComposeInput, "budget" | "estimate" | "sum">,
): NonNullable<CompactedMessages<unknown>["overBudget"]> {
  const rounded = (part: number) => formatNumber(Math.ceil(part))
  const parts = `summary ${rounded(estimate(summary))}, rules, open task and the rest of the record ${rounded(estimate(facts))}, messages kept as they are ${rounded(sum(cut.preserved))}`
  const message = `The minimum is ${rounded(tokens)} tokens, and the budget is ${rounded(budget)}: ${parts}.`
  return { budget, min: tokens, message }
}

function unchangedOverBudget(min: number, budget: number): NonNullable<CompactedMessages<unknown>["overBudget"]> {
  const message = `The messages have ${formatNumber(min)} tokens, and the budget is ${formatNumber(budget)}. No summary with the record would be smaller, so they stay as given.`
  return { budget, min, message }
}

interface PruneInput<M> {
  readonly inputs: readonly InputMessage<M>[]
  readonly record: MessageRecord
  readonly estimator: Estimator
  readonly tokensOf: (message: Message) => number
}

/** Prunes results only. Every message stays in view, so there is no text and nothing to list. */
function pruneOnly<M extends CompactableMessage>(
  { inputs, record, estimator, tokensOf }: PruneInput<M>,
  { keep = KEEP, recall, before }: CompactMessagesOptions,
): CompactedMessages<M> {
  const { messages, results } = pruneMessages(inputs, { keep, recall, estimator, tokensOf })
  const after = inputMessages(messages, before)
  const sum = (some: readonly InputMessage<M>[]) =>
    Math.ceil(some.reduce((tokens, { message }) => tokens + tokensOf(message), 0))
  const kept = inputs.filter(({ original }, at) => original === messages[at])
  return {
    ...{ messages, kept: kept.map(({ original }) => original), pruned: results },
    ...{ text: "", summary: "", facts: "", record: record.data },
    tokens: { before: sum(inputs), after: sum(after), facts: 0, kept: sum(kept) },
    state: stateOf(record, after, { text: before?.text ?? "", summary: before?.summary ?? "" }),
  }
}

/** Records the messages. Those recorded by an earlier call are skipped: `before` covers the preserved messages and all before them. */
function* recordSteps(
  inputs: readonly InputMessage<CompactableMessage>[],
  { earlier = [], before }: CompactMessagesOptions,
): CooperativeTask<MessageRecord> {
  const record = new MessageRecord(before?.record)
  const old = before ? [] : inputMessages(earlier)
  const [first] = inputs
  // with the messages themselves, an earlier record would duplicate their facts
  if (!before && old.length === 0 && first?.message.type === "user" && first.message.isCompactSummary)
    addEarlierRecord(record.views, textOfInput(first.original))
  const known = before ? recordedUntil(inputs, before.kept) : 0
  for (const { message } of [...old, ...inputs.slice(known)]) {
    record.add(message)
    yield
  }
  return record
}

const textOfInput = (from: CompactableMessage): string =>
  "content" in from ? textIn(from.content) : from.type === "user" ? userText(from) : ""

/** Index after the preserved messages, found in their order. */
function recordedUntil(inputs: readonly InputMessage<CompactableMessage>[], kept: readonly string[]): number {
  if (kept.length === 0) return 0
  const at = inputs.findIndex((_, start) => kept.every((key, nth) => inputs[start + nth]?.key === key))
  return at < 0 ? 0 : at + kept.length
}

const stateOf = (
  record: MessageRecord,
  kept: readonly InputMessage<CompactableMessage>[],
  texts: Pick<CompactionCarryover, "text" | "summary">,
): CompactionCarryover => ({ version: 1, record: record.save(), kept: kept.map(({ key }) => key), ...texts })

interface SummaryInput {
  readonly cut: Cut
  readonly inputs: readonly InputMessage<CompactableMessage>[]
  readonly estimate: (text: string) => number
  readonly budget: number
}

/** Returns `undefined` if neither the caller nor a model wrote a summary. */
async function writtenSummary(
  { cut, inputs, estimate, budget }: SummaryInput,
  { summary, instructions = "" }: CompactMessagesOptions,
): Promise<string | undefined> {
  if (summary === undefined) return undefined
  if (typeof summary === "string") return summary.trim()
  const covered = new Set(cut.summarised)
  const messages = inputs.filter(({ message }) => covered.has(message)).map(({ original }) => original)
  const read = readSummary(
    await summary({ messages, prompt: summaryPrompt({ kind: "all", instructions: [instructions], record: true }) }),
  )
  if (read.kind !== "summary") return undefined
  const range = [handleOf(cut.summarised[0]!.uuid), handleOf(cut.summarised.at(-1)!.uuid)] as const
  return withinBudget({ text: read.text, budget: Math.floor(budget * SUMMARY_SHARE), estimate, range })
}

interface QuoteInput {
  readonly cut: Cut
  readonly facts: string
  /** Replaced sentences, which are not quoted. */
  readonly outdated: Iterable<string>
  readonly estimate: (text: string) => number
  readonly tokens: number
}

/** Quotes content that the record and the preserved messages do not contain. */
async function quotedSummary(
  { cut, facts, outdated, estimate, tokens }: QuoteInput,
  options: CompactMessagesOptions,
): Promise<string> {
  if (tokens < MIN_QUOTED) return ""
  const { summarizeAbout } = await import("../../../model/offline/summary.ts") // a caller may have a summary of their own
  const messages = cut.summarised.map((message) => asRead(message, sentBlocks(message)))
  const shown = [facts, ...outdated, ...cut.preserved.map((message) => textOf(sentBlocks(message)))].join("\n")
  const about = { topic: options.instructions ?? "", budget: { tokens: tokens - 2, tokensOf: estimate }, shown }
  const text = maskSecrets(await runCooperatively(summarizeAbout(messages, about), { signal: options.signal }))
  return text === "" ? "" : `Summary:\n${text}`
}

const MIN_QUOTED = 120 // tokens: less has no room for a sentence

interface FrameInput {
  readonly summary: string
  readonly facts: string
  readonly cut: Cut
}

function textAround(
  { summary, facts, cut }: FrameInput,
  { transcript, recall, continuation = "automatic" }: CompactMessagesOptions,
): string {
  const continued = continuationText({
    summary,
    mode: continuation,
    transcriptPath: transcript,
    ...(recall === undefined
      ? {}
      : { recall, replaced: { first: cut.summarised[0]!.uuid, last: cut.summarised.at(-1)!.uuid } }),
    keptMessages: cut.preserved.length > 0,
  })
  return facts === "" ? continued : `${continued}\n\n${facts}`
}

/** Measures each message once. */
function measureOnce(estimator: Estimator): (message: Message) => number {
  const known = new Map<Message, number>()
  return (message) => {
    const found = known.get(message) ?? estimator.blocks(sentBlocks(message))
    known.set(message, found)
    return found
  }
}
