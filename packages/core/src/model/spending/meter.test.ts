/** Metering of repeated requests: the limit refuses a repetition, or the user interrupts before it is sent. */
import { expect, test } from "vitest"
import { randomIds, systemClock } from "../../base/clock.ts"
import type { DecisionDraft } from "../../journal/entries.ts"
import { findModel } from "../../tokens/models.ts"
import { ModelAbortedError, OverloadedError } from "../errors.ts"
import type { Model, ModelEvent } from "../model.ts"
import { withRetries } from "../stream.ts"
import { CostBudget, CostLimitError } from "./budget.ts"
import { Meter, meteredModel } from "./meter.ts"

const MODEL = "claude-opus-4-6"
const REQUEST = {
  model: MODEL,
  max_tokens: 1_000,
  messages: [{ role: "user" as const, content: "A word about many things. ".repeat(2_000) }],
}
const failure = () => new OverloadedError({ provider: "test" })

function counted() {
  const [budget, drafts] = [new CostBudget(), [] as DecisionDraft[]]
  const meter = new Meter({ budget, clock: systemClock, ids: randomIds, source: "main" })
  meter.use({ record: { append: async (given) => drafts.push(...given), journal: {} }, models: {} })
  return { budget, meter, drafts }
}

test("LOOP-6 a repetition that the limit refuses ends its request once: later ones still wait for each other", async () => {
  const { budget, meter } = counted()
  budget.limit = 1
  const sent = (await meter.send(REQUEST, { model: { name: "m", provider: "test" } }))!
  sent.started({ id: "msg_1", model: MODEL, usage: { input_tokens: 400_000, output_tokens: 1 } })
  sent.failed(failure())
  const refused = await sent.retried().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(CostLimitError)
  sent.failed(refused)
  await sent.end()

  const wanted = { estimate: 1, min: 0, isWork: true, provider: "test" }
  budget.limit = budget.spent + 1.5
  await budget.reserve(wanted)
  let isSecondSent = false
  const second = budget.reserve(wanted).then(() => {
    isSecondSent = true
  })
  await Promise.resolve().then(() => undefined)
  expect(isSecondSent).toBe(false)
  budget.settle({ reserved: 1, spent: 0.1 })
  await second
})

test("LOOP-6 a repetition that was never sent costs nothing: the person left during the pause before it", async () => {
  const { budget, meter, drafts } = counted()
  const stop = new AbortController()
  let attempts = 0
  const model: Model = {
    ...{ name: MODEL, provider: "test", facts: findModel(MODEL).facts },
    stream: (_, options) =>
      withRetries({
        ...{ provider: "test", signal: stop.signal, attempts: options?.attempts },
        delay: async () => stop.abort(),
        // biome-ignore lint/correctness/useYield: it fails before it says anything
        async *attempt(): AsyncGenerator<ModelEvent> {
          attempts++
          throw failure()
        },
      }),
  }
  const reading = async () => {
    const events: ModelEvent[] = []
    for await (const event of meteredModel(model, meter).stream(REQUEST, { signal: stop.signal })) events.push(event)
  }
  await expect(reading()).rejects.toBeInstanceOf(ModelAbortedError)
  expect({ attempts, spent: budget.spent, drafts }).toEqual({ attempts: 1, spent: 0, drafts: [] })
})

test("LOOP-6 an answer that does not say what it cost counts as estimated", async () => {
  const { budget, meter, drafts } = counted()
  const sent = (await meter.send(REQUEST, { model: { name: "m", provider: "test" } }))!
  sent.answered({ id: "msg_1", model: MODEL, usage: { input_tokens: Number.NaN, output_tokens: 1 } })
  await sent.end()
  expect(budget.spent).toBeGreaterThan(0.05)
  expect(drafts).toMatchObject([{ subtype: "spent", estimated: true }])
})
