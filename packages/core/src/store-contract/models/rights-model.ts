/** Random use of seats, sums, logs and consolidations from several handles. After each, the store answers what plain values answer. */
import assert from "node:assert/strict"
import type { ConsolidationLock } from "../../journal/memory-files.ts"
import type { Seat } from "../../journal/seat.ts"
import { type Claim, type Ground, PROJECT, upTo } from "../ground.ts"

const STEPS = 30
const HOUR_MS = 3_600_000

export const rightsModel: readonly Claim[] = [
  [
    "BEY-12 random use of seats, sums, logs and consolidations: the store answers what plain values answer",
    async (ground) => {
      for (const run of upTo(ground.runs)) await oneRun(ground, `${PROJECT}-${run}`)
    },
  ],
]

async function oneRun({ random, handles }: Ground, project: string): Promise<void> {
  let time = Date.parse("2026-01-02T12:00:00.000Z")
  const clock = { now: () => new Date(time) }
  const store = () => random.pick(handles)
  const log = () => store().log({ project, name: "callers" })
  const consolidation = () => store().memories({ project }).consolidation(clock)
  const model = { spent: 0, lines: [] as string[] }
  const seats = new Map<string, Seat>()
  const consolidated = { lock: undefined as ConsolidationLock | undefined, last: undefined as string | undefined }
  const day = "2026-01-02"

  const operations: readonly (() => Promise<void>)[] = [
    async () => {
      const [id, most] = [`seat-${random.below(6)}`, 1 + random.below(4)]
      const attempt = await store().seat({ project, name: "seats", id, most })
      if (!seats.has(id) && seats.size >= most)
        return void assert.deepEqual(attempt, { state: "full", taken: seats.size })
      assert.equal(attempt.state, "acquired")
      if (attempt.state === "acquired") seats.set(id, attempt.seat)
    },
    async () => {
      const id = random.pick([...seats.keys()])
      await seats.get(id)?.release()
      seats.delete(id)
    },
    async () => {
      const dollars = 0.25 * random.below(10)
      model.spent += dollars
      assert.equal(await store().budget(project).add(dollars, day), model.spent)
    },
    async () => {
      model.lines.push(`line ${random.below(1_000)}`)
      await log().append(model.lines.at(-1)!)
    },
    async () => {
      time += HOUR_MS
      const attempt = await consolidation().acquire()
      assert.equal(attempt.state, consolidated.lock ? "held" : "acquired")
      if (attempt.state === "held") return
      assert.equal(attempt.lock.last?.toISOString(), consolidated.last)
      consolidated.lock = attempt.lock
    },
    async () => {
      const outcome = random.pick(["success", "failure"] as const)
      if (consolidated.lock && outcome === "success") consolidated.last = clock.now().toISOString()
      await consolidated.lock?.release(outcome)
      consolidated.lock = undefined
    },
  ]
  for (const _ of upTo(STEPS)) {
    await random.pick(operations)()
    assert.equal(await store().budget(project).spentOn(day), model.spent)
    assert.deepEqual(await log().read(), model.lines)
    const { last, heldBy } = await consolidation().read()
    assert.deepEqual([last?.toISOString(), heldBy !== undefined], [consolidated.last, consolidated.lock !== undefined])
  }
  for (const seat of seats.values()) await seat.release()
  await consolidated.lock?.release("failure")
}
