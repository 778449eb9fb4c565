/** Requirements of data that belongs to a journal: blobs, checkpoints, notes, and requests in flight. */
import assert from "node:assert/strict"
import type { Journal } from "@strata/core/store"
import { letOthersRun, listOf } from "../assertions.ts"
import { DIFFICULT_TEXTS, entriesOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, upTo } from "../fixture.ts"

export const journalAttachments: readonly ContractClaim[] = [
  [
    "L1-5 blobs come back byte for byte, are replaced whole, and are not there before",
    async (fixture) => {
      const journal = await fixture.writer()
      assert.equal(await journal.readBlob("toolu_1.txt"), undefined)
      assert.equal((await journal.writeBlob("toolu_1.txt", "grün")).bytes, 5)
      assert.equal((await journal.readBlob("toolu_1.txt"))?.toString(), "grün")
      const bytes = Uint8Array.from([0, 255, 10, 13])
      assert.equal((await journal.writeBlob("toolu_1.txt", bytes)).bytes, 4)
      assert.deepEqual([...(await journal.readBlob("toolu_1.txt"))!], [...bytes])
      for (const [at, text] of DIFFICULT_TEXTS.entries()) await journal.writeBlob(`text-${at}`, text)
      await journal.append([entriesOf("blobs").user("x")])
      await journal.close()
      const reader = await fixture.reader()
      for (const [at, text] of DIFFICULT_TEXTS.entries())
        assert.ok((await reader.readBlob(`text-${at}`))?.equals(Buffer.from(text)), `text ${at}`)
      const other = await fixture.writer({ ...ADDRESS, id: "other" })
      assert.equal(await other.readBlob("toolu_1.txt"), undefined, "a blob belongs to one conversation")
    },
  ],
  [
    "L1-5 many callers write blobs at once: each is whole",
    async (fixture) => {
      const journal = await fixture.writer()
      const textOf = (at: number) => `${at} `.repeat(20_000 + at * 1_000)
      await Promise.all(
        upTo(fixture.writers).flatMap((at) => [
          journal.writeBlob(`own-${at}.txt`, textOf(at)),
          journal.writeBlob("shared.txt", textOf(at)),
        ]),
      )
      const texts = upTo(fixture.writers).map(textOf)
      for (const at of upTo(fixture.writers))
        assert.ok((await journal.readBlob(`own-${at}.txt`))?.equals(Buffer.from(texts[at]!)), `blob ${at}`)
      const shared = (await journal.readBlob("shared.txt"))?.toString()
      assert.ok(shared !== undefined && texts.includes(shared), "the shared one is that of one caller")
    },
  ],
  [
    "JRN-4 the checkpoint is the one written last, and plain JSON",
    async (fixture) => {
      const journal = await fixture.writer()
      assert.equal(await journal.readCheckpoint(), undefined)
      const values = [
        { a: [1, { b: "a\u0000b \ud83d" }], c: null },
        ["list"],
        { later: true, text: "x".repeat(200_000) },
      ]
      for (const value of values) {
        await journal.writeCheckpoint(value)
        assert.deepEqual(await journal.readCheckpoint(), value)
      }
      await journal.append([entriesOf("checkpoints").user("x")])
      await journal.close()
      assert.deepEqual(await (await fixture.reader()).readCheckpoint(), values.at(-1))
    },
  ],
  [
    "L3-7 notes are written whole, and only over the text that is expected",
    async (fixture) => {
      const journal = await fixture.writer()
      assert.equal(await journal.readNotes(), undefined)
      assert.equal(await journal.writeNotes("too early", "something"), false)
      assert.equal(await journal.readNotes(), undefined)
      assert.equal(await journal.writeNotes("first", null), true)
      assert.equal(await journal.writeNotes("second", null), false)
      assert.equal(await journal.writeNotes("second", "other"), false)
      assert.equal(await journal.readNotes(), "first")
      assert.equal(await journal.writeNotes("second", "first"), true)
      for (const text of DIFFICULT_TEXTS) {
        assert.equal(await journal.writeNotes(text), true)
        assert.ok((await journal.readNotes()) === text.toWellFormed(), `notes of ${text.length} characters`)
      }
      await journal.writeNotes("last")
      await journal.append([entriesOf("notes").user("x")])
      await journal.close()
      assert.equal(await (await fixture.reader()).readNotes(), "last")
    },
  ],
  [
    "L3-7 many callers change the notes at once: no change is lost",
    async (fixture) => {
      const journal = await fixture.writer()
      const turns = 2 * fixture.runs
      await Promise.all(upTo(fixture.writers).map(() => addToNotes(journal, turns)))
      assert.equal(await journal.readNotes(), String(turns * fixture.writers))
    },
  ],
  [
    "BEY-12 a request in flight is known to the next who opens the journal, until its cost is in the journal",
    async (fixture) => {
      const journal = await fixture.writer()
      await journal.append([entriesOf("in flight").user("x")])
      if (!journal.inFlight) return // optional for a store
      const usage = { input_tokens: 10, output_tokens: 1 }
      const request = (id: string) => ({ id, purpose: "main", model: "m", usage }) as const
      assert.deepEqual(journal.inFlight.unsettled(), [])
      for (const id of ["one", "two"]) journal.inFlight.sent(request(id))
      journal.inFlight.finished("one")
      await journal.close()
      const next = await fixture.writer()
      assert.deepEqual(next.inFlight?.unsettled(), [request("two")])
      next.inFlight?.clear()
      await next.close()
      assert.deepEqual((await fixture.writer()).inFlight?.unsettled(), [])
      assert.equal((await listOf((await fixture.reader()).entries())).length, 1)
    },
  ],
]

async function addToNotes(journal: Journal, turns: number): Promise<void> {
  for (let done = 0; done < turns; ) {
    const before = await journal.readNotes()
    if (await journal.writeNotes(String(Number(before ?? 0) + 1), before ?? null)) done++
    else await letOthersRun()
  }
}
