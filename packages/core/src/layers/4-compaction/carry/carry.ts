/**
 * Compaction for a conversation that someone else keeps: from an array of messages to what should stand in its next context. The newest
 * messages stay as they are; a text with a summary and the record takes the place of the others. Pure: equal arguments give equal results.
 */
import { inSlices, type Steps } from "../../../base/in-slices.ts"
import { anOption, checkOptions, InvalidOptionError, type OptionRules, oneOf } from "../../../base/options.ts"
import { renderAttachment } from "../../../messages/attachments.ts"
import { textOf } from "../../../messages/blocks.ts"
import { isSentToModel, type Message, type Uuid } from "../../../messages/messages.ts"
import { sentBlocks } from "../../../messages/sent-blocks.ts"
import { createEstimator, type Estimator } from "../../../tokens/estimate.ts"
import { findModel } from "../../../tokens/models.ts"
import { type Cut, cutAll } from "../cut.ts"
import { type FactsLimits, factSteps } from "../restore/facts.ts"
import { asRead } from "../summarise/offline.ts"
import { continuationText, summaryPrompt } from "../summarise/prompts.ts"
import { readSummary } from "../summarise/summary-text.ts"
import { type CarryMessage, type Given, givenMessages } from "./given-messages.ts"
import { type CarriedRecord, ConversationRecord } from "./record.ts"

export interface CarryOptions {
  /** Tokens of the record, the person's newest messages included. Rules and changed files are always named. Default 6,000. */
  readonly budget?: number
  /** Tokens of the newest messages that stay as they are. Default 4,000. */
  readonly keep?: number
  /** What the person wants to be kept in mind. */
  readonly instructions?: string
  /** A summary that is written already, or a function that asks your model. Default: quotations from the conversation, without a model. */
  readonly summary?: string | ((request: CarrySummaryRequest) => Promise<string>)
  /** All messages before the given ones, where you still have them: the record covers them too. */
  readonly earlier?: readonly CarryMessage[]
  /** The `state` of the call before, where you do not. */
  readonly before?: CarriedState
  /** Whose tokens are counted. Default: a Claude model of today. */
  readonly model?: string
  /** Where the whole conversation can be read. The text names it. */
  readonly transcript?: string
  /** The tool that returns messages by handle, as your model knows it. The text names it. */
  readonly recall?: string
  /** How the model is to go on: with the work, with no one to ask, or as the person says next. Default "automatic". */
  readonly mode?: "automatic" | "autonomous" | "by-hand"
  readonly signal?: AbortSignal
}

/** Ask your model: these messages, then the prompt as a message of the user. */
export interface CarrySummaryRequest {
  readonly messages: readonly CarryMessage[]
  readonly prompt: string
}

/** Plain JSON to keep until the next call. It holds the person's words. */
export interface CarriedState {
  readonly version: 1
  readonly record: unknown
  /** The kept messages: they come back, and are recorded already. */
  readonly kept: readonly string[]
  readonly text: string
  readonly summary: string
}

/** What should stand in the next context. */
export interface Carried<M> {
  /** A message of the user with the text, then the kept messages as they were given. Where nothing can be summarised: all as given. */
  readonly messages: readonly (M | { readonly role: "user"; readonly content: string })[]
  readonly kept: readonly M[]
  /** Summary and record, with the words around them. Empty where nothing can be summarised. */
  readonly text: string
  readonly summary: string
  /** The part of the text that is computed, as it is sent. Empty where there is nothing to say. */
  readonly facts: string
  readonly record: CarriedRecord
  /** Estimates, without system prompt and tools. */
  readonly tokens: { readonly before: number; readonly after: number; readonly facts: number; readonly kept: number }
  readonly state: CarriedState
}

const BUDGET = 6_000 // tokens of the record
const KEEP = 4_000 // tokens of the newest messages: they are used again soonest
const UNREAD = 20_000 // tokens of results that the model has not read yet: they stay whole
const QUOTED_SUMMARY = 2_000 // tokens of a summary without a model: the record says the rest
const MODEL = "claude-opus-4-6"

