/** Step 3, summarize. A separate call writes the summary, from input that is reduced to what the summarizer can take. */

import type { RequestSource } from "../../../base/enums.ts"
import { errorReason } from "../../../base/errors.ts"
import type { CompactionFailureReason } from "../../../base/telemetry.ts"
import { runCooperatively } from "../../../base/work.ts"
import { type Message, sentBlocks } from "../../../messages/messages.ts"
import type { Model, ModelResponse, StreamLimits } from "../../../model/model.ts"
import { streamLimits } from "../../../model/stream.ts"
import { createEstimator, type Estimator } from "../../../tokens/estimate.ts"
import { OUTPUT_RESERVE } from "../../../tokens/window.ts"
import type { LayerContext } from "../../layer.ts"
import { purposeOf } from "../compaction-context.ts"
import { cutMiddle } from "../cut.ts"
import { namedTools, requestSummary, SMALL_WINDOW_OUTPUT, type SummaryRequester, type SummaryResponse } from "./ask.ts"
import { chunkSteps, groupsOf, type InputBudget, sizeOf, summaryInput, withOriginals } from "./fit.ts"
import {
  directSystemPrompt,
  mergePrompt,
  type SummaryKind,
  type SummaryPromptOptions,
  summaryPrompt,
} from "./prompts.ts"
import type { Route, RouteInput } from "./route.ts"
import { conversationSubject, partMarker, partsSubject, recordOptions, withMarker } from "./shared.ts"

const INPUT_SHARE = 0.5 // of the window: what can be sent in one call, with room for the answer

export function direct(model: Model): Route {
  return {
    name: "direct",
    cut: async ({ cut }) => cut,
    ownRequest(input) {
      const { context } = input
      const sizes = sizesFor(model, context)
      const messages = messagesOf(input, sizes.window)
      return {
        facts: model.name === context.model ? context.facts : model.facts,
        tokens: sizeOf(summaryInput(messages), sizes.estimator),
      }
    },
    async summarise(input) {
      const { context, order, cut, budgets, instructions, onProgress } = input
      const sizes = sizesFor(model, context)
      const outcome = await summariseDirectly({
        model,
        ...sizes,
        maxOutput: context.flags.figures["summary-output"],
        retries: context.flags.figures["summary-retries"],
        shrinkings: context.flags.figures["summary-shrinks"],
        dropShare: context.flags.figures["summary-drop"] / 100,
        messages: messagesOf(input, sizes.window),
        media: model.name === context.model,
        kind: cut.kind,
        ...recordOptions({ context, cut, budgets }),
        instructions,
        purpose: purposeOf(order.trigger),
        signal: context.signal,
        limits: streamLimits(context.flags),
        onProgress,
      })
      if (outcome.kind !== "summary") return outcome
      if (outcome.dropped > 0) {
        const rounds = outcome.dropped === 1 ? "oldest round is" : `${outcome.dropped} oldest rounds are`
        context.progress({
          phase: "message",
          message: `The ${rounds} too long for the summariser and are not in the summary.`,
        })
      }
      return { ...outcome, cut }
    },
  }
}

function messagesOf({ context, cut, cutInput }: RouteInput, window: number): readonly Message[] {
  // a summary that is followed by preserved messages covers them too: it says what is being done
  const messages = cut.shortens ? cutInput.messages : cut.summarised
  return withOriginals(messages, {
    context: context.views.context,
    room: window * INPUT_SHARE - messages.reduce((sum, each) => sum + cutInput.tokensOf(each), 0),
  })
}

/** A model other than the conversation's has its own window and tokenizer. */
function sizesFor(model: Model, { model: own, thresholds, thresholdsOf, views }: LayerContext) {
  if (model.name === own) return { window: thresholds.window, estimator: views.estimator }
  const window = Math.min(model.facts.window, thresholdsOf(model).window)
  return { window, estimator: createEstimator(model.facts.family) }
}

