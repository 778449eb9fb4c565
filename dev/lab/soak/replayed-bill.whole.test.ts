import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { replayedBill, replayProblems } from "./run.ts"
import { taskAt } from "./tasks.ts"
import { openSoakWorkshop } from "./workshop.ts"

const WINDOW = 60_000
const PAUSES = [0, 12] // in minutes; the cache expires in the longer pause

const SWITCHES = { notes: false, "compact-ahead": false } // their behaviour depends on real time

const folder = mkdtempSync(join(tmpdir(), "strata-replayed-bill-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes files that do not depend on this repository, so that the work is always the same. */
function makeProject(): string {
  const project = join(folder, "project")
  mkdirSync(join(project, "src"), { recursive: true })
  for (let number = 0; number < 40; number++) {
    const lines = Array.from(
      { length: 60 + ((number * 37) % 120) },
      (_, line) => `export const value${number}_${line} = compute(${line * 7}, "${"part ".repeat(line % 6)}${number}")`,
    )
    const path = join(project, "src", `module-${number}.ts`)
    writeFileSync(path, `/** Values of part ${number}. */\n${lines.join("\n")}\n`)
    utimesSync(path, 1_700_000_000 + number, 1_700_000_000 + number) // searches list the newest first
  }
  return project
}

test("BEY-4 the planner live costs what the replay of its journal says, within 3%", async () => {
  const work = { window: WINDOW, seed: 5, resultSize: 16_000, turns: 12, project: makeProject(), switches: SWITCHES }
  const { agent, pause, close } = await openSoakWorkshop(work)
  try {
    for (const [index, minutes] of PAUSES.entries()) {
      await pause(minutes)
      for await (const event of agent.query(taskAt(index).text)) if (event.type === "error") throw event.take()
    }
    await pause(0)
    const bill = await replayedBill(agent.conversation, WINDOW)
    expect(replayProblems(bill)).toEqual([])
    expect(bill.billed.compactions).toBeGreaterThan(1)
  } finally {
    await close()
  }
})
