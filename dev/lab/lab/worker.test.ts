/** Tests the lab's worker on small recordings in a folder. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type ConversationBuilder, conversation } from "../../../packages/core/test/builders.ts"
import { none } from "../../../packages/transcripts/src/replay/policies/none.ts"
import { replayedWith, replayPart } from "./worker.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-lab-"))
  record("priced", turns(6, { usage: true }))
  record("short", turns(2, { usage: true }))
  record("unpriced", turns(6, { usage: true, model: "a-model-of-tomorrow" }))
  record("uncounted", turns(6, { usage: false }))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Recorded {
  readonly usage: boolean
  readonly model?: string
}

function turns(count: number, { usage, model = "claude-opus-4-6" }: Recorded): ConversationBuilder {
  const built = conversation().user("Count, please.")
  for (let turn = 1; turn <= count; turn++) {
    const counts = { input_tokens: 1_000 + 10 * turn, output_tokens: 5 }
    built.say(`${turn}`, { model, ...(usage ? { usage: counts } : {}) }).user("And on.")
  }
  return built
}

function record(name: string, { messages }: ConversationBuilder): void {
  const lines = messages.map((message) => JSON.stringify({ sessionId: name, version: "2.1.0", ...message }))
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join("\n")}\n`)
}

describe("BEY-7 the lab's worker", () => {
  it("reports every recording under the policies asked for, and sending everything once", async () => {
    const run = vi.spyOn(none, "run")
    const { replayed } = await replayPart({ folder, policies: ["claude-style", "strata-not-warmed"], part: 0, of: 1 })
    expect(replayed.map(({ name }) => name)).toEqual(["priced.jsonl"])
    const [{ replay, processingMs }] = replayed as [(typeof replayed)[0]]
    const names = ["none", "claude-style", "strata-not-warmed"]
    expect(replay.reports.map(({ policy }) => policy)).toEqual(names)
    expect(Object.keys(processingMs!)).toEqual(names)
    expect(run).toHaveBeenCalledTimes(4) // one call for each recording
    run.mockRestore()
  })

  it("reports which recordings it omits, with the reasons", async () => {
    const { omitted } = await replayPart({ folder, policies: [], part: 0, of: 1 })
    expect(omitted).toEqual([
      { name: "short.jsonl", reason: "fewer than 5 requests" },
      { name: "uncounted.jsonl", reason: "no token counts" },
      { name: "unpriced.jsonl", reason: "a price is unknown" },
    ])
  })

  it("scores generated work, which has no token counts", async () => {
    const { messages } = turns(6, { usage: false })
    const recording = { name: "work", format: "generated", messages, model: "claude-opus-4-6" }
    expect(await replayedWith(recording, [])).toMatchObject({ name: "work", replay: { sizes: "estimated" } })
  })

  it("takes its part of them", async () => {
    const parts = await Promise.all([0, 1].map((part) => replayPart({ folder, policies: [], part, of: 2 })))
    expect(parts.map(({ replayed, omitted }) => replayed.length + omitted.length)).toEqual([2, 2])
  })
})
