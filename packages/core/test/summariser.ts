/**
 * A model for compactions in tests, in the same process. It answers every request with a short summary, or fails as models and networks do,
 * in a given order.
 */

import type { ModelRequest } from "../src/messages/request.ts"
import { ConnectionLostError, PromptTooLongError } from "../src/model/errors.ts"
import type { Model, ModelResponse } from "../src/model/model.ts"
import { findModel } from "../src/tokens/models.ts"

export const SUMMARY_FAULTS = [
  "refusal",
  "empty",
  "error-text",
  "connection-lost",
  "stream-without-end",
  "too-long",
  "too-long-by-tokens",
  "as-long-as-the-conversation",
  "nearly-as-long",
  "tool-call",
] as const
export type SummaryFault = (typeof SUMMARY_FAULTS)[number]

export const SUMMARISER = "claude-opus-4-6"
const PROVIDER = { provider: "test" }

export interface SummariserOptions {
  readonly window?: number
  /** Faults of the first, second, … request. Undefined entries and all later requests get an answer. */
  readonly faults?: readonly (SummaryFault | undefined)[]
  readonly summary?: (nth: number, request: ModelRequest) => string
  /** Called before each answer. */
  readonly onAsked?: (request: ModelRequest) => void
}

export interface Summariser extends Model {
  /** The number of requests. */
  readonly asked: () => number
}

export function summariser(options: SummariserOptions = {}): Summariser {
  const { window, faults = [], summary = workOf, onAsked } = options
  const { facts } = findModel(SUMMARISER, window === undefined ? {} : { [SUMMARISER]: { window } })
  let asked = 0
  return {
    name: SUMMARISER,
    provider: "test",
    facts,
    asked: () => asked,
    async *stream(request) {
      const nth = asked++
      onAsked?.(request)
      const fault = faults[nth]
      if (fault === "too-long") throw new PromptTooLongError({}, PROVIDER)
      if (fault === "too-long-by-tokens") throw new PromptTooLongError({ gap: 1_000 }, PROVIDER)
      const text = fault === undefined ? summaryIn(summary(nth, request)) : textFor(fault, request)
      if (text !== "") yield { type: "text", text }
      if (fault === "connection-lost") throw new ConnectionLostError(PROVIDER)
      if (fault === "stream-without-end") return
      yield { type: "response", response: responseWith(text, { fault, nth }) }
    },
  }
}

/** A short summary with words from the beginning and the middle of the conversation. */
function workOf(nth: number, { messages }: ModelRequest): string {
  const words = JSON.stringify(messages.map(({ content }) => content)).match(/\p{L}{3,}/gu) ?? []
  const middle = Math.floor(words.length / 2)
  return `The work went on, part ${nth}. About: ${[...words.slice(0, 40), ...words.slice(middle, middle + 40)].join(" ")}.`
}

/** Short enough to be accepted, and too long to leave space to work. */
const beginningOf = (text: string) => text.slice(0, Math.floor(text.length * 0.8))

const summaryIn = (text: string) =>
  `<analysis>\nLooked at everything.\n</analysis>\n\n<summary>\n1. Primary Request and Intent:\n${text}\n</summary>`

function textFor(fault: SummaryFault, request: ModelRequest): string {
  switch (fault) {
    case "error-text":
      return 'API Error: 500 {"type":"error"}'
    case "as-long-as-the-conversation":
      return summaryIn(JSON.stringify(request.messages))
    case "nearly-as-long":
      return summaryIn(beginningOf(JSON.stringify(request.messages)))
    case "refusal":
    case "empty":
      return ""
    default:
      return "<analysis>\nIt beg"
  }
}

function responseWith(
  text: string,
  { fault, nth }: { readonly fault: SummaryFault | undefined; readonly nth: number },
): ModelResponse {
  const call = { type: "tool_use", id: `toolu_summary_${nth}`, name: "Read", input: { file_path: "a" } }
  return {
    id: `msg_summary_${nth}`,
    model: SUMMARISER,
    content: fault === "tool-call" ? [call] : text === "" ? [] : [{ type: "text", text }],
    stop_reason: fault === "refusal" ? "refusal" : fault === "tool-call" ? "tool_use" : "end_turn",
    usage: { input_tokens: 100, output_tokens: 20 },
  }
}
