/** Random use of permits, totals and logs from several handles. After each, the store returns the same as plain values. */

import assert from "node:assert/strict"
import { CONSOLIDATE, dailyBudgetIn, type TakenPermit } from "@strata/core/store"
import { type ContractClaim, type ContractFixture, PROJECT, upTo } from "../fixture.ts"

const STEPS = 30
const HOUR_MS = 3_600_000

export const permitsModel: readonly ContractClaim[] = [
  [
    "BEY-12 random use of permits, sums and logs: the store answers what plain values answer",
    async (fixture) => {
      for (const run of upTo(fixture.runs)) await oneRun(fixture, `${PROJECT}-${run}`)
    },
  ],
]

async function oneRun({ random, handles }: ContractFixture, project: string): Promise<void> {
  let time = Date.parse("2020-01-02T12:00:00.000Z")
  const store = () => random.pick(handles)
  const log = () => store().log({ project, name: "callers" })
  const consolidation = () => store().permit({ project, name: CONSOLIDATE })
  const agents = () => store().permit({ project, name: "agents" })
  const model = { spent: 0, lines: [] as string[] }
  const permits = new Map<string, TakenPermit>()
  const consolidated = { permit: undefined as TakenPermit | undefined, last: undefined as string | undefined }
  const day = "2026-01-02"

  const operations: readonly (() => Promise<void>)[] = [
    async () => {
      const [id, max] = [`agent-${random.below(6)}`, 1 + random.below(4)]
      const attempt = await agents().take({ id, max })
      const isFull = !permits.has(id) && permits.size >= max
      assert.equal(attempt.state, isFull ? "full" : "acquired")
      if (attempt.state === "acquired") permits.set(id, attempt.permit)
      else assert.equal(attempt.taken, permits.size)
    },
    async () => {
      const id = random.pick([...permits.keys()])
      await permits.get(id)?.release()
      permits.delete(id)
    },
    async () => {
      const dollars = 0.25 * random.below(10)
      model.spent += dollars
      assert.equal(await dailyBudgetIn(store().memories({ project })).add(dollars, day), model.spent)
    },
    async () => {
      model.lines.push(`line ${random.below(1_000)}`)
      await log().append(model.lines.at(-1)!)
    },
    async () => {
      time += HOUR_MS
      const attempt = await consolidation().take({ id: `dream-${time}`, max: 1 })
      assert.equal(attempt.state, consolidated.permit ? "full" : "acquired")
      if (attempt.state === "full") return
      assert.equal(attempt.permit.last?.toISOString(), consolidated.last)
      consolidated.permit = attempt.permit
    },
    async () => {
      const done = random.pick([new Date(time), undefined])
      if (consolidated.permit && done) consolidated.last = done.toISOString()
      await consolidated.permit?.release(done)
      consolidated.permit = undefined
    },
  ]
  for (const _ of upTo(STEPS)) {
    await random.pick(operations)()
    assert.equal(await dailyBudgetIn(store().memories({ project })).spentOn(day), model.spent)
    assert.deepEqual(await log().read(), model.lines)
    const { last, taken } = await consolidation().state()
    assert.deepEqual([last?.toISOString(), taken], [consolidated.last, consolidated.permit ? 1 : 0])
    assert.deepEqual(await agents().state(), { taken: permits.size })
  }
  for (const permit of permits.values()) await permit.release()
  await consolidated.permit?.release()
}
