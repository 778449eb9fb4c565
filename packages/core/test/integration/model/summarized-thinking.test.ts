/** Newer models omit the text of thinking. The requests of a conversation ask for it, all in the same way. */
import { expect, test } from "vitest"
import type { ResponderTurn } from "../../../../sim/src/responder.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { isForked } from "../../../src/forks/fork.ts"
import { contentOf } from "../../../src/messages/messages.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { summarizedThinking } from "../../../src/views/context/request.ts"
import { agentFor, ask, project } from "../agent/agents.ts"

const MODEL = "claude-opus-5-5"
const SUMMARIZED = { type: "adaptive", display: "summarized" }
const THOUGHT = "The port is in the settings."
const SUMMARY = "<summary>\nThe user asks for the port in the settings.\n</summary>"

/** A model that thinks before every answer, and its requests. */
async function thinker() {
  const sim = await simulator({
    responder: {
      name: "thinker",
      answer: ({ request }: ResponderTurn) => {
        const text = isForked(request.messages as never)
          ? SUMMARY
          : `It is 8443. ${"The settings say so. ".repeat(2_000)}`
        return {
          content: [
            { type: "thinking", thinking: THOUGHT },
            { type: "text", text },
          ],
        }
      },
    },
  })
  const bodies: { readonly thinking?: unknown; readonly messages: readonly unknown[] }[] = []
  const recording: typeof fetch = (url, init) => {
    bodies.push(JSON.parse(String(init?.body)))
    return fetch(url, init)
  }
  return { sim, sdk: client(sim, { fetch: recording }), bodies }
}

/** Two processes of an own loop with a compaction by a fork in each. `ownSettings`: the caller's own thinking settings. */
async function talk({ model = MODEL, isOn = true, ownSettings = {} } = {}) {
  const { sdk, bodies } = await thinker()
  const settings = { memory: "off", switches: { notes: false, "summarized-thinking": isOn } } as const
  const options = { ...project(), id: "thinking", model, client: sdk, env: {}, settings }
  const thoughts = new Set<string>()
  for (let process = 0; process < 2; process++) {
    await using chat = await openConversation(options)
    for (let turn = 0; turn < 3; turn++) {
      await chat.add("Which port is it? Look in the settings.")
      await chat.record(await sdk.messages.stream({ ...(await chat.prepare()), ...ownSettings }).finalMessage())
    }
    await chat.compact({ routes: ["shared"] })
    for await (const entry of chat.entries())
      if (entry.type === "assistant")
        for (const block of contentOf(entry)) if (block.type === "thinking") thoughts.add(block.thinking)
  }
  return { asked: bodies.map(({ thinking }) => thinking), thoughts: [...thoughts] }
}

test("BEY-2, CACHE-9 all requests ask for the text of thinking in the same way, forks and a resumed conversation too", async () => {
  const { asked, thoughts } = await talk()
  expect(asked).toEqual(Array.from({ length: 8 }, () => SUMMARIZED))
  expect(thoughts).toEqual([THOUGHT])
})

test("BEY-2 an agent has the text of thinking in its journal", async () => {
  const { sim } = await thinker()
  const agent = await agentFor(sim, project())
  await ask(agent, "Which port?")
  const answers = engineOf(agent.conversation)
    .views.context.journaledMessages()
    .filter(({ type }) => type === "assistant")
  expect(JSON.stringify(answers)).toContain(THOUGHT)
})

test("FLG-1 switched off, requests say nothing about thinking, and its text is left out", async () => {
  const { asked, thoughts } = await talk({ isOn: false })
  expect(asked.every((thinking) => thinking === undefined)).toBe(true)
  expect(thoughts).toEqual([""])
})

test("a model that shows its thinking, or does not think unasked, is asked for nothing", async () => {
  for (const model of ["claude-opus-4-6", "claude-opus-4-8"])
    expect((await talk({ model })).asked.every((thinking) => thinking === undefined)).toBe(true)
})

test("what a caller says about thinking is what counts", async () => {
  const { thoughts } = await talk({ ownSettings: { thinking: { type: "adaptive", display: "omitted" } } })
  expect(thoughts).toEqual([""])
  const { accepts } = findModel(MODEL).facts
  for (const ownSettings of [
    { type: "disabled" },
    { type: "between_tools" },
    { type: "adaptive", display: "omitted" },
    { type: "adaptive", display: "summarized" },
  ] as const)
    expect(summarizedThinking(ownSettings as never, accepts)).toBe(ownSettings)
  expect(summarizedThinking({ type: "adaptive" }, accepts)).toEqual(SUMMARIZED)
  expect(summarizedThinking({ type: "adaptive", display: null }, accepts)).toEqual(SUMMARIZED)
  expect(summarizedThinking({ type: "adaptive" }, findModel("claude-opus-4-6").facts.accepts)).toEqual({
    type: "adaptive",
  })
})
