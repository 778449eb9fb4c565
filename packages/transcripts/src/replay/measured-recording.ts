/** A recording with the size of all its content. All policies replay it. */

import type { Entry, TokenCounts } from "@strata/core"
import { addCounts, divideCounts, NO_TOKENS, roundCounts, seededIds } from "@strata/core/base"
import { type FlatMessage, MEDIA_LIMITS, planWithholding, toBlocks } from "@strata/core/messages"
import { continuationText } from "@strata/core/policy"
import { type DecisionDraft, isDecision } from "@strata/core/store"
import { findModel, type ModelOverride, tokenCounts } from "@strata/core/tokens"
import { type ContextView, Views } from "@strata/core/views"
import { BlockSizes, isCompleteOutput, SizeCalibration } from "./block-sizes.ts"
import { type ClientCache, clientCacheOf } from "./client-cache.ts"
import { withoutForgottenThinking } from "./forgotten-thinking.ts"
import {
  type RecordedConversation,
  type RecordedRequest,
  type RecordedStep,
  type RecordedSteps,
  type ReplayOptions,
  recordedSteps,
} from "./recorded-steps.ts"

// Size of the summaries in a Strata journal. Its replay compacts with summaries of that size, for every policy. Other recordings use a
// fixed budget: the summaries of other programs do not predict Strata's.

export interface RecordedSummaries {
  /** Budget with which the extractive summarizer writes summaries of the average recorded length. */
  readonly budget: number
  /** Average output tokens of the model per summary. Some of them may not be part of the summary. */
  readonly output: number
  /** Average cost of further attempts per compaction: a summary that fails its checks is requested again. */
  readonly again: TokenCounts
}

/** `undefined` if the recording has no Strata summaries that a model wrote. */
export function summariesIn(steps: readonly RecordedStep[], sizes: BlockSizes): RecordedSummaries | undefined {
  const entries = steps.flatMap((step) => (step.kind === "entry" ? step.entry : []))
  const shown = entries.flatMap((entry) => shownIn(entry, sizes))
  const attempts = attemptsIn(entries)
  const firsts = attempts.flatMap(([first]) => first ?? [])
  if (shown.length === 0 || firsts.length === 0) return undefined
  const again = attempts.flatMap(([, ...others]) => others).reduce(addCounts, NO_TOKENS)
  return {
    budget: Math.round(mean(shown) / FILLED),
    output: Math.round(mean(firsts.map(({ output }) => output))),
    again: roundCounts(divideCounts(again, attempts.length)),
  }
}

function shownIn(entry: Entry, sizes: BlockSizes): readonly number[] {
  if (entry.type !== "user" || !entry.isCompactSummary) return []
  const tokens = toBlocks(entry.message.content).reduce((sum, block) => sum + sizes.of(block), 0)
  return [Math.max(0, tokens - sizes.estimate({ type: "text", text: AROUND }))]
}

