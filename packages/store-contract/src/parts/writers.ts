/** What must be true of who writes to a journal: one at a time, and nothing after the end. */
import assert from "node:assert/strict"
import { ClosedError } from "@strata/core"
import { ConversationLockedError, LockLostError } from "@strata/core/base"
import type { Journal } from "@strata/core/store"
import { failureOf, listOf, others, refused } from "../claims.ts"
import { entriesOf, textsOf } from "../entries.ts"
import { ADDRESS, type Claim, type Ground, upTo } from "../ground.ts"

const GONE = [ClosedError, LockLostError]

/** Who is not the writer changes nothing. */
async function writesNothing(ground: Ground, journal: Journal, what: string): Promise<void> {
  await refused(() => journal.append([entriesOf(what).user("too late")]), GONE, `${what} appends`)
  await refused(() => journal.writeBlob("late.txt", "too late"), GONE, `${what} writes a blob`)
  await refused(() => journal.writeNotes("too late"), GONE, `${what} writes notes`)
  await failureOf(() => journal.writeCheckpoint({ text: "too late" }))
  const reader = await ground.reader()
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

export const writers: readonly Claim[] = [
  [
    "JRN-3 a reader takes no lock and cannot write",
    async (ground) => {
      const writer = await ground.writer()
      await keeping(writer)
      const reader = await ground.reader()
      assert.equal(reader.fence, undefined)
      await writesNothing(ground, reader, "a reader")
      await reader.close()
      await writer.append([entriesOf("goes on").user("goes on")])
      assert.equal(textsOf(await listOf(writer.entries())), "kept goes on")
    },
  ],
  [
    "JRN-3 a journal that is closed takes nothing, gives nothing and says so; closing again is nothing",
    async (ground) => {
      const journal = await ground.writer()
      await keeping(journal)
      const [entry] = await listOf(journal.entries())
      await journal.close()
      await journal.close()
      await refused(() => journal.tail(), ClosedError, "the tail")
      await refused(() => journal.find(entry!.uuid), ClosedError, "find")
      await refused(() => listOf(journal.entries()), ClosedError, "the entries")
      await writesNothing(ground, journal, "a closed journal")
    },
  ],
  [
    "JRN-3 what was appended when a journal was closed is written before it is closed",
    async (ground) => {
      const make = entriesOf("closing")
      const journal = await ground.writer()
      await Promise.all([journal.append([make.user("one"), make.user("two")]), journal.close()])
      assert.equal(textsOf(await listOf((await ground.reader()).entries())), "one two")
    },
  ],
  [
    "JRN-3 a journal has one writer, which others can see; the next one can write when it is closed",
    async (ground) => {
      assert.equal(await ground.handle().writerOf(ADDRESS), undefined)
      const journal = await ground.writer()
      await keeping(journal)
      const opening = () => ground.handle().open(ADDRESS, { access: "write", create: true })
      await refused(opening, ConversationLockedError, "a second writer")
      const holder = await ground.handle().writerOf(ADDRESS)
      assert.ok(holder, "writerOf names who has it")
      assert.ok(Number.isFinite(Date.parse(holder.since)), "since is a time")
      await journal.close()
      assert.equal(await ground.handle().writerOf(ADDRESS), undefined)
      const next = await ground.writer()
      await journal.close() // of the first, again
      await refused(opening, ConversationLockedError, "a third writer, after the first was closed twice")
      await refused(() => journal.append([entriesOf("late").user("late")]), GONE, "the first writer")
      assert.equal(textsOf(await listOf(next.entries())), "kept")
    },
  ],
  [
    "JRN-3 the number of a journal's writer is larger than the one before",
    async (ground) => {
      let before = 0
      for (const at of upTo(5)) {
        const journal = await ground.writer()
        assert.ok(
          journal.fence !== undefined && journal.fence > before,
          `writer ${at}: ${journal.fence} after ${before}`,
        )
        const seen = (await ground.handle().writerOf(ADDRESS))?.fence
        assert.ok(seen === undefined || seen === journal.fence, "writerOf says another number")
        before = journal.fence
        await journal.close()
      }
    },
  ],
  [
    "JRN-3 of many that open a journal at once, one writes at a time, and no entry is lost",
    async (ground) => {
      const make = entriesOf("contenders")
      const [turns, inside] = [ground.runs, { count: 0, max: 0 }]
      const contend = async (store: (typeof ground.handles)[number]) => {
        for (let done = 0; done < turns; ) {
          const journal = await store.open(ADDRESS, { access: "write", create: true }).catch((error: unknown) => {
            if (error instanceof ConversationLockedError) return undefined
            throw error
          })
          if (!journal) {
            await others()
            continue
          }
          inside.max = Math.max(inside.max, ++inside.count)
          await journal.append([make.user("turn")])
          await others()
          inside.count--
          await journal.close()
          done++
        }
      }
      await Promise.all(ground.handles.map(contend))
      assert.equal(inside.max, 1, "two had the journal open for writing")
      const read = await listOf((await ground.reader()).entries())
      assert.equal(read.length, turns * ground.writers)
    },
  ],
]
