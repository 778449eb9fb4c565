/** Requirements of reading from a journal: from boundary to boundary, by uuid, by handle, and a range. */
import assert from "node:assert/strict"
import { handleOf } from "@strata/core/messages"
import type { Entry, Journal } from "@strata/core/store"
import { listOf } from "../assertions.ts"
import { entriesOf, sketched, textsOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, upTo } from "../fixture.ts"

/** Runs the same assertions on a journal open for writing and on one open for reading only. */
async function bothWays(
  fixture: ContractFixture,
  entries: readonly Entry[],
  look: (journal: Journal) => Promise<void>,
) {
  const journal = await fixture.writer()
  await journal.append(entries)
  await look(journal)
  await journal.close()
  await look(await fixture.reader())
}

export const journalReading: readonly ContractClaim[] = [
  [
    "JRN-4 a journal is read from its end in segments, from boundary to boundary",
    (fixture) =>
      bothWays(fixture, sketched(entriesOf("segments"), "a b | c | d e"), async (journal) => {
        const newest = await journal.tail()
        assert.equal(textsOf(newest.entries), "| d e")
        const middle = await journal.before(newest)
        assert.equal(textsOf(middle?.entries), "| c")
        const oldest = await journal.before(middle!)
        assert.equal(textsOf(oldest?.entries), "a b")
        assert.equal(await journal.before(oldest!), undefined)
      }),
  ],
  [
    "JRN-4 a resume gives the tail, and the checkpoint only where the tail begins with a boundary",
    async (fixture) => {
      const make = entriesOf("resume")
      const journal = await fixture.writer()
      assert.deepEqual((await journal.resume()).tail.entries, [])
      await journal.append(sketched(make, "a b"))
      await journal.writeCheckpoint({ at: "a b" })
      const whole = await journal.resume()
      assert.equal(textsOf(whole.tail.entries), "a b")
      assert.equal(whole.checkpoint, undefined)
      await journal.append(sketched(make, "| c"))
      await journal.writeCheckpoint({ at: "the boundary" })
      await journal.close()
      const resumed = await (await fixture.reader()).resume()
      assert.equal(textsOf(resumed.tail.entries), "| c")
      assert.deepEqual(resumed.checkpoint, { at: "the boundary" })
      const opened = await fixture.handle().open(ADDRESS, { access: "write", preload: true })
      if (opened.preloaded) assert.deepEqual(opened.preloaded, await opened.resume(), "what the opening brought")
      await opened.close()
    },
  ],
  [
    "JRN-1 an entry is found by its uuid, the newest of several; many are found in the order of the uuids",
    (fixture) => {
      const make = entriesOf("found")
      const [old, between, last] = [make.user("old"), make.user("between"), make.user("last")]
      const newer = { ...old, message: { role: "user", content: "new" } } as Entry
      return bothWays(fixture, [old, between, newer, last], async (journal) => {
        assert.deepEqual(await journal.find(old.uuid), newer)
        for (const uuid of ["", "no one", "../x", "%", "00000000-0000-8000-8000-000000000000"])
          assert.equal(await journal.find(uuid), undefined, uuid)
        const wanted = [last.uuid, "no one", old.uuid, between.uuid]
        assert.deepEqual(await journal.findMany(wanted), [last, newer, between])
        assert.deepEqual(await journal.findMany([]), [])
      })
    },
  ],
  [
    "BEY-1 entries are found by the digits of a handle: all that share them, the newest first",
    (fixture) => {
      const make = entriesOf("handles")
      const entries = upTo(50).map((at) => make.user(`text ${at}`))
      const twin = { ...make.user("twin"), uuid: `ffffffff-ffff-8fff-8fff-ff${entries[7]!.uuid.slice(-10)}` } as Entry
      const external = { ...make.user("foreign"), uuid: "msg-1" } as Entry
      return bothWays(fixture, [...entries, twin, external], async (journal) => {
        for (const at of [0, 7, 49]) {
          const found = await journal.findByHandle(handleOf(entries[at]!.uuid))
          assert.deepEqual(found, at === 7 ? [twin, entries[7]] : [entries[at]])
        }
        assert.deepEqual(await journal.findByHandle(handleOf("msg-1")), [external])
        for (const digits of ["", "0000000000", "xyz", entries[0]!.uuid, "../x", "__________"])
          assert.deepEqual(await journal.findByHandle(digits), [], digits)
      })
    },
  ],
  [
    "BEY-1 a range has the entries between two entries, in either order, and as many around it as are asked for",
    (fixture) => {
      const entries = sketched(entriesOf("a range"), "a b | c d | e f")
      const uuid = (at: number) => entries[at]!.uuid
      return bothWays(fixture, entries, async (journal) => {
        const texts = async (...given: Parameters<Journal["range"]>) => textsOf(await listOf(journal.range(...given)))
        assert.equal(await texts({ first: uuid(1), last: uuid(3) }), "b | c")
        assert.equal(await texts({ first: uuid(3), last: uuid(1) }), "b | c")
        assert.equal(await texts({ first: uuid(4), last: uuid(4), around: 1 }), "c d |")
        assert.equal(await texts({ first: uuid(0), last: uuid(1), around: 2 }), "a b | c")
        assert.equal(await texts({ first: uuid(4) }), "d | e f")
        assert.equal(await texts({ first: uuid(0), last: uuid(0), around: 100 }), "a b | c d | e f")
        assert.equal(await texts({ first: "no one", last: uuid(1) }), "")
        assert.equal(await texts({ first: uuid(1), last: "no one" }), "")
      })
    },
  ],
]
