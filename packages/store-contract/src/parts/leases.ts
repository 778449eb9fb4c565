/** What must be true of leases: one holder at a time, and a number that grows. */
import assert from "node:assert/strict"
import type { Lease, Store } from "@strata/core/store"
import { others } from "../claims.ts"
import { type Claim, PROJECT, upTo } from "../ground.ts"

const ADDRESS = { project: PROJECT, name: "migration" }

async function acquired(store: Store, address = ADDRESS): Promise<Lease> {
  const attempt = await store.lease(address)
  if (attempt.state === "held") return assert.fail("the lease is held, and no one has it")
  return attempt.lease
}

export const leases: readonly Claim[] = [
  [
    "BEY-12 a lease has one holder, whom others can see, until it is released",
    async (ground) => {
      const lease = await acquired(ground.handle())
      assert.equal(await lease.isHeld(), true)
      const second = await ground.handle().lease(ADDRESS)
      assert.equal(second.state, "held")
      assert.ok(second.state === "held" && Number.isFinite(Date.parse(second.by.since)), "who holds it says since when")
      for (const address of [
        { ...ADDRESS, name: "other" },
        { ...ADDRESS, project: `${PROJECT}-2` },
      ])
        await (await acquired(ground.handle(), address)).release()
      await lease.release()
      assert.equal(await lease.isHeld(), false)
      const next = await acquired(ground.handle())
      await lease.release() // again, and too late
      assert.deepEqual([await lease.isHeld(), await next.isHeld()], [false, true])
      assert.equal((await ground.handle().lease(ADDRESS)).state, "held")
      await next.release()
    },
  ],
  [
    "BEY-12 the number of a lease is larger than the one before, over all handles",
    async (ground) => {
      let before = 0
      for (const at of upTo(10)) {
        const lease = await acquired(ground.handle())
        assert.ok(lease.fence > before, `lease ${at} has the number ${lease.fence}, after ${before}`)
        before = lease.fence
        await lease.release()
      }
    },
  ],
  [
    "BEY-12 of many that want a lease at once, one has it at a time",
    async (ground) => {
      const inside = { count: 0, most: 0 }
      const turns = 2 * ground.runs
      const fences: number[] = []
      await Promise.all(
        ground.handles.map(async (store) => {
          for (let done = 0; done < turns; ) {
            const attempt = await store.lease(ADDRESS)
            if (attempt.state === "held") {
              await others()
              continue
            }
            inside.most = Math.max(inside.most, ++inside.count)
            fences.push(attempt.lease.fence)
            await others()
            assert.equal(await attempt.lease.isHeld(), true)
            inside.count--
            await attempt.lease.release()
            done++
          }
        }),
      )
      assert.equal(inside.most, 1, "two had the lease at once")
      assert.equal(fences.length, turns * ground.writers)
      assert.deepEqual(
        fences,
        fences.toSorted((a, b) => a - b),
      )
    },
  ],
]
