/** A simulator without HTTP, for properties: a request is validated and answered as over the wire. */

import type { ApiVersion } from "../src/api-dialect.ts"
import { frozenClock } from "../src/clock.ts"
import { preparePrompt } from "../src/prepare.ts"
import { respond } from "../src/respond.ts"
import type { Responder } from "../src/responder.ts"
import { DEFAULT_PAGES } from "../src/server-tools/pages.ts"
import { createSimulation } from "../src/simulation.ts"
import { validate } from "../src/validate/validate.ts"
import type { ContentBlock, MessageResponse } from "../src/wire.ts"

export interface InProcess {
  /** Answers a body, or throws the API's error. */
  ask(body: unknown, betas?: readonly string[], version?: ApiVersion): Promise<MessageResponse>
}

export function inProcess(responder: Responder, seed = 1): InProcess {
  const simulation = createSimulation({
    responder,
    clock: frozenClock(),
    seed,
    models: {},
    faults: [],
    apiKeys: undefined,
    maxRequestBytes: 1_000_000,
    bindThinking: undefined,
    billingInPrompt: false,
    cacheEdits: false,
    webPages: DEFAULT_PAGES,
    newBlockTypes: [],
    strictBetas: false,
    strictSystemMessages: false,
    rateLimits: {},
    onLog: undefined,
  })
  return {
    async ask(body, betas = [], version = "2026-10-21") {
      const dialect = {
        version,
        betas: new Set(betas),
        cacheEdits: false,
        newBlockTypes: [],
        strictSystemMessages: false,
      }
      const json: unknown = JSON.parse(JSON.stringify(body))
      const request = validate({
        endpoint: "messages",
        dialect,
        json,
        findModel: (name) => simulation.catalog.find(name),
      })
      const prompt = preparePrompt(request, simulation)
      const options = { start: simulation.clock.now(), workspace: "default", compactionFails: false }
      return (await respond(prompt, simulation, options)).message
    },
  }
}

/** The content in the form in which a client sends it back. */
export const sentBack = (
  content: readonly ContentBlock[],
): readonly { readonly type: string; readonly id?: string }[] =>
  content.map((block) => {
    if (block.type === "other") return block.block
    if (block.type !== "tool_use") return block
    const { inputText: _, ...sent } = block
    return sent
  })