const OPTIONS: OptionRules<CarryOptions> = {
  budget: anOption.number,
  keep: anOption.number,
  instructions: anOption.text,
  summary: {
    is: "a text or a function",
    fits: (value) => typeof value === "string" || typeof value === "function",
  },
  earlier: anOption.list,
  before: {
    is: "the state of an earlier call",
    fits: (value) => Object(value).version === 1 && typeof Object(value).record === "object",
  },
  model: anOption.filledText,
  transcript: anOption.text,
  recall: anOption.filledText,
  mode: oneOf("automatic", "autonomous", "by-hand"),
  signal: { is: "an AbortSignal", fits: (value) => value instanceof AbortSignal },
}

export async function carry<M extends CarryMessage>(
  messages: readonly M[],
  options: CarryOptions = {},
): Promise<Carried<M>> {
  checkOptions("carry", options, OPTIONS)
  if (!Array.isArray(messages)) throw new InvalidOptionError("messages", "carry() takes a list of messages first.")
  const { before, signal } = options
  const given = givenMessages(messages, before)
  const estimator = createEstimator(findModel(options.model ?? MODEL).facts.family)
  const tokensOf = sizes(estimator)
  const record = await inSlices(recordSteps(given, options), { signal })
  const all = given.map(({ message }) => message).filter(isSentToModel)
  const budget = { budget: options.keep ?? KEEP, tokensOf }
  const cut = cutAll({ messages: all, tokensOf, newest: budget, figures: { least: 0, most: UNREAD, messages: 0 } })
  const sum = (some: readonly Message[]) => Math.ceil(some.reduce((tokens, message) => tokens + tokensOf(message), 0))
  const held = new Set(cut.kept)
  const kept = given.filter(({ message }) => held.has(message))
  const tokens = { before: sum(all), kept: sum(cut.kept) }
  if (!cut.summarised.some(({ type }) => type === "assistant"))
    return {
      ...{ messages, kept: messages, text: "", summary: "", facts: "", record: record.data },
      tokens: { ...tokens, after: tokens.before, facts: 0, kept: tokens.before },
      state: stateOf(record, given, { text: before?.text ?? "", summary: before?.summary ?? "" }),
    }
  const estimate = (text: string) => estimator.text(text)
  const summary = await summaryOf({ cut, given, estimate }, options)
  const content = await inSlices(
    factsWithin(record, {
      budget: options.budget ?? BUDGET,
      estimate,
      kept: new Set(cut.kept.map(({ uuid }) => uuid)),
    }),
    { signal },
  )
  const facts = textOf(renderAttachment({ type: "carried_facts", content }))
  const text = textAround({ summary, facts, cut }, options)
  const first = { role: "user", content: text } as const
  return {
    ...{ messages: [first, ...kept.map(({ from }) => from)], kept: kept.map(({ from }) => from) },
    ...{ text, summary, facts, record: record.data },
    tokens: { ...tokens, after: Math.ceil(estimate(text)) + tokens.kept, facts: Math.ceil(estimate(facts)) },
    state: stateOf(record, kept, { text, summary }),
  }
}

/** What was recorded before is not recorded twice: `before` has the kept messages, and all before them. */
function* recordSteps(
  given: readonly Given<CarryMessage>[],
  { earlier = [], before }: CarryOptions,
): Steps<ConversationRecord> {
  const record = new ConversationRecord(before?.record)
  const old = before ? [] : givenMessages(earlier)
  const known = before ? recordedUntil(given, before.kept) : 0
  for (const { message } of [...old, ...given.slice(known)]) {
    record.add(message)
    yield
  }
  return record
}

/** The place after the kept messages, in the order in which they were kept. */
function recordedUntil(given: readonly Given<CarryMessage>[], kept: readonly string[]): number {
  if (kept.length === 0) return 0
  const at = given.findIndex((_, start) => kept.every((key, nth) => given[start + nth]?.key === key))
  return at < 0 ? 0 : at + kept.length
}

