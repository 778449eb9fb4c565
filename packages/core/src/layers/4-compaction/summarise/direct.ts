/**
 * A summary by a direct call (L4-13, L4-25): the way that works when the conversation's cache cannot be shared. A range that fits the
 * summariser's window takes one call; a larger one is summarised in chunks whose summaries are joined. Changes nothing but the bill.
 */
import { reasonOf } from "../../../base/errors.ts"
import type { FailureReason } from "../../../base/telemetry.ts"
import type { Message } from "../../../messages/messages.ts"
import type { Model, ModelResponse } from "../../../model/model.ts"
import type { Estimator } from "../../../tokens/estimate.ts"
import { OUTPUT_RESERVE } from "../../../tokens/window.ts"
import { type Asked, ask, type Caller, namedTools, SMALL_WINDOW_OUTPUT } from "./ask.ts"
import { cutMiddle } from "./cut-middle.ts"
import { chunksOf, groupsOf, type Room } from "./fit.ts"
import { marked, partMarker } from "./markers.ts"
import {
  directSystemPrompt,
  mergePrompt,
  type SummaryKind,
  type SummaryPromptOptions,
  summaryPrompt,
} from "./prompts.ts"
import { conversationSubject, partsSubject } from "./subject.ts"
import { summaryInput } from "./summary-input.ts"

export interface DirectSummary {
  readonly model: Model
  /** Of the model. Default: what is known about it. */
  readonly window?: number
  /** What is to be summarised, and nothing else. An earlier summary among them takes part. */
  readonly messages: readonly Message[]
  readonly kind: SummaryKind
  /** The user's first, those of hooks after. */
  readonly instructions: readonly string[]
  readonly estimator: Estimator
  readonly signal: AbortSignal
  /** The most output tokens of one call. Default 20,000. */
  readonly maxOutput?: number
  /** Characters that have arrived so far, over all calls. Falls back where an answer turns out void. */
  readonly onProgress?: (characters: number) => void
}

/** `responses`: every answer that was paid for, also on the way to a failure. */
export type SummaryOutcome = { readonly responses: readonly ModelResponse[] } & (
  | {
      readonly kind: "summary"
      readonly text: string
      /** Rounds that are not in it because the provider found the request too long. */
      readonly dropped: number
      /** How many parts it was made from. */
      readonly parts: number
    }
  /** `message` is a clause that says why, to be put into a sentence. */
  | { readonly kind: "failed"; readonly why: FailureReason; readonly message: string }
)

const SURE_SHARE = 0.95 // of the room; the rest is for what the estimate does not see
const LEAST_ROOM = 400 // tokens; in a window that cannot hold even that, the provider has the last word
const INSTRUCTIONS_SHARE = 1 / 4 // of the window's tokens, in characters for all together: they may not crowd out the conversation
const WORDS_PER_TOKEN = 0.6 // code and paths take more tokens than prose

export async function summariseDirectly(options: DirectSummary): Promise<SummaryOutcome> {
  const { model, kind, estimator, signal, onProgress, maxOutput = OUTPUT_RESERVE } = options
  const window = options.window ?? model.facts.window
  const output = Math.max(1, Math.min(maxOutput, model.facts.maxOutput, Math.floor(window * SMALL_WINDOW_OUTPUT)))
  const responses: ModelResponse[] = []
  const progress = progressOf(onProgress)
  const caller: Caller = {
    model,
    estimator,
    output,
    signal,
    onText: progress.text,
    onResponse(response) {
      responses.push(response)
      progress.answered()
    },
  }
  const share = (window * INSTRUCTIONS_SHARE) / options.instructions.length
  const instructions = options.instructions.map((each) => cutMiddle(each, share))
  const words = output < OUTPUT_RESERVE ? Math.floor(output * WORDS_PER_TOKEN) : undefined
  const wanted = { kind, instructions, words }
  const room = roomIn({ window, output, estimator, messages: options.messages, prompt: summaryPrompt(wanted) })
  const asked = await summarise(caller, { wanted, room, messages: options.messages }).catch(broken)
  return { ...asked, responses }
}

/** Whatever breaks, the answers until then are paid for and handed back. */
const broken = (error: unknown): Summarised => ({ kind: "failed", why: "api_error", message: reasonOf(error) })

interface Work {
  readonly wanted: Pick<SummaryPromptOptions, "kind" | "instructions" | "words">
  readonly room: Room
}

type Summarised =
  | (Extract<Asked, { kind: "summary" }> & { readonly parts: number })
  | Extract<Asked, { kind: "failed" }>

async function summarise(caller: Caller, work: Work & { messages: readonly Message[] }): Promise<Summarised> {
  const { wanted, room, messages } = work
  const chunks = chunksOf(messages, room)
  const texts: string[] = []
  let dropped = 0
  for (const [at, chunk] of chunks.entries()) {
    const part = chunks.length > 1 ? { number: at + 1, of: chunks.length } : undefined
    const rounds = part && at > 0 ? marked(chunk, partMarker(part.number, part.of)) : chunk
    const prompt = summaryPrompt({ ...wanted, ...(part ? { part } : {}) })
    const asked = await ask(caller, { subject: conversationSubject(rounds, room), prompt })
    if (asked.kind === "failed") return asked
    texts.push(asked.text)
    dropped += asked.dropped
  }
  const merged = texts.length > 0 ? await merge(caller, work, texts) : nothingToSummarise()
  return merged.kind === "failed" ? merged : { ...merged, dropped, parts: chunks.length }
}

/** Joins neighbours, and what came of that, until one is left. Each time there are at most half as many, rounded up. */
async function merge(caller: Caller, work: Work, parts: readonly string[]): Promise<Asked> {
  const { wanted, room } = work
  const [only] = parts
  if (parts.length === 1) return { kind: "summary", text: only!, dropped: 0 }
  const sizes = parts.map((part) => room.estimator.text(part))
  const joined: string[] = []
  for (const group of groupsOf(sizes, room.budget)) {
    const texts = group.map((index) => parts[index]!)
    if (texts.length === 1) {
      joined.push(texts[0]!)
      continue
    }
    const prompt = mergePrompt({ ...wanted, parts: texts.length })
    const asked = await ask(caller, { subject: partsSubject(texts, room), prompt })
    if (asked.kind === "failed") return asked
    joined.push(asked.text)
  }
  return merge(caller, work, joined)
}

const nothingToSummarise = (): Asked => ({
  kind: "failed",
  why: "no_summary",
  message: "there is no message to summarise",
})

interface RoomInput {
  readonly window: number
  readonly output: number
  readonly estimator: Estimator
  readonly messages: readonly Message[]
  readonly prompt: string
}

/** What is left of the window for messages. */
function roomIn({ window, output, estimator, messages, prompt }: RoomInput): Room {
  const tools = JSON.stringify(namedTools(summaryInput(messages)))
  const fixed = estimator.text(directSystemPrompt()) + estimator.text(prompt) + estimator.text(tools)
  return { budget: Math.max(LEAST_ROOM, Math.floor((window - output - fixed) * SURE_SHARE)), estimator }
}

/** Counts what has arrived; an answer that was tried again counts once. */
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
