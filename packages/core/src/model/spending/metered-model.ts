/** A model whose requests are counted, and checked against the limit in dollars before they are sent. */
import type { ModelRequest } from "../../messages/request.ts"
import type { Model, StreamOptions, WarmOptions, WarmResponse } from "../model.ts"
import { modelAround } from "../model-around.ts"
import type { Meter } from "./meter.ts"

/** What each metered model passes its requests to. A sub-agent gets its lead's model, and its requests must not be counted twice. */
const unmetered = new WeakMap<Model, Model>()

/** The model without the meter of another conversation. */
export const withoutMeter = (model: Model): Model => unmetered.get(model) ?? model

export function meteredModel(given: Model, meter: Meter): Model {
  const model = withoutMeter(given)
  const metered = modelAround(model, {
    stream: (request, options) => streamed(model, { request, options, meter }),
    warm: (request, options) => warmed(model, { request, options, meter }),
    again: (sibling) => meteredModel(sibling, meter),
  })
  unmetered.set(metered, model)
  return metered
}

interface Sending<T> {
  readonly request: ModelRequest
  readonly options: T | undefined
  readonly meter: Meter
}

async function* streamed(
  model: Model,
  { request, options, meter }: Sending<StreamOptions>,
): ReturnType<Model["stream"]> {
  const sent = await meter.send(request, { model, options })
  if (!sent) return yield* model.stream(request, options)
  try {
    for await (const event of model.stream(request, { ...options, attempts: sent })) {
      if (event.type === "response") sent.answered(event.response)
      else if (event.type === "retry") await sent.retried()
      else sent.streamed(event.text.length)
      yield event
    }
  } catch (error) {
    sent.failed(error)
    throw error
  } finally {
    await sent.end()
  }
}

async function warmed(
  model: Model,
  { request, options, meter }: Sending<WarmOptions>,
): Promise<WarmResponse | undefined> {
  const asked = { ...request, max_tokens: 0 }
  const sent = await meter.send(asked, { model, options: { ...options, purpose: "keep-warm" } })
  try {
    const response = await model.warm?.(request, options)
    if (response) sent?.answered(response)
    else sent?.notSent()
    return response
  } catch (error) {
    sent?.failed(error)
    throw error
  } finally {
    await sent?.end()
  }
}
