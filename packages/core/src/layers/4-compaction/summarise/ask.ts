/**
 * Step 3, summarize. Obtains one summary of one subject: sends the request, reads the answer, and retries if that can help. Retries with a
 * smaller subject if the request was too long, and with the same subject if the answer was empty, cut or an error. Returns every answer
 * that was billed.
 */

import type { RequestSource } from "../../../base/enums.ts"
import type { CompactionFailureReason } from "../../../base/telemetry.ts"
import { type Block, isToolUse, textOf } from "../../../messages/blocks.ts"
import type { FlatMessage } from "../../../messages/flatten.ts"
import type { ModelRequest, ToolDefinition } from "../../../messages/request.ts"
import { validateRequest } from "../../../messages/validate/validator.ts"
import {
  ConnectionLostError,
  ModelAbortedError,
  ModelError,
  PromptTooLongError,
  TransientModelError,
} from "../../../model/errors.ts"
import type { Model, ModelResponse, StreamLimits } from "../../../model/model.ts"
import type { Estimator } from "../../../tokens/estimate.ts"
import { requestModelName } from "../../../tokens/models.ts"
import { sizeOf } from "./fit.ts"
import { CUT_MESSAGE, directSystemPrompt, isCutShort, noRoomNote, type ReadSummary, readSummary } from "./prompts.ts"
import type { SummarySubject } from "./shared.ts"

/** Share of a small window for output: about what the thresholds leave there. */
export const SMALL_WINDOW_OUTPUT = 3 / 8
const SURE_FACTOR = 1.05 // an estimate that is right overall may be off for the rounds that are dropped

export interface SummaryRequester {
  readonly model: Model
  readonly estimator: Estimator
  /** `max_tokens` of each request. */
  readonly output: number
  /** Maximum number of retries after an answer without a summary. */
  readonly retries: number
  /** Maximum number of times a request that is too long is made smaller. */
  readonly shrinkings: number
  readonly signal: AbortSignal
  /** Purpose of the requests. */
  readonly purpose: RequestSource
  readonly limits?: StreamLimits | undefined
  /** Text as it is streamed; `undefined`: this answer is discarded. */
  readonly onText: (text: string | undefined) => void
  readonly onResponse: (response: ModelResponse) => void
}

interface SummaryQuestion {
  readonly subject: SummarySubject
  readonly prompt: string
}

export type SummaryResponse =
  | { readonly kind: "summary"; readonly text: string; readonly dropped: number }
  /** `message` is a clause with the reason, to be embedded in a sentence. */
  | { readonly kind: "failed"; readonly reason: CompactionFailureReason; readonly message: string }

const NO_SUMMARY: Readonly<Record<Extract<ReadSummary, { kind: "none" }>["reason"], string>> = {
  empty: "the model answered with nothing",
  cut: "the model's answer ended before the summary began",
  "api-error": "the answer was an error message",
}

export async function requestSummary(
  caller: SummaryRequester,
  { subject, prompt }: SummaryQuestion,
): Promise<SummaryResponse> {
  let now = subject
  let asking = prompt
  let retries = 0
  let shrinkings = 0
  for (;;) {
    const sent = withPrompt(now.messages, asking)
    const answer = await attempt(caller, sent)
    switch (answer.kind) {
      case "summary":
        return { ...answer, dropped: now.dropped }
      case "failed":
        return answer
      case "too-long": {
        const smaller =
          shrinkings++ < caller.shrinkings
            ? now.smaller(missingRoom(answer.excess, sizeOf(sent, caller.estimator), caller))
            : undefined
        if (!smaller) return { kind: "failed", reason: "prompt_too_long", message: answer.message }
        now = smaller
        break
      }
      case "again":
        if (retries++ >= caller.retries) return { kind: "failed", reason: answer.reason, message: answer.message }
        if (answer.cut) asking = `${prompt}\n\n${noRoomNote()}`
    }
  }
}

type AttemptResult =
  | { readonly kind: "summary"; readonly text: string }
  | Extract<SummaryResponse, { kind: "failed" }>
  | { readonly kind: "too-long"; readonly excess: TokenExcess; readonly message: string }
  | {
      readonly kind: "again"
      readonly reason: CompactionFailureReason
      readonly message: string
      readonly cut?: boolean
    }

async function attempt(caller: SummaryRequester, messages: readonly FlatMessage[]): Promise<AttemptResult> {
  const { model } = caller
  const request = requestFor(caller, messages)
  const violations = validateRequest({ request, model: model.facts })
  if (violations.length > 0) {
    const message = violations.map(({ rule, path }) => `${rule} at ${path}`).join(", ")
    return { kind: "failed", reason: "api_error", message: `the request would be refused (${message})` }
  }
  try {
    return await readResponse(caller, request)
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const message = clauseOf(error)
    if (error instanceof ModelAbortedError) return { kind: "failed", reason: "aborted", message }
    if (error instanceof PromptTooLongError) return { kind: "too-long", excess: error, message }
    // a model that retries on its own has done so already; one that does not gets another attempt here
    const isOurs = error instanceof ConnectionLostError && error.attempts <= 1 && !error.forbidsRetry
    return { kind: isOurs ? "again" : "failed", reason: "api_error", message }
  }
}

