/** Fixtures of the tests of models: a model for a simulator, delays that take no time, and the result of a stream. */

import type { Simulator } from "../../../../sim/src/start.ts"
import { KEY, MODEL } from "../../../../sim/test/simulator.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import { type AnthropicModelOptions, anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { Model, ModelEvent, ModelResponse, StreamOptions } from "../../../src/model/model.ts"

export const LONG_TEXT =
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"

export const ask = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: MODEL,
  max_tokens: 500,
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  ...more,
})

/** Delays that end at once and are recorded. */
export function noWaiting() {
  const waited: number[] = []
  return {
    waited,
    options: { random: () => 0, delay: async (ms: number) => void waited.push(ms) },
  }
}

export function modelAt({ url }: Simulator, options: Partial<AnthropicModelOptions> = {}) {
  return anthropicModel({ model: MODEL, apiKey: KEY, baseURL: url, ...noWaiting().options, ...options })
}

export interface Outcome {
  readonly events: readonly ModelEvent[]
  /** All text since the last attempt began. */
  readonly text: string
  readonly retries: readonly Extract<ModelEvent, { type: "retry" }>[]
  readonly response: ModelResponse | undefined
  readonly error: unknown
}

/** Reads a stream to its end or its error. */
export async function play(model: Model, request: ModelRequest = ask(), options: StreamOptions = {}): Promise<Outcome> {
  const events: ModelEvent[] = []
  let error: unknown
  try {
    for await (const event of model.stream(request, options)) events.push(event)
  } catch (thrown) {
    error = thrown
  }
  const lastRetry = events.findLastIndex(({ type }) => type === "retry")
  const final = events.slice(lastRetry + 1)
  return {
    events,
    text: final.map((event) => (event.type === "text" ? event.text : "")).join(""),
    retries: events.filter((event) => event.type === "retry"),
    response: events.find((event) => event.type === "response")?.response,
    error,
  }
}
