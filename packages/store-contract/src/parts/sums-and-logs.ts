/** What must be true of sums that processes share, and of logs that are only added to. */

import assert from "node:assert/strict"
import { budgetIn } from "@strata/core/store"
import { DIFFICULT_TEXTS } from "../entries.ts"
import { type Claim, PROJECT, upTo } from "../ground.ts"

const DAY = "2026-11-17"

export const sumsAndLogs: readonly Claim[] = [
  [
    "BEY-12 a day's sum grows by what is added, and is apart from other days and projects",
    async (ground) => {
      const budget = () => budgetIn(ground.handle().memories({ project: PROJECT }))
      assert.equal(await budget().spentOn(DAY), 0)
      assert.equal(await budget().add(0.25, DAY), 0.25)
      assert.equal(await budget().add(1.5, DAY), 1.75)
      assert.equal(await budget().spentOn(DAY), 1.75)
      assert.equal(await budget().spentOn("2026-11-16"), 0)
      assert.equal(await budgetIn(ground.handle().memories({ project: `${PROJECT}-2` })).spentOn(DAY), 0)
      assert.equal(await budget().add(4, "2026-11-18"), 4)
      assert.equal(await budget().spentOn("2026-11-18"), 4)
      assert.equal(await budget().add(-0.5, DAY), 1.25) // work that began before midnight did cost less than expected
      assert.equal(await budget().spentOn("2026-11-18"), 4)
    },
  ],
  [
    "BEY-12 many add to a day's sum at once: no addition is lost, and each sum is given once",
    async (ground) => {
      const turns = ground.runs
      const sums = await Promise.all(
        ground.handles.map(async (store) => {
          const own: number[] = []
          for (const _ of upTo(turns)) own.push(await budgetIn(store.memories({ project: PROJECT })).add(0.25, DAY))
          return own
        }),
      )
      const all = upTo(turns * ground.writers).map((at) => 0.25 * (at + 1))
      assert.equal(await budgetIn(ground.handle().memories({ project: PROJECT })).spentOn(DAY), all.at(-1))
      assert.deepEqual(
        sums.flat().toSorted((a, b) => a - b),
        all,
      )
    },
  ],
  [
    "BEY-12 a log gives its lines back as they were, first to last, and nothing of another project's",
    async (ground) => {
      const log = (project = PROJECT) => ground.handle().log({ project, name: "callers" })
      assert.deepEqual(await log().read(), [])
      const lines = DIFFICULT_TEXTS.filter((text) => text !== "").map((text) => JSON.stringify({ text }))
      for (const line of lines) await log().append(line)
      assert.deepEqual(await log().read(), lines)
      assert.deepEqual(await log(`${PROJECT}-2`).read(), [])
    },
  ],
  [
    "BEY-12 many add to a log at once: each line is there once, whole, in the order of its writer",
    async (ground) => {
      const turns = 10 * ground.runs
      await Promise.all(
        ground.handles.map(async (store, writer) => {
          const log = store.log({ project: PROJECT, name: "callers" })
          for (const turn of upTo(turns)) await log.append(`${writer} ${turn} ${"x".repeat(turn * 20)}`)
        }),
      )
      const lines = await ground.handle().log({ project: PROJECT, name: "callers" }).read()
      assert.equal(lines.length, turns * ground.writers)
      for (const writer of upTo(ground.writers)) {
        const own = lines.filter((line) => line.startsWith(`${writer} `))
        assert.deepEqual(
          own,
          upTo(turns).map((turn) => `${writer} ${turn} ${"x".repeat(turn * 20)}`),
        )
      }
    },
  ],
]
