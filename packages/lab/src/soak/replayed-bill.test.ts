import { expect, test } from "vitest"
import { replayedBill, replayProblems } from "./replayed-bill.ts"
import { taskAt } from "./tasks.ts"
import { openSoakWorkshop } from "./workshop.ts"

const WINDOW = 48_000
const PAUSES = [0, 12] // minutes: in the longer one the cache expires

test("BEY-4 the planner live costs what the replay of its journal says, within 3%", async () => {
  const { agent, simulator, close } = await openSoakWorkshop({ window: WINDOW, seed: 5, resultSize: 20_000, turns: 8 })
  try {
    for (const [index, minutes] of PAUSES.entries()) {
      await agent.conversation.settled()
      simulator.clock.advance(minutes * 60_000)
      for await (const event of agent.query(taskAt(index).text)) if (event.type === "error") throw event.take()
    }
    await agent.conversation.settled()
    const bill = await replayedBill(agent.conversation, WINDOW)
    expect(replayProblems(bill)).toEqual([])
    expect(bill.billed.compactions).toBeGreaterThan(1)
    expect(bill.replayed.compactions).toBe(bill.billed.compactions)
  } finally {
    await close()
  }
})
