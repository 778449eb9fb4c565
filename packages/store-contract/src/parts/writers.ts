/** Requirements of exclusive writing to a journal: one writer at a time, and no write after it has ended. */
import assert from "node:assert/strict"
import { ClosedError } from "@strata/core"
import { ConversationLockedError, LockLostError } from "@strata/core/base"
import type { Journal } from "@strata/core/store"
import { assertRefused, failureOf, letOthersRun, listOf } from "../assertions.ts"
import { entriesOf, textsOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, upTo } from "../fixture.ts"

const GONE = [ClosedError, LockLostError]

/** Asserts that a journal that is not the writer's changes nothing. */
async function writesNothing(fixture: ContractFixture, journal: Journal, what: string): Promise<void> {
  await assertRefused(() => journal.append([entriesOf(what).user("too late")]), GONE, `${what} appends`)
  await assertRefused(() => journal.writeBlob("late.txt", "too late"), GONE, `${what} writes a blob`)
  await assertRefused(() => journal.writeNotes("too late"), GONE, `${what} writes notes`)
  await failureOf(() => journal.writeCheckpoint({ text: "too late" }))
  const reader = await fixture.reader()
  assert.equal(textsOf(await listOf(reader.entries())), "kept")
  assert.equal(await reader.readBlob("late.txt"), undefined, `${what} wrote a blob`)
  assert.equal(await reader.readNotes(), "kept", `${what} wrote notes`)
  assert.deepEqual(await reader.readCheckpoint(), { text: "kept" }, `${what} wrote a checkpoint`)
}

async function keeping(journal: Journal): Promise<void> {
  await journal.append([entriesOf("kept").user("kept")])
  await journal.writeNotes("kept")
  await journal.writeCheckpoint({ text: "kept" })
}

export const writers: readonly ContractClaim[] = [
  [
    "JRN-3 a reader takes no lock and cannot write",
    async (fixture) => {
      const writer = await fixture.writer()
      await keeping(writer)
      const reader = await fixture.reader()
      assert.equal(reader.fence, undefined)
      await writesNothing(fixture, reader, "a reader")
      await reader.close()
      await writer.append([entriesOf("goes on").user("goes on")])
      assert.equal(textsOf(await listOf(writer.entries())), "kept goes on")
    },
  ],
  [
    "JRN-3 a journal that is closed takes nothing, gives nothing and says so; closing again is nothing",
    async (fixture) => {
      const journal = await fixture.writer()
      await keeping(journal)
      const [entry] = await listOf(journal.entries())
      await journal.close()
      await journal.close()
      await assertRefused(() => journal.tail(), ClosedError, "the tail")
      await assertRefused(() => journal.find(entry!.uuid), ClosedError, "find")
      await assertRefused(() => listOf(journal.entries()), ClosedError, "the entries")
      await writesNothing(fixture, journal, "a closed journal")
    },
  ],
  [
    "JRN-3 what was appended when a journal was closed is written before it is closed",
    async (fixture) => {
      const make = entriesOf("closing")
      const journal = await fixture.writer()
      await Promise.all([journal.append([make.user("one"), make.user("two")]), journal.close()])
      assert.equal(textsOf(await listOf((await fixture.reader()).entries())), "one two")
    },
  ],
  [
    "JRN-3 a journal has one writer, which others can see; the next one can write when it is closed",
    async (fixture) => {
      assert.equal(await fixture.handle().writerOf(ADDRESS), undefined)
      const journal = await fixture.writer()
      await keeping(journal)
      const opening = () => fixture.handle().open(ADDRESS, { access: "write", create: true })
      await assertRefused(opening, ConversationLockedError, "a second writer")
      const holder = await fixture.handle().writerOf(ADDRESS)
      assert.ok(holder, "writerOf names who has it")
      assert.ok(Number.isFinite(Date.parse(holder.since)), "since is a time")
      await journal.close()
      assert.equal(await fixture.handle().writerOf(ADDRESS), undefined)
      const next = await fixture.writer()
      await journal.close() // the first one's journal, a second time
      await assertRefused(opening, ConversationLockedError, "a third writer, after the first was closed twice")
      await assertRefused(() => journal.append([entriesOf("late").user("late")]), GONE, "the first writer")
      assert.equal(textsOf(await listOf(next.entries())), "kept")
    },
  ],
  [
    "JRN-3 the number of a journal's writer is larger than the one before",
    async (fixture) => {
      let before = 0
      for (const at of upTo(5)) {
        const journal = await fixture.writer()
        assert.ok(
          journal.fence !== undefined && journal.fence > before,
          `writer ${at}: ${journal.fence} after ${before}`,
        )
        const seen = (await fixture.handle().writerOf(ADDRESS))?.fence
        assert.ok(seen === undefined || seen === journal.fence, "writerOf says another number")
        before = journal.fence
        await journal.close()
      }
    },
  ],
  [
    "JRN-3 of many that open a journal at once, one writes at a time, and no entry is lost",
    async (fixture) => {
      const make = entriesOf("contenders")
      const [turns, inside] = [fixture.runs, { count: 0, max: 0 }]
      const contend = async (store: (typeof fixture.handles)[number]) => {
        for (let done = 0; done < turns; ) {
          const journal = await store.open(ADDRESS, { access: "write", create: true }).catch((error: unknown) => {
            if (error instanceof ConversationLockedError) return undefined
            throw error
          })
          if (!journal) {
            await letOthersRun()
            continue
          }
          inside.max = Math.max(inside.max, ++inside.count)
          await journal.append([make.user("turn")])
          await letOthersRun()
          inside.count--
          await journal.close()
          done++
        }
      }
      await Promise.all(fixture.handles.map(contend))
      assert.equal(inside.max, 1, "two had the journal open for writing")
      const read = await listOf((await fixture.reader()).entries())
      assert.equal(read.length, turns * fixture.writers)
    },
  ],
]
