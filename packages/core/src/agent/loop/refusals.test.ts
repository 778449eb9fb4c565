import { expect, test } from "vitest"
import { ask, calling, resultsIn, scene } from "../../../test/scripted-agent.ts"
import { write } from "../../tools/files/write.ts"
import { Refusals } from "./refusals.ts"

test("PERM-6 after three refusals in a row the model is asked to take another way, until a call is allowed", () => {
  const refusals = new Refusals()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.refused("Edit", "the user said no")).toContain("refusal 3 in a row")
  refusals.allowed()
  expect(refusals.refused("Bash", "plan mode is on")).toBeUndefined()
  expect(refusals.counts()).toEqual([
    { tool: "Bash", why: "plan mode is on", count: 3 },
    { tool: "Edit", why: "the user said no", count: 1 },
  ])
})

test("PERM-6 in an agent: the third refusal asks for another way, an allowed call starts the count again", async () => {
  const refused = () => calling("Write", { file_path: ".git/config", content: "x" })
  const turns = [refused(), refused(), refused(), calling("Write", { file_path: "a.txt", content: "x" }), refused()]
  const agent = await scene().open([...turns, "Done."], { tools: [write], mode: "accept-edits" })
  const results = resultsIn(await ask(agent, "go"))
  expect(results.map((text) => text.includes("in a row"))).toEqual([false, false, true, false, false])
})

test("PERM-5 a call that was interrupted while the person was asked is denied, and took no time", async () => {
  const stop = new AbortController()
  const agent = await scene().open([calling("Write", { file_path: "a.txt", content: "x" })], {
    tools: [write],
    askPermission: async () => {
      stop.abort()
      return { allowed: false }
    },
  })
  const events = []
  for await (const event of agent.query("go", { signal: stop.signal })) events.push(event)
  expect(events.filter(({ type }) => type.startsWith("tool-"))).toMatchObject([
    { type: "tool-start" },
    { type: "tool-denied", why: "you interrupted before it ran" },
    { type: "tool-result", ms: 0, result: { is_error: true } },
  ])
})
