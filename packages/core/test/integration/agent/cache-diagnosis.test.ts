/** CACHE-4: the provider's own diagnosis of a cache miss, next to the cause that was found here. */
import Anthropic from "@anthropic-ai/sdk"
import { expect, test } from "vitest"
import { KEY, scripted, simulator } from "../../../../sim/test/simulator.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { CacheEvent } from "../../../src/model/cache/forecast.ts"
import { agentFor, ask, MODEL, ofType, project } from "./agents.ts"

interface SentBody {
  readonly diagnostics?: { readonly previous_message_id: string }
}

/** An agent and its requests. `answer` replaces the server's response if it returns one. */
async function diagnosed(answer: (body: SentBody) => Response | undefined = () => undefined) {
  const sim = await simulator({ responder: scripted("Yes.") })
  const sent: SentBody[] = []
  const client = new Anthropic({
    ...{ baseURL: sim.url, apiKey: KEY, maxRetries: 0 },
    fetch: async (url, init) => {
      const body = JSON.parse(String(init?.body)) as SentBody
      sent.push(body)
      return answer(body) ?? fetch(url, init)
    },
  })
  const model = anthropicModel({ model: MODEL, client })
  const system = "Be brief and kind. ".repeat(2_000)
  const agent = await agentFor(sim, project(), {
    model,
    system,
    settings: { memory: "off", switches: { notes: false } },
  })
  const reports: CacheEvent[] = []
  agent.conversation.on("cache", (report) => reports.push(report))
  return { agent, sent, reports, system }
}

test("CACHE-4 each request names the answer before, and the provider's reason is displayed next to the local one", async () => {
  const { agent, sent, reports, system } = await diagnosed()
  await ask(agent, "One?")
  await ask(agent, "Two?")
  await agent.conversation.usePrompt({ system: `Be bold. ${system}` })
  const { events } = await ask(agent, "Three?")
  expect(sent[0]).not.toHaveProperty("diagnostics")
  expect(sent.slice(1).map(({ diagnostics }) => diagnostics?.previous_message_id)).toEqual([
    ...[expect.stringMatching(/^msg_/), expect.stringMatching(/^msg_/)],
  ])
  expect(reports[1]!.verdict).toEqual({ kind: "as-predicted" })
  expect(reports[2]!.verdict).toMatchObject({
    kind: "break",
    cause: { kind: "changed", part: "system" },
    provider: { changed: "system", tokens: expect.any(Number) },
  })
  expect(ofType(events, "notice").map(({ message }) => message)).toEqual([
    expect.stringMatching(/because the system prompt changed\. The provider reports the same cause, [\d,]+ tokens\.$/),
  ])
})

test("CACHE-4 a server that does not know the question is asked once, and the query continues", async () => {
  const refusal = {
    type: "error",
    error: { type: "invalid_request_error", message: "diagnostics: Extra inputs are not permitted" },
  }
  const { agent, sent } = await diagnosed(({ diagnostics }) =>
    diagnostics ? Response.json(refusal, { status: 400 }) : undefined,
  )
  for (const text of ["One?", "Two?", "Three?"])
    expect((await ask(agent, text)).end).toMatchObject({ reason: "answer" })
  expect(sent.map(({ diagnostics }) => diagnostics !== undefined)).toEqual([false, true, false, false])
})