async function readResponse(
  { model, signal, purpose, limits, onText, onResponse }: SummaryRequester,
  request: ModelRequest,
): Promise<AttemptResult> {
  // the server never sees these bytes again: a cache entry would cost more than it saves
  let response: ModelResponse | undefined
  onText(undefined)
  const sending = {
    signal,
    purpose,
    writesCache: false,
    sharedMessages: 0,
    ...(limits ? { limits } : {}),
  }
  for await (const event of model.stream(request, sending)) {
    if (event.type === "text") onText(event.text)
    else if (event.type === "retry") onText(undefined)
    else if (event.type === "response") response = event.response
  }
  if (!response) {
    if (signal.aborted) throw new ModelAbortedError(model.provider)
    return { kind: "again", reason: "api_error", message: "the answer ended early" }
  }
  onResponse(response)
  if (response.stop_reason === "refusal") {
    return { kind: "again", reason: "no_summary", message: "the model refused to write one" }
  }
  const summary = readSummary(textOf(response.content as readonly Block[]))
  const isError = summary.kind === "none" && summary.reason === "api-error"
  if (!isError && isCutShort(response.stop_reason)) {
    // a full window leaves more room for the answer only if the request gets smaller
    return response.stop_reason === "model_context_window_exceeded"
      ? { kind: "too-long", excess: {}, message: CUT_MESSAGE }
      : { kind: "again", reason: "no_summary", message: CUT_MESSAGE, cut: true }
  }
  if (summary.kind === "summary") return summary
  const message = NO_SUMMARY[summary.reason]
  if (summary.reason !== "api-error")
    return { kind: "again", reason: "no_summary", message, cut: summary.reason === "cut" }
  if (!summary.tooLong) return { kind: "again", reason: "api_error", message }
  return { kind: "too-long", excess: summary.tooLong, message: "it was refused as too long" }
}

/** By how much a request was too long, if the provider reported it. */
interface TokenExcess {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
  readonly gap?: number | undefined
}

/**
 * Tokens to drop, in Strata's own estimate, because rounds are measured in it and the provider may count differently. For a model whose
 * input may fill the complete window, this includes room for the answer.
 */
function missingRoom(
  { tokens, limit, gap }: TokenExcess,
  estimated: number,
  { model, output }: SummaryRequester,
): number | undefined {
  const counted = gap ?? (tokens !== undefined && limit !== undefined ? tokens - limit : undefined)
  if (counted === undefined || !tokens) return counted
  const answer = model.facts.accepts.overflowingOutput ? Math.min(output, (tokens - counted) * SMALL_WINDOW_OUTPUT) : 0
  return ((counted + answer) / tokens) * estimated * SURE_FACTOR
}

function clauseOf(error: ModelError): string {
  const { provider, providerMessage } = error
  if (error instanceof ModelAbortedError) return "it was stopped"
  if (error instanceof PromptTooLongError) return `the request for a summary is too long for ${provider}`
  if (error instanceof TransientModelError) return `${provider} did not answer (${error.reason})`
  return `${provider} refused the request${providerMessage ? ` ("${providerMessage}")` : ""}`
}

function requestFor({ model, output }: SummaryRequester, messages: readonly FlatMessage[]): ModelRequest {
  const tools = namedTools(messages)
  return {
    model: requestModelName(model.name),
    max_tokens: output,
    system: directSystemPrompt(),
    ...(tools.length > 0 ? { tools, tool_choice: { type: "none" } } : {}),
    ...(model.facts.accepts.thinkingOff ? { thinking: { type: "disabled" } } : {}),
    messages: messages as ModelRequest["messages"],
  }
}

/** Tool definitions that only have names: some servers refuse calls in a conversation without tools, and the tools must not be used. */
export function namedTools(messages: readonly Pick<FlatMessage, "content">[]): ToolDefinition[] {
  const names = new Set(messages.flatMap(({ content }) => content.filter(isToolUse).map(({ name }) => name)))
  return [...names].map((name) => ({
    name,
    description: "Was used in the conversation; cannot be used now.",
    input_schema: { type: "object" },
  }))
}

/** Appends the prompt as the last user message. */
function withPrompt(messages: readonly FlatMessage[], prompt: string): readonly FlatMessage[] {
  const block: Block = { type: "text", text: prompt }
  const last = messages.at(-1)
  if (last?.role !== "user") return [...messages, { role: "user", content: [block] }]
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, block] }]
}
