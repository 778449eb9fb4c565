import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startSimulator, workerResponder } from "@strata/sim"
import { expect, onTestFinished, test } from "vitest"
import { workOn } from "./agent.ts"

test("the agent from the documentation works on a task with its tools and ends with an answer", async () => {
  const root = mkdtempSync(join(tmpdir(), "strata-agent-example-"))
  const simulator = await startSimulator({ responder: workerResponder({ seed: 2, turns: 12, trouble: 0 }) })
  onTestFinished(async () => {
    await simulator.close()
    rmSync(root, { recursive: true })
  })
  const cwd = mkdtempSync(join(root, "project-"))
  for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, `${name}.ts`), `export const ${name} = 1\n`.repeat(20))

  const seen = new Set<string>()
  const end = await workOn({
    text: "Tidy up a.ts.",
    cwd,
    apiKey: "none",
    baseURL: simulator.url,
    dir: join(root, "home"),
    render: ({ type }) => seen.add(type),
  })
  expect(end?.reason).toBe("answer")
  expect([...seen]).toEqual(
    expect.arrayContaining(["user", "request", "response", "tool-start", "tool-result", "done"]),
  )
  expect(simulator.log.every(({ status }) => status === 200)).toBe(true)
})
