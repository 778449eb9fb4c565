import { expect, test } from "vitest"
import { size } from "../../core/test/size.ts"
import { fuzz } from "./fuzz.ts"
import { hello, post, simulator } from "./simulator.ts"

/** Set `SIM_FUZZ=100000` for a long run. */
const COUNT = Number(process.env.SIM_FUZZ ?? size(60, 800))

test(`BEY-8 ${COUNT} random bodies never crash it and never get a 500`, async () => {
  const { sent, statuses, broken } = await fuzz({ count: COUNT, seed: 1 })
  expect(broken.slice(0, 3)).toEqual([])
  expect(sent).toBe(COUNT)
  expect(statuses[200]).toBeGreaterThan(COUNT / 50) // some must pass validation, or the code after it is not reached
})

test("BEY-8 a server tool result may contain anything (found by the fuzz test)", async () => {
  const sim = await simulator()
  const found = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [null, { content: [null] }] },
  ]
  const messages = [
    { role: "user", content: "Search" },
    { role: "assistant", content: found },
    { role: "user", content: "Go" },
  ]
  expect((await post(sim, hello({ messages }))).status).toBe(200)
})