export interface DirectSummary {
  readonly model: Model
  /** The model's window in tokens. Default: from the model's facts. */
  readonly window?: number
  /** The messages to summarize. They may include an earlier summary. */
  readonly messages: readonly Message[]
  readonly kind: SummaryKind
  /** Instructions of the user, then those of hooks. */
  readonly instructions: readonly string[]
  /** Purpose of the requests. */
  readonly purpose: RequestSource
  /** Whether facts from the journal follow the summary. */
  readonly record?: boolean
  /** Target number of words. */
  readonly words?: number
  readonly estimator: Estimator
  /** Whether the model accepts images and documents in the form that the conversation has them. */
  readonly media?: boolean
  readonly signal: AbortSignal
  /** Time limits for an answer. Default: those of the model. */
  readonly limits?: StreamLimits
  /** Maximum output tokens of one call. Default 20,000. */
  readonly maxOutput?: number
  /** Maximum number of retries after an answer without a summary. Default 2. */
  readonly retries?: number
  /** Maximum number of times a request that is too long is made smaller. Default 3. */
  readonly shrinkings?: number
  /** Share of the rounds to drop if the error reports no number. Default 20%. */
  readonly dropShare?: number
  /** Number of characters received so far, over all calls. Decreases when an answer is discarded. */
  readonly onProgress?: (characters: number) => void
}

/** `responses`: every answer that was billed, even before a failure. */
export type SummaryOutcome = { readonly responses: readonly ModelResponse[] } & (
  | {
      readonly kind: "summary"
      readonly text: string
      /** Number of rounds that were dropped because the request was too long for the provider. */
      readonly dropped: number
      /** Number of parts that the summary was made from. */
      readonly parts: number
    }
  /** `message` is a clause with the reason, to be embedded in a sentence. */
  | { readonly kind: "failed"; readonly reason: CompactionFailureReason; readonly message: string }
)

const SURE_SHARE = 0.95 // of the room; the rest covers what the estimate misses
const MIN_ROOM = 400 // tokens; in a smaller window the provider decides
const INSTRUCTIONS_SHARE = 1 / 4 // of the window's tokens, as characters for all instructions: they must leave room for the conversation
export const WORDS_PER_TOKEN = 0.6 // code and paths take more tokens than prose

/**
 * Writes a summary with direct calls: the route that works if the conversation's cache cannot be shared. Messages that fit the summarizer's
 * window take one call. More messages are summarized in chunks, and the summaries are merged.
 */
export async function summariseDirectly(options: DirectSummary): Promise<SummaryOutcome> {
  const { model, kind, estimator, signal, onProgress, maxOutput = OUTPUT_RESERVE } = options
  const window = options.window ?? model.facts.window
  const output = Math.max(1, Math.min(maxOutput, model.facts.maxOutput, Math.floor(window * SMALL_WINDOW_OUTPUT)))
  const responses: ModelResponse[] = []
  const progress = progressOf(onProgress)
  const caller: SummaryRequester = {
    model,
    estimator,
    output,
    retries: options.retries ?? 2,
    shrinkings: options.shrinkings ?? 3,
    signal,
    purpose: options.purpose,
    limits: options.limits,
    onText: progress.text,
    onResponse(response) {
      responses.push(response)
      progress.answered()
    },
  }
  const share = (window * INSTRUCTIONS_SHARE) / options.instructions.length
  const instructions = options.instructions.map((each) => cutMiddle(each, share))
  const maxWords = output < OUTPUT_RESERVE ? Math.floor(output * WORDS_PER_TOKEN) : undefined
  const words = options.words === undefined ? maxWords : Math.min(options.words, maxWords ?? options.words)
  const promptOptions = { kind, instructions, words, record: options.record ?? false }
  const budget = inputBudget({
    window,
    output,
    estimator,
    messages: options.messages,
    prompt: summaryPrompt(promptOptions),
  })
  const room = { ...budget, dropShare: options.dropShare, media: options.media ?? false }
  const asked = await summarise(caller, { promptOptions, room, messages: options.messages }).catch(asFailure)
  return { ...asked, responses }
}

