import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { extractiveAnswer } from "../../../../sim/src/brains/extractive.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { DreamState } from "../../../src/layers/6-dreaming/dream-task.ts"
import { memoryText } from "../../dreams.ts"
import { agentFor, project } from "../agent/agents.ts"
import { memoryIn, say } from "./remembering.ts"

const OTHERS = ["a", "b", "c", "d", "e"]

/** A project with two memories that contradict each other, and five earlier conversations. */
async function stage({ conversations = OTHERS }: { readonly conversations?: readonly string[] } = {}) {
  const where = project()
  const memory = memoryIn(where)
  mkdirSync(memory, { recursive: true })
  writeFileSync(join(memory, "port.md"), memoryText("Port", "The port is 80.", { confirmed: "2026-01-01" }))
  writeFileSync(join(memory, "server.md"), memoryText("Server", "The port is 8080.", { confirmed: "2026-03-01" }))
  for (const id of conversations) writeFileSync(join(dirname(memory), `${id}.jsonl`), "")
  const dreamRequests: string[] = []
  const sim = await simulator({
    brain: {
      name: "dreamer",
      async answer(turn) {
        const dreamed = extractiveAnswer(turn)
        if (dreamed) dreamRequests.push(JSON.stringify(turn.request))
        return dreamed ?? { content: [{ type: "text", text: "Done." }] }
      },
    },
  })
  const open = (settings = {}) =>
    agentFor(sim, where, {
      clock: { now: () => new Date(sim.clock.now()) },
      settings: { switches: { "auto-memory": false, notes: false, ...settings }, figures: { "background-share": 100 } },
    })
  return {
    ...{ sim, where, memory, open, dreamRequests },
    isSuperseded: () => readFileSync(join(memory, "port.md"), "utf8").includes("superseded-by: server.md"),
  }
}

describe("L6-1 L6-5 an agent dreams after a query", () => {
  test("L6-1 L5-9 with five other conversations it dreams in the background, and what it cost is in the ledger", async () => {
    const { sim, open, dreamRequests, isSuperseded } = await stage()
    const agent = await open()
    const seen: DreamState[] = []
    const acted: string[] = []
    agent.dreaming!.on((state) => seen.push(state))
    agent.conversation.on("layerActed", ({ layer, message }) => acted.push(`${layer}: ${message}`))
    await say(agent, "Hello")
    expect(seen.at(-1)).toMatchObject({ status: "completed", phase: "updating", files: ["server.md"] })
    expect(isSuperseded()).toBe(true)
    expect(acted.filter((line) => line.startsWith("dreaming"))).toEqual([
      expect.stringMatching(
        /^dreaming: The memory was consolidated: 2 changed\. Take it back with: strata memory revert \d+$/,
      ),
    ])
    const memoryLines = [...agent.conversation.ledger().lines.values()].filter(({ purpose }) => purpose === "memory")
    expect(memoryLines.length).toBe(1)
    expect(dreamRequests.join()).not.toContain("Hello") // it does not start from this conversation's request
    const asked = dreamRequests.length
    await say(agent, "Once more")
    expect(dreamRequests.length).toBe(asked) // the last dream was just now
    await agent.close()
    await sim.close()
  })

  test("L6-1 it does not dream with too few conversations, switched off, or with a memory that is only read", async () => {
    const few = await stage({ conversations: ["a", "b"] })
    const agent = await few.open()
    await say(agent, "Hello")
    expect(few.dreamRequests).toEqual([])
    await agent.close()
    const off = await stage()
    const silent = await off.open({ dreaming: false })
    await say(silent, "Hello")
    expect(off.dreamRequests).toEqual([])
    await silent.close()
    const reading = await agentFor(off.sim, off.where, { settings: { memory: "read-only" } })
    expect(reading.dreaming).toBeUndefined()
    await reading.close()
    await Promise.all([few.sim.close(), off.sim.close()])
  })

  test("L6-5 closing the agent ends the dream, and nothing half-written stays", async () => {
    const { sim, open, memory, isSuperseded } = await stage()
    const agent = await open()
    const started = new Promise<void>((resolve) => agent.dreaming!.on(() => resolve()))
    for await (const _ of agent.query("Hello"));
    await started
    await agent.close()
    const { status } = agent.dreaming!.state!
    expect(["killed", "completed"]).toContain(status)
    expect(isSuperseded()).toBe(status === "completed")
    const copies = join(dirname(memory), "dreams", "copies")
    expect(existsSync(copies) ? readdirSync(copies) : []).toEqual([])
    await sim.close()
  })
})
