/** TOOL-1: WebSearch through the API's server tool, with the real SDK against the simulator's small web. */
import { expect, test } from "vitest"
import { constrainResponder } from "../../../../sim/src/responders/index.ts"
import { scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { codingTools } from "../../../src/agent/tools/toolsets.ts"
import { agentFor, ask, calls, ofType, project } from "./agents.ts"

const PAGES = [
  {
    url: "https://docs.example/lighthouse",
    title: "The lighthouse port",
    text: "The lighthouse listens on port 7071.",
  },
  { url: "https://other.example/lighthouse", title: "Another lighthouse", text: "A lighthouse at the sea." },
]

/** The conversation follows a script; requests with the API's search tool are answered by the simulated server. */
async function searching(input: object) {
  const script = scriptedResponder([calls(["WebSearch", input]), "Port 7071."])
  const searcher = constrainResponder(scriptedResponder(["It listens on port 7071.", "Nothing more."]))
  const sim = await simulator({
    webPages: PAGES,
    responder: {
      name: "searching",
      answer: (turn) =>
        (turn.request.tools?.some(({ type }) => type?.startsWith("web_search")) ? searcher : script).answer(turn),
    },
  })
  const settings = { memory: "off", switches: { notes: false } } as const
  const agent = await agentFor(sim, project(), { tools: codingTools(), settings, mode: "bypass" })
  const { events } = await ask(agent, "Which port has the lighthouse?")
  const [result] = ofType(events, "tool-result")
  return { agent, text: String(result!.result.content), isError: result!.result.is_error === true }
}

test("LOOP-3 WebSearch shows titles, addresses and what the pages say, and its cost is in the ledger", async () => {
  const { agent, text, isError } = await searching({ query: "lighthouse port" })
  expect(isError).toBe(false)
  expect(text).toContain("- The lighthouse port\n  https://docs.example/lighthouse")
  expect(agent.conversation.ledger().byPurpose.map(({ purpose }) => purpose)).toContain("search")
})

test("LOOP-3 WebSearch keeps to the domains it is given", async () => {
  const { text } = await searching({ query: "lighthouse port", blocked_domains: ["docs.example"] })
  expect(text).toContain("other.example")
  expect(text).not.toContain("docs.example/lighthouse")
  const both = await searching({ query: "x y", allowed_domains: ["a.example"], blocked_domains: ["b.example"] })
  expect(both).toMatchObject({ isError: true, text: expect.stringContaining("not both") })
})
