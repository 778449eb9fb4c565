/** A session of another program is resumed on a server that did not sign its thinking and refuses every request that contains it. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { KEY, simulator } from "../../../../sim/test/simulator.ts"
import { importConversations } from "../../../../transcripts/src/import/import-conversations.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { localUser } from "../../../src/base/owner.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import type { Entry } from "../../../src/journal/entries.ts"
import { agentFor, ask, MODEL, ofType, project } from "./agents.ts"

const SESSION = "5e55107e-0000-4000-8000-000000000001"
const THOUGHT = { type: "thinking", thinking: "The port is in the notes.", signature: "EqQBsignedElsewhere" }

/** A transcript of Claude Code, imported into the store of a project. */
async function imported() {
  const where = project()
  const line = (n: number, type: string, message: object) =>
    JSON.stringify({
      ...{ type, message, uuid: `u${n}`, parentUuid: n > 1 ? `u${n - 1}` : null, sessionId: SESSION, cwd: where.cwd },
      ...{ version: "2.1.0", timestamp: `2026-11-15T12:00:0${n}Z`, isSidechain: false, userType: "external" },
    })
  const answer = (n: number, text: string) => ({
    ...{ id: `msg_${n}`, type: "message", role: "assistant", model: MODEL, stop_reason: "end_turn" },
    content: [THOUGHT, { type: "text", text }],
    usage: { input_tokens: 10, output_tokens: 5 },
  })
  const lines = [
    line(1, "user", { role: "user", content: "Which port?" }),
    line(2, "assistant", answer(2, "It is 4711.")),
    line(3, "user", { role: "user", content: "Are you sure?" }),
    line(4, "assistant", answer(4, "Yes.")),
  ]
  const file = join(where.cwd, "..", `${SESSION}.jsonl`)
  writeFileSync(file, `${lines.join("\n")}\n`)
  const [conversation] = await importConversations({ file, ...where, owner: localUser })
  return { where, id: conversation!.id }
}

type Chat = Agent["conversation"]
async function entriesOf(chat: Chat): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of chat.entries()) entries.push(entry)
  return entries
}

const decided = async (chat: Chat) =>
  (await entriesOf(chat)).filter((entry) => entry.type === "strata" && entry.subtype === "thinking-dropped")

describe("CACHE-6 thinking that a server did not sign", () => {
  test("is left out once it is refused, with one sentence, and stays out after a resume", async () => {
    const sim = await simulator({ responder: scriptedResponder(["One.", "Two.", "Three."]) })
    const { where, id } = await imported()
    const agent = await agentFor(sim, where, { id, mustExist: true })
    const first = await ask(agent, "And the host?")
    expect(first.end).toMatchObject({ reason: "answer", text: "One." })
    expect(ofType(first.events, "notice").map(({ message }) => message)).toEqual([
      "The server does not accept the thinking of 2 earlier answers, so it is omitted from now on. The journal still contains it.",
    ])
    expect(Object.values(sim.stats().errors)).toEqual([1])
    const second = await ask(agent, "Thanks.")
    expect(ofType(second.events, "notice")).toEqual([])
    expect(await decided(agent.conversation)).toHaveLength(1)
    await agent.conversation.add("Go on.")
    const live = JSON.stringify(await agent.conversation.prepare())
    await agent.close()
    const again = await agentFor(sim, where, { id, mustExist: true })
    expect(JSON.stringify(await again.conversation.prepare())).toBe(live)
    expect(live).not.toContain(THOUGHT.signature)
    expect(JSON.stringify(await entriesOf(again.conversation))).toContain(THOUGHT.signature)
    expect(Object.values(sim.stats().errors)).toEqual([1])
  })

  test("a refusal that persists without it reaches the user", async () => {
    const sim = await simulator({ responder: scriptedResponder(["One."]) })
    const { where, id } = await imported()
    const agent = await agentFor(sim, where, { id, mustExist: true })
    const fault = {
      kind: "invalid-request" as const,
      message: "messages.1.content.0: Invalid `signature` in `thinking` block",
    }
    sim.faults.add({ fault, times: 5 })
    expect((await ask(agent, "And the host?")).end).toMatchObject({ reason: "error" })
    expect(Object.values(sim.stats().errors)).toEqual([2])
    expect(await decided(agent.conversation)).toHaveLength(1)
  })

  test("in a loop of your own, noteRefusal says that the next request is without it", async () => {
    const sim = await simulator({ responder: scriptedResponder(["One."]) })
    const { where, id } = await imported()
    const sdk = new Anthropic({ baseURL: sim.url, apiKey: KEY, maxRetries: 0 })
    await using chat = await openConversation({
      model: MODEL,
      client: sdk,
      id,
      ...where,
      memory: { owner: localUser },
    })
    await chat.add("And the host?")
    const turn = async () => chat.record(await sdk.messages.stream(await chat.prepare()).finalMessage())
    const error = await turn().catch((refusal: unknown) => refusal)
    expect(await chat.handleModelError(error)).toBe("thinking")
    await turn()
    expect(await chat.handleModelError(error)).toBeUndefined()
    expect(await decided(chat)).toHaveLength(1)
  })
})