/** Converts an error to a failure. Answers before it were billed and are returned too. */
const asFailure = (error: unknown): DirectResult => ({
  kind: "failed",
  reason: "api_error",
  message: errorReason(error),
})

interface DirectSummaryTask {
  readonly promptOptions: Pick<SummaryPromptOptions, "kind" | "instructions" | "words" | "record">
  readonly room: InputBudget
}

type DirectResult =
  | (Extract<SummaryResponse, { kind: "summary" }> & { readonly parts: number })
  | Extract<SummaryResponse, { kind: "failed" }>

async function summarise(
  caller: SummaryRequester,
  work: DirectSummaryTask & { messages: readonly Message[] },
): Promise<DirectResult> {
  const { promptOptions, room, messages } = work
  const chunks = await runCooperatively(chunkSteps(messages, room))
  const texts: string[] = []
  let dropped = 0
  for (const [at, chunk] of chunks.entries()) {
    const part = chunks.length > 1 ? { number: at + 1, of: chunks.length } : undefined
    const rounds = part && at > 0 ? withMarker(chunk, partMarker(part.number, part.of)) : chunk
    const prompt = summaryPrompt({ ...promptOptions, ...(part ? { part } : {}) })
    const asked = await requestSummary(caller, { subject: conversationSubject(rounds, room), prompt })
    if (asked.kind === "failed") return asked
    texts.push(asked.text)
    dropped += asked.dropped
  }
  const merged = texts.length > 0 ? await merge(caller, work, texts) : nothingToSummarise()
  return merged.kind === "failed" ? merged : { ...merged, dropped, parts: chunks.length }
}

/** Merges neighboring summaries until one is left. Each pass leaves at most half as many, rounded up. */
async function merge(
  caller: SummaryRequester,
  work: DirectSummaryTask,
  parts: readonly string[],
): Promise<SummaryResponse> {
  const { promptOptions, room } = work
  const [only] = parts
  if (parts.length === 1) return { kind: "summary", text: only!, dropped: 0 }
  const sizes = parts.map((part) => room.estimator.text(part))
  const joined: string[] = []
  for (const group of groupsOf(sizes, room.tokens)) {
    const texts = group.map((index) => parts[index]!)
    if (texts.length === 1) {
      joined.push(texts[0]!)
      continue
    }
    const prompt = mergePrompt({ ...promptOptions, parts: texts.length })
    const asked = await requestSummary(caller, { subject: partsSubject(texts, room), prompt })
    if (asked.kind === "failed") return asked
    joined.push(asked.text)
  }
  return merge(caller, work, joined)
}

const nothingToSummarise = (): SummaryResponse => ({
  kind: "failed",
  reason: "no_summary",
  message: "there is no message to summarise",
})

interface InputBudgetInput {
  readonly window: number
  readonly output: number
  readonly estimator: Estimator
  readonly messages: readonly Message[]
  readonly prompt: string
}

/** The budget that the window leaves for messages. */
function inputBudget({ window, output, estimator, messages, prompt }: InputBudgetInput): InputBudget {
  const tools = JSON.stringify(namedTools(messages.map((message) => ({ content: sentBlocks(message) }))))
  const fixed = estimator.text(directSystemPrompt()) + estimator.text(prompt) + estimator.text(tools)
  return { tokens: Math.max(MIN_ROOM, Math.floor((window - output - fixed) * SURE_SHARE)), estimator }
}

/** Counts received characters. An answer that was retried counts once. */
function progressOf(onProgress: ((characters: number) => void) | undefined) {
  let before = 0
  let now = 0
  return {
    text(text: string | undefined) {
      now = text === undefined ? 0 : now + text.length
      onProgress?.(before + now)
    },
    answered() {
      before += now
      now = 0
    },
  }
}