const stateOf = (
  record: ConversationRecord,
  kept: readonly Given<CarryMessage>[],
  said: Pick<CarriedState, "text" | "summary">,
): CarriedState => ({ version: 1, record: record.save(), kept: kept.map(({ key }) => key), ...said })

interface ToSummarise {
  readonly cut: Cut
  readonly given: readonly Given<CarryMessage>[]
  readonly estimate: (text: string) => number
}

async function summaryOf({ cut, given, estimate }: ToSummarise, options: CarryOptions): Promise<string> {
  const { summary, instructions = "", signal } = options
  if (typeof summary === "string") return summary.trim()
  if (typeof summary === "function") {
    const covered = new Set(cut.summarised)
    const messages = given.filter(({ message }) => covered.has(message)).map(({ from }) => from)
    const read = readSummary(
      await summary({ messages, prompt: summaryPrompt({ kind: "all", instructions: [instructions], record: true }) }),
    )
    if (read.kind === "summary") return read.text
  }
  const { summariseAbout } = await import("../../../model/offline/summary.ts") // a caller may have a summary of their own
  const messages = cut.summarised.map((message) => asRead(message, sentBlocks(message)))
  const budget = { tokens: QUOTED_SUMMARY, tokensOf: estimate }
  return `Summary:\n${await inSlices(summariseAbout(messages, instructions, budget), { signal })}`
}

interface Within {
  readonly budget: number
  readonly estimate: (text: string) => number
  readonly kept: ReadonlySet<Uuid>
}

const LEAST_WORDS = 0.15 // of the budget: the person's newest messages, whatever else there is
const SMALLER = 0.6 // of every list, each time the whole is over the budget
const MOST_TRIES = 4

/** The person's messages get the room that the other facts leave. Rules and changed files have no limit, so the lists make way for them. */
function* factsWithin(record: ConversationRecord, { budget, estimate, kept }: Within): Steps<string> {
  const render = (limits: FactsLimits) => factSteps(record.views, { estimate, kept, limits })
  let limits = limitsFor(budget)
  let facts = yield* render(limits)
  for (let tries = 0; tries < MOST_TRIES && estimate(facts) > budget; tries++) {
    limits = limitsFor(budget * SMALLER ** (tries + 1))
    facts = yield* render(limits)
  }
  const room = Math.floor(budget - estimate(facts))
  if (room <= 0) return facts
  const fuller = yield* render({ ...limits, words: limits.words + room })
  return estimate(fuller) <= budget ? fuller : facts
}

/** Names take most: of all lists, they are used again most (`npm run compaction-marks`). */
const limitsFor = (budget: number): FactsLimits => ({
  words: Math.floor(budget * LEAST_WORDS),
  names: Math.floor(budget * 0.35),
  results: Math.floor(budget * 0.12),
  plan: Math.floor(budget * 0.12),
  commands: Math.floor(budget * 0.06),
  reads: Math.floor(budget * 0.06),
})

interface Around {
  readonly summary: string
  readonly facts: string
  readonly cut: Cut
}

function textAround({ summary, facts, cut }: Around, { transcript, recall, mode = "automatic" }: CarryOptions): string {
  const continued = continuationText({
    summary,
    mode,
    transcriptPath: transcript,
    ...(recall === undefined
      ? {}
      : { recall, replaced: { first: cut.summarised[0]!.uuid, last: cut.summarised.at(-1)!.uuid } }),
    keptMessages: cut.kept.length > 0,
  })
  return facts === "" ? continued : `${continued}\n\n${facts}`
}

/** Of each message once. */
function sizes(estimator: Estimator): (message: Message) => number {
  const known = new Map<Message, number>()
  return (message) => {
    const found = known.get(message) ?? estimator.blocks(sentBlocks(message))
    known.set(message, found)
    return found
  }
}
