import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { internalsOf } from "@strata/core/conversation"
import { startSimulator, workerResponder } from "@strata/sim"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { isWhole } from "../packages/core/test/size.ts"
import { ask } from "./own-loop.ts"
import { readOnlyRunner, readOnlyTools } from "./read-only-tools.ts"

const root = join(import.meta.dirname, "../packages/core/src/layers") // large enough to read, and quick to search
let dir: string
let simulator: Awaited<ReturnType<typeof startSimulator>>

beforeAll(async () => {
  // removes settings of the machine from the environment
  for (const name of Object.keys(process.env)) if (/^(?:STRATA|DISABLE)_/.test(name)) vi.stubEnv(name, undefined)
  dir = mkdtempSync(join(tmpdir(), "strata-example-"))
  simulator = await startSimulator({ responder: workerResponder({ turns: 5 }) })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await simulator.close()
  rmSync(dir, { recursive: true })
})

test("the README's loop asks, uses tools, and continues the same conversation later", async () => {
  const agent = {
    client: new Anthropic({ apiKey: "none", baseURL: simulator.url }),
    model: "claude-opus-5-5",
    system: `You look around. Working directory: ${root}`,
    tools: readOnlyTools,
    run: readOnlyRunner(root),
  }
  const first = await ask(agent, "What is here?", { dir })
  expect(first.workState().answered).toBe(true)
  const { id } = first
  await first.close()

  const second = await ask(agent, "And what else?", { dir, id })
  expect(second.openResult).toMatchObject({ resumed: true, tornBytes: 0 })
  expect(second.userMessages().messages.map(({ text }) => text)).toEqual(["What is here?", "And what else?"])
  await second.close()

  expect(simulator.log.length).toBeGreaterThan(4)
  expect(simulator.log.at(-1)!.input!.read).toBeGreaterThan(1_000)
  expect(simulator.log.every(({ status }) => status === 200)).toBe(true)
})

test("the example's tools stay inside their directory", async () => {
  const run = readOnlyRunner(root)
  await expect(run("Read", { file_path: "../../etc/passwd" })).rejects.toThrow(/outside|ENOENT/)
  await expect(run("Read", { file_path: "/etc/hostname" })).rejects.toThrow("is outside")
})

const QUESTIONS = 12

test.runIf(isWhole)(
  "the same loop works in a small window: results are put aside and cleared, and the conversation is compacted",
  async () => {
    const agent = {
      client: new Anthropic({ apiKey: "none", baseURL: simulator.url }),
      model: "claude-opus-5-5",
      system: `You look around. Working directory: ${root}`,
      tools: readOnlyTools,
      run: readOnlyRunner(root),
    }
    let chat: Awaited<ReturnType<typeof ask>> | undefined
    for (let question = 1; question <= QUESTIONS; question++) {
      chat = await ask(agent, `Question ${question}: what is here?`, {
        dir,
        id: "small-window",
        settings: { models: { [agent.model]: { window: 40_000 } } },
      })
      if (question < QUESTIONS) await chat.close()
    }
    expect(internalsOf(chat!).views.compactions.count).toBeGreaterThan(0)
    expect(internalsOf(chat!).views.compactions.failures).toBe(0)
    expect(simulator.log.every(({ status }) => status === 200)).toBe(true)
    await chat!.close()
  },
)
