/** Requirements of totals that processes share, and of append-only logs. */

import assert from "node:assert/strict"
import { dailyBudgetIn } from "@strata/core/store"
import { DIFFICULT_TEXTS } from "../entries.ts"
import { type ContractClaim, PROJECT, upTo } from "../fixture.ts"

const DAY = "2026-11-17"

export const sumsAndLogs: readonly ContractClaim[] = [
  [
    "BEY-12 a day's sum grows by what is added, and is apart from other days and projects",
    async (fixture) => {
      const budget = () => dailyBudgetIn(fixture.handle().memories({ project: PROJECT }))
      assert.equal(await budget().spentOn(DAY), 0)
      assert.equal(await budget().add(0.25, DAY), 0.25)
      assert.equal(await budget().add(1.5, DAY), 1.75)
      assert.equal(await budget().spentOn(DAY), 1.75)
      assert.equal(await budget().spentOn("2026-11-16"), 0)
      assert.equal(await dailyBudgetIn(fixture.handle().memories({ project: `${PROJECT}-2` })).spentOn(DAY), 0)
      assert.equal(await budget().add(4, "2026-11-18"), 4)
      assert.equal(await budget().spentOn("2026-11-18"), 4)
      assert.equal(await budget().add(-0.5, DAY), 1.25) // work that began before midnight cost less than expected
      assert.equal(await budget().spentOn("2026-11-18"), 4)
    },
  ],
  [
    "BEY-12 many add to a day's sum at once: no addition is lost, and each sum is given once",
    async (fixture) => {
      const turns = fixture.runs
      const sums = await Promise.all(
        fixture.handles.map(async (store) => {
          const own: number[] = []
          for (const _ of upTo(turns))
            own.push(await dailyBudgetIn(store.memories({ project: PROJECT })).add(0.25, DAY))
          return own
        }),
      )
      const all = upTo(turns * fixture.writers).map((at) => 0.25 * (at + 1))
      assert.equal(await dailyBudgetIn(fixture.handle().memories({ project: PROJECT })).spentOn(DAY), all.at(-1))
      assert.deepEqual(
        sums.flat().toSorted((a, b) => a - b),
        all,
      )
    },
  ],
  [
    "BEY-12 a log gives its lines back as they were, first to last, and nothing of another project's",
    async (fixture) => {
      const log = (project = PROJECT) => fixture.handle().log({ project, name: "callers" })
      assert.deepEqual(await log().read(), [])
      const lines = DIFFICULT_TEXTS.filter((text) => text !== "").map((text) => JSON.stringify({ text }))
      for (const line of lines) await log().append(line)
      assert.deepEqual(await log().read(), lines)
      assert.deepEqual(await log(`${PROJECT}-2`).read(), [])
    },
  ],
  [
    "BEY-12 many add to a log at once: each line is there once, whole, in the order of its writer",
    async (fixture) => {
      const turns = 10 * fixture.runs
      await Promise.all(
        fixture.handles.map(async (store, writer) => {
          const log = store.log({ project: PROJECT, name: "callers" })
          for (const turn of upTo(turns)) await log.append(`${writer} ${turn} ${"x".repeat(turn * 20)}`)
        }),
      )
      const lines = await fixture.handle().log({ project: PROJECT, name: "callers" }).read()
      assert.equal(lines.length, turns * fixture.writers)
      for (const writer of upTo(fixture.writers)) {
        const own = lines.filter((line) => line.startsWith(`${writer} `))
        assert.deepEqual(
          own,
          upTo(turns).map((turn) => `${writer} ${turn} ${"x".repeat(turn * 20)}`),
        )
      }
    },
  ],
]
