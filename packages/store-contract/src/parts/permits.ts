/** Requirements of permits: never more than the limit, a released one can be acquired again, and its number grows. */
import assert from "node:assert/strict"
import type { Store } from "@strata/core/store"
import { CONSOLIDATE, type PermitAttempt, type PermitRequest, type TakenPermit } from "@strata/core/store"
import { letOthersRun } from "../assertions.ts"
import { type ContractClaim, PROJECT, upTo } from "../fixture.ts"

const AGENTS = { project: PROJECT, name: "agents" }

const NOON = new Date("2020-01-02T12:00:00.000Z")
const MEMORY = { project: PROJECT, name: CONSOLIDATE }

async function taken(
  store: Store,
  id: string,
  { max = 2, ...address }: Partial<PermitRequest & typeof AGENTS> = {},
): Promise<TakenPermit> {
  const attempt = await store.permit({ ...AGENTS, ...address }).take({ id, max })
  if (attempt.state === "full") return assert.fail(`no permit for ${id}: ${attempt.taken} are taken`)
  return attempt.permit
}

function refusedBy(attempt: PermitAttempt, count: number): void {
  assert.equal(attempt.state, "full")
  if (attempt.state !== "full") return
  assert.equal(attempt.taken, count)
  assert.ok(attempt.by === undefined || Number.isFinite(Date.parse(attempt.by.since)), "who has one says since when")
}

export const permits: readonly ContractClaim[] = [
  [
    "BEY-12 permits can be taken while some are left, and a released one can be taken again",
    async (fixture) => {
      const [first, second] = [await taken(fixture.handle(), "a"), await taken(fixture.handle(), "b")]
      const asked = (max: number, id = "c") => fixture.handle().permit(AGENTS).take({ id, max })
      for (const max of [2, 1, 0]) refusedBy(await asked(max), 2)
      assert.deepEqual(await fixture.handle().permit(AGENTS).state(), { taken: 2 })
      for (const elsewhere of [{ name: "others" }, { project: `${PROJECT}-2` }])
        await (await taken(fixture.handle(), "c", { ...elsewhere, max: 1 })).release()
      await first.release()
      refusedBy(await asked(1), 1)
      const third = await taken(fixture.handle(), "c")
      await first.release() // a second time, and too late
      refusedBy(await asked(2, "d"), 2)
      for (const permit of [second, third]) await permit.release()
      await (await taken(fixture.handle(), "e", { max: 1 })).release()
    },
  ],
  [
    "BEY-12 who asks again for a permit, because an answer was lost, has the same one",
    async (fixture) => {
      await taken(fixture.handle(), "a") // the answer is lost
      const permit = await taken(fixture.handle(), "a", { max: 1 })
      const second = await taken(fixture.handle(), "b")
      await permit.release()
      await (await taken(fixture.handle(), "c")).release()
      await second.release()
      await (await taken(fixture.handle(), "d", { max: 1 })).release()
      const same = await Promise.all(fixture.handles.map((store) => taken(store, "e", { max: 1 })))
      for (const one of same) await one.release()
      await (await taken(fixture.handle(), "f", { max: 1 })).release()
    },
  ],
  [
    "BEY-12 of many that want a permit at once, no more have one than there are",
    async (fixture) => {
      const max = Math.max(1, fixture.writers - 2)
      const first = await Promise.all(
        fixture.handles.map((store, at) => store.permit(AGENTS).take({ id: `first-${at}`, max })),
      )
      const had = first.flatMap((attempt) => (attempt.state === "acquired" ? [attempt.permit] : []))
      assert.equal(had.length, Math.min(max, fixture.writers), "permits were left")
      await Promise.all(had.map((permit) => permit.release()))

      const turns = 2 * fixture.runs
      const inside = { count: 0, max: 0 }
      await Promise.all(
        fixture.handles.map(async (store, at) => {
          for (let done = 0, tries = 0; done < turns; tries++) {
            const attempt = await store.permit(AGENTS).take({ id: `${at}-${tries}`, max: 2 })
            if (attempt.state === "full") {
              await letOthersRun()
              continue
            }
            inside.max = Math.max(inside.max, ++inside.count)
            await letOthersRun()
            inside.count--
            await attempt.permit.release()
            done++
          }
        }),
      )
      assert.ok(inside.max <= 2, `${inside.max} had a permit at once, and there are 2`)
    },
  ],
  [
    "BEY-12 the number of a permit is larger than the one before, over all handles",
    async (fixture) => {
      for (const address of [AGENTS, MEMORY]) {
        let before = 0
        for (const at of upTo(10)) {
          const permit = await taken(fixture.handle(), `${at}`, { ...address, max: 1 })
          assert.ok(permit.fence > before, `permit ${at} has the number ${permit.fence}, after ${before}`)
          before = permit.fence
          await permit.release()
        }
      }
    },
  ],
  [
    "L6-2 of many, one consolidates at a time, and the time of the last success is known to the next",
    async (fixture) => {
      const inside = { count: 0, max: 0 }
      await Promise.all(
        fixture.handles.map(async (store, at) => {
          for (let done = 0, tries = 0; done < fixture.runs; tries++) {
            const attempt = await store.permit(MEMORY).take({ id: `${at}-${tries}`, max: 1 })
            if (attempt.state === "full") {
              refusedBy(attempt, 1)
              await letOthersRun()
              continue
            }
            inside.max = Math.max(inside.max, ++inside.count)
            await letOthersRun()
            inside.count--
            await attempt.permit.release(NOON)
            done++
          }
        }),
      )
      assert.equal(inside.max, 1, "two consolidated at once")
      assert.deepEqual(await fixture.handle().permit(MEMORY).state(), { taken: 0, last: NOON })
    },
  ],
  [
    "L6-2 a failed consolidation leaves the time of the one before, and a late release takes nothing from the next",
    async (fixture) => {
      const state = () => fixture.handle().permit(MEMORY).state()
      const right = (id: string) => taken(fixture.handle(), id, { ...MEMORY, max: 1 })
      assert.deepEqual(await state(), { taken: 0 })
      const first = await right("a")
      assert.equal(first.last, undefined)
      assert.deepEqual(await state(), { taken: 1 })
      await first.release()
      assert.deepEqual(await state(), { taken: 0 })
      const second = await right("b")
      await second.release(NOON)
      const third = await right("c")
      assert.deepEqual(third.last, NOON)
      await second.release(new Date(NOON.getTime() + 1_000)) // a second time, and too late
      assert.equal((await fixture.handle().permit(MEMORY).take({ id: "d", max: 1 })).state, "full")
      await third.release()
      assert.deepEqual(await state(), { taken: 0, last: NOON })
    },
  ],
]