/** For each compaction, the requests that were paid for it. */
function attemptsIn(entries: readonly Entry[]): readonly (readonly TokenCounts[])[] {
  const attempts: TokenCounts[][] = []
  let paid: TokenCounts[] = []
  for (const entry of entries.filter(isDecision)) {
    if (entry.subtype === "spent" && entry.purpose === "compaction" && !entry.unrecorded)
      paid.push(tokenCounts(entry.usage))
    if (entry.subtype !== "compacted") continue
    attempts.push(paid)
    paid = []
  }
  return attempts
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const FILLED = 0.9 // of its budget, because the summarizer omits quotations that do not fit completely
const AROUND = continuationText({ summary: "", mode: "automatic", keptMessages: true })

export interface MeasuredRecording extends RecordedSteps {
  readonly model: string
  readonly models: Readonly<Record<string, ModelOverride>>
  readonly sizes: BlockSizes
  /** Tokens of system prompt and tools, by request. */
  readonly prompts: readonly number[]
  /** `counted`: requests have their recorded sizes. `estimated`: no sizes were recorded, and the prompt is omitted. */
  readonly source: "counted" | "estimated"
  /** How the recorded client used the cache. */
  readonly client: ClientCache
  /** Set for Strata journals. */
  readonly summaries?: RecordedSummaries | undefined
}

export function measureRecording(
  conversation: RecordedConversation,
  { models = {} }: ReplayOptions = {},
): MeasuredRecording {
  const recorded = recordedSteps(conversation)
  const model = recorded.requests.at(-1)?.model ?? conversation.model ?? "unknown"
  const contexts = [...recordedContexts(recorded, { model, models })]
  const { family } = findModel(model, models).facts
  const { usualScale } = sizesIn(contexts, new BlockSizes(family))
  const { sizes, prompts } = sizesIn(contexts, new BlockSizes(family, usualScale))
  const isCounted = recorded.requests.some(({ counted }) => counted)
  const client = clientCacheOf(recorded.requests, prompts)
  const source = isCounted ? "counted" : "estimated"
  const summaries = isCounted ? summariesIn(recorded.steps, sizes) : undefined
  return { ...recorded, model, models, sizes, prompts, source, client, summaries }
}

function sizesIn(contexts: readonly RecordedContext[], sizes: BlockSizes) {
  const lessons = new SizeCalibration(sizes)
  const prompts: number[] = []
  let lastOutput: number | undefined
  for (const { request, messages, isFirst } of contexts) {
    const { counted } = request
    const take = (input: number) => lessons.take({ messages, input, lastOutput, opensContext: isFirst })
    prompts.push(counted ? take(counted.input) : (prompts.at(-1) ?? 0))
    lastOutput = counted?.output
  }
  return { sizes, prompts, usualScale: lessons.usualScale }
}

/** A recorded request with the messages that it sent. */
export interface RecordedContext {
  readonly request: RecordedRequest
  readonly messages: readonly FlatMessage[]
  /** The entries since the previous request. */
  readonly since: readonly Entry[]
  /** Whether it is the first request, or the first after a compaction. */
  readonly isFirst: boolean
}

/** Reconstructs the recorded requests one by one, with the recording's own compactions and clearings. */
export function* recordedContexts(
  { steps }: RecordedSteps,
  { model, models }: Pick<MeasuredRecording, "model" | "models">,
): Generator<RecordedContext> {
  const views = new Views({ family: findModel(model, models).facts.family, models })
  const ids = seededIds("measure")
  let since: Entry[] = []
  let isFirst = true
  for (const step of steps) {
    if (step.kind !== "request") {
      views.apply(withoutUsage(step.entry))
      since.push(step.entry)
      isFirst ||= step.entry.type === "system" && step.entry.subtype === "compact_boundary"
      continue
    }
    const { at } = step.request
    for (const draft of neededForValidity(views.context))
      views.apply(placedDecision(draft, { uuid: ids.uuid(), views, at }))
    const { facts } = findModel(step.request.model, models)
    const messages = withoutForgottenThinking(views.context.messages().messages, facts)
    yield { request: step.request, messages, since, isFirst }
    since = []
    isFirst = false
  }
}

/** The decisions that make a request valid, as a conversation makes them before it sends one. */
export function neededForValidity(context: ContextView): readonly DecisionDraft[] {
  const { media, withheldAddresses } = context
  const blocks = media.length === 0 ? [] : planWithholding(media, withheldAddresses, MEDIA_LIMITS)
  const repairs = context.unrecordedRepairs()
  return [
    ...(blocks.length > 0 ? [{ type: "strata" as const, subtype: "media-withheld" as const, blocks }] : []),
    ...(repairs.length > 0 ? [{ type: "strata" as const, subtype: "repaired" as const, repairs }] : []),
  ]
}

/** Output tokens of a response: as recorded, or estimated if nothing or only the start was counted. */
export function outputOf(recording: MeasuredRecording, { number, counted }: RecordedRequest): number {
  const estimated = estimatedOutputs(recording)[number] ?? 0
  return counted && isCompleteOutput(counted.output, estimated) ? counted.output : Math.round(estimated)
}

const outputs = new WeakMap<MeasuredRecording, readonly number[]>()

/** Entries are indexed by request number. */
function estimatedOutputs(recording: MeasuredRecording): readonly number[] {
  const known = outputs.get(recording)
  if (known) return known
  const found: number[] = recording.requests.map(() => 0)
  for (const step of recording.steps)
    if (step.kind === "entry" && step.response !== undefined && step.entry.type === "assistant")
      for (const block of toBlocks(step.entry.message.content)) found[step.response]! += recording.sizes.estimate(block)
  outputs.set(recording, found)
  return found
}

interface Place {
  readonly uuid: string
  readonly views: Views
  readonly at: Date
}

function placedDecision(draft: DecisionDraft, { uuid, views, at }: Place): Entry {
  return {
    ...draft,
    uuid,
    parentUuid: views.context.newest?.uuid ?? null,
    timestamp: at.toISOString(),
  }
}

function withoutUsage(entry: Entry): Entry {
  if (entry.type !== "assistant") return entry
  const { usage: _, ...message } = entry.message
  return { ...entry, message }
}
