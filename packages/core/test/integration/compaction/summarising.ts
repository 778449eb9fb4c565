/** Fixtures of the summariser's tests: a responder that records its requests, a model that exposes its requests, conversations. */

import type { Answer, Responder, ResponderRequest } from "../../../../sim/src/responder.ts"
import { extractiveResponder } from "../../../../sim/src/responders/extractive.ts"
import type { Simulator, SimulatorOptions } from "../../../../sim/src/start.ts"
import { MODEL, simulator } from "../../../../sim/test/simulator.ts"
import {
  type DirectSummary,
  type SummaryOutcome,
  summariseDirectly,
} from "../../../src/layers/4-compaction/summarise/direct.ts"
import type { Message } from "../../../src/messages/messages.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import type { AnthropicModelOptions } from "../../../src/model/anthropic/anthropic.ts"
import type { Model } from "../../../src/model/model.ts"
import { createEstimator } from "../../../src/tokens/estimate.ts"
import { conversation } from "../../builders.ts"
import { modelAt } from "../model/model.ts"

/** A responder that records its requests. Entries of `answers` come first, then truthful answers. */
function listening(...answers: readonly (string | Answer)[]) {
  const truthful = extractiveResponder()
  const requests: ResponderRequest[] = []
  const responder: Responder = {
    name: "listening",
    answer(turn) {
      requests.push(turn.request)
      const scripted = answers[requests.length - 1]
      if (scripted === undefined) return truthful.answer(turn)
      return typeof scripted === "string" ? { content: [{ type: "text", text: scripted }] } : scripted
    },
  }
  return { responder, requests }
}

/** The window that the client assumes. The simulator has the same one unless the options override it. */
interface Setting {
  readonly window?: number
  readonly sim?: Partial<SimulatorOptions>
  readonly answers?: readonly (string | Answer)[]
  readonly model?: Partial<AnthropicModelOptions>
  readonly options?: Partial<DirectSummary>
}

export async function summarise(messages: readonly Message[], setting: Setting = {}) {
  const { responder, requests } = listening(...(setting.answers ?? []))
  const name = setting.model?.model ?? MODEL
  const models = setting.window === undefined ? {} : { [name]: { window: setting.window } }
  const sim: Simulator = await simulator({ responder, models, ...setting.sim })
  const real = modelAt(sim, { models, ...setting.model })
  const sent: ModelRequest[] = []
  const model: Model = {
    ...real,
    stream(request, options) {
      sent.push(request)
      return real.stream(request, options)
    },
  }
  const outcome = await summariseDirectly({
    model,
    messages,
    kind: "all",
    purpose: "compaction",
    instructions: [],
    estimator: createEstimator(model.facts.family),
    signal: new AbortController().signal,
    ...setting.options,
  })
  return { outcome, requests, sent, sim }
}

export const textOf = (outcome: SummaryOutcome) => {
  if (outcome.kind !== "summary") throw new Error(outcome.message)
  return outcome.text
}
export const titlesIn = (text: string) => [...text.matchAll(/^\d\. ([^:\n]+):/gm)].map(([, title]) => title)
export const firstText = ({ messages }: ResponderRequest) => messages[0]!.content[0]!.text
export const lastText = ({ messages }: ResponderRequest) => messages.at(-1)!.content.at(-1)!.text ?? ""

export const LINE = "export const value = compute(41) + 1 // as it was before the change\n"

/** Rounds of work on numbered files, with occasional user messages. */
export function work(rounds: number, lines = 20): readonly Message[] {
  const builder = conversation().user("Please move the parser to src/parser and keep every test green.")
  for (let i = 0; i < rounds; i++) {
    builder.call("Read", { file_path: `/repo/src/file-${i}.ts` }).result(LINE.repeat(lines))
    if (i % 10 === 9)
      builder.say(`Moved ${i + 1} files.`).user(`Good. Go on with file ${i + 1}, never touch /repo/dist-${i}.`)
  }
  return builder.messages
}
