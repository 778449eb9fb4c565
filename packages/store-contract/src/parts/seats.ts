/** What must be true of seats: never more than there are, and one that is given back can be taken. */
import assert from "node:assert/strict"
import type { Seat, Store } from "@strata/core/store"
import { others } from "../claims.ts"
import { type Claim, PROJECT } from "../ground.ts"

const AGENTS = { project: PROJECT, name: "agents" }

async function seated(store: Store, id: string, given: Partial<Parameters<Store["seat"]>[0]> = {}): Promise<Seat> {
  const attempt = await store.seat({ ...AGENTS, id, most: 2, ...given })
  if (attempt.state === "full") return assert.fail(`no seat for ${id}: ${attempt.taken} are taken`)
  return attempt.seat
}

export const seats: readonly Claim[] = [
  [
    "BEY-12 seats can be taken while some are left, and one that is given back can be taken again",
    async (ground) => {
      const [first, second] = [await seated(ground.handle(), "a"), await seated(ground.handle(), "b")]
      const asked = (most: number) => ground.handle().seat({ ...AGENTS, id: "c", most })
      assert.deepEqual(await asked(2), { state: "full", taken: 2 })
      assert.deepEqual(await asked(1), { state: "full", taken: 2 })
      assert.deepEqual(await asked(0), { state: "full", taken: 2 })
      for (const elsewhere of [{ name: "others" }, { project: `${PROJECT}-2` }])
        await (await seated(ground.handle(), "c", { ...elsewhere, most: 1 })).release()
      await first.release()
      assert.deepEqual(await asked(1), { state: "full", taken: 1 })
      const third = await seated(ground.handle(), "c")
      await first.release() // again, and too late
      assert.deepEqual(await ground.handle().seat({ ...AGENTS, id: "d", most: 2 }), { state: "full", taken: 2 })
      for (const seat of [second, third]) await seat.release()
      await (await seated(ground.handle(), "e", { most: 1 })).release()
    },
  ],
  [
    "BEY-12 who asks again for a seat, because an answer was lost, has the same one",
    async (ground) => {
      await seated(ground.handle(), "a") // the answer is lost
      const seat = await seated(ground.handle(), "a", { most: 1 })
      const second = await seated(ground.handle(), "b")
      await seat.release()
      await (await seated(ground.handle(), "c")).release()
      await second.release()
      await (await seated(ground.handle(), "d", { most: 1 })).release()
      const same = await Promise.all(ground.handles.map((store) => seated(store, "e", { most: 1 })))
      for (const one of same) await one.release()
      await (await seated(ground.handle(), "f", { most: 1 })).release()
    },
  ],
  [
    "BEY-12 of many that want a seat at once, no more have one than there are",
    async (ground) => {
      const most = Math.max(1, ground.writers - 2)
      const first = await Promise.all(
        ground.handles.map((store, at) => store.seat({ ...AGENTS, id: `first-${at}`, most })),
      )
      const taken = first.flatMap((attempt) => (attempt.state === "acquired" ? [attempt.seat] : []))
      assert.equal(taken.length, Math.min(most, ground.writers), "seats were left")
      await Promise.all(taken.map((seat) => seat.release()))

      const turns = 2 * ground.runs
      const inside = { count: 0, most: 0 }
      await Promise.all(
        ground.handles.map(async (store, at) => {
          for (let done = 0, tries = 0; done < turns; tries++) {
            const attempt = await store.seat({ ...AGENTS, id: `${at}-${tries}`, most: 2 })
            if (attempt.state === "full") {
              await others()
              continue
            }
            inside.most = Math.max(inside.most, ++inside.count)
            await others()
            inside.count--
            await attempt.seat.release()
            done++
          }
        }),
      )
      assert.ok(inside.most <= 2, `${inside.most} had a seat at once, and there are 2`)
    },
  ],
]
