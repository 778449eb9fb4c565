/** A response contains a block of a type that this version does not know. It is sent back unchanged, and omitted if the API refuses it. */
import { expect, test } from "vitest"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { agentFor, ask, ofType, project } from "./agents.ts"

const HOLOGRAM = { type: "hologram", data: "light" }
const responder = () =>
  scriptedResponder([
    {
      content: [
        { type: "text", text: "Look." },
        { type: "other", block: HOLOGRAM },
      ],
    },
    "Second.",
    "Third.",
  ])

test("MSG-14 a block of an unknown type is streamed, stored and sent back, also after a resume", async () => {
  const sim = await simulator({ responder: responder(), newBlockTypes: ["hologram"] })
  const where = project()
  const agent = await agentFor(sim, where)
  await ask(agent, "One.")
  expect((await ask(agent, "Two.")).end).toMatchObject({ reason: "answer", text: "Second." })
  const { id } = agent.conversation
  await agent.close()
  const again = await agentFor(sim, where, { id })
  expect((await ask(again, "Three.")).end).toMatchObject({ reason: "answer", text: "Third." })
  expect(JSON.stringify(await again.conversation.prepare())).toContain(JSON.stringify(HOLOGRAM))
})

test("MSG-14 a block of an unknown type that the API refuses is left out, once and for all", async () => {
  const sim = await simulator({ responder: responder() })
  const where = project()
  const agent = await agentFor(sim, where)
  await ask(agent, "One.")
  const { events, end } = await ask(agent, "Two.")
  expect(end).toMatchObject({ reason: "answer", text: "Second." })
  expect(ofType(events, "notice").map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^The API refused the request\. 1 block that it had sent itself is left out\. The API said: ".*hologram/,
    ),
  ])
  const { id } = agent.conversation
  await agent.close()
  const again = await agentFor(sim, where, { id })
  const third = await ask(again, "Three.")
  expect(third.end).toMatchObject({ reason: "answer", text: "Third." })
  expect(ofType(third.events, "notice")).toEqual([])
})
