/** A model whose requests show up in telemetry: one span for each, from sending it to the whole answer or the failure. */
import type { RequestTrace, Telemetry } from "../base/telemetry.ts"
import type { RequestSource } from "../base/vocabulary.ts"
import type { ModelRequest } from "../messages/request.ts"
import { tokenCounts } from "../tokens/price.ts"
import type { Model, StreamOptions, WarmResponse } from "./model.ts"
import { modelAround } from "./model-around.ts"

export interface Tracing {
  readonly telemetry: Telemetry
  /** The conversation that the requests belong to. */
  readonly conversation: () => string
  /** The id of its present context. */
  readonly context: () => string | undefined
  /** What requests are for that do not say it themselves. Default: `main`. */
  readonly source?: RequestSource | undefined
}

/** What each traced model passes its requests to. A sub-agent gets its lead's model, and its requests must not be counted twice. */
const untraced = new WeakMap<Model, Model>()

export function tracedModel(given: Model, tracing: Tracing): Model {
  const model = untraced.get(given) ?? given
  const traced = modelAround(model, {
    stream: (request, options) => streamed(model, { request, options, tracing }),
    warm: (request, options) => warmed(model, { request, options, tracing }),
    again: (sibling) => tracedModel(sibling, tracing),
  })
  untraced.set(traced, model)
  return traced
}

interface Sending {
  readonly request: ModelRequest
  readonly options: StreamOptions | undefined
  readonly tracing: Tracing
}

function begun(model: Model, { request, options, tracing }: Sending): RequestTrace {
  return tracing.telemetry.request({
    conversation: tracing.conversation(),
    model: model.name,
    provider: model.provider,
    maxTokens: request.max_tokens,
    purpose: options?.purpose ?? tracing.source ?? "main",
    context: tracing.context(),
    input: () => request.messages,
  })
}

async function warmed(model: Model, { request, options, tracing }: Sending): Promise<WarmResponse | undefined> {
  const asked = { ...options, purpose: "keep-warm" as const }
  const trace = begun(model, { request: { ...request, max_tokens: 0 }, options: asked, tracing })
  try {
    const response = await model.warm?.(request, options)
    if (response) {
      const { id: responseId, model: responseModel, usage } = response
      trace.answered({ responseId, responseModel, counts: tokenCounts(usage), output: () => [] })
    }
    return response
  } catch (error) {
    trace.failed(error)
    throw error
  } finally {
    trace.left()
  }
}

async function* streamed(model: Model, sending: Sending): ReturnType<Model["stream"]> {
  const { request, options } = sending
  const trace = begun(model, sending)
  try {
    for await (const event of model.stream(request, options)) {
      if (event.type === "response") {
        const { id, model: responseModel, stop_reason, usage, content } = event.response
        trace.answered({
          responseId: id,
          responseModel,
          ...(stop_reason ? { stopReason: stop_reason } : {}),
          ...(usage ? { counts: tokenCounts(usage) } : {}),
          output: () => content,
        })
      }
      yield event
    }
  } catch (error) {
    trace.failed(error)
    throw error
  } finally {
    trace.left()
  }
}
