/** Requirements of writing to a journal: order, atomic batches, and that acknowledged entries are written. */
import assert from "node:assert/strict"
import { ConversationNotFoundError } from "@strata/core/base"
import type { Entry } from "@strata/core/store"
import { assertRefused, failureOf, letOthersRun, listOf } from "../assertions.ts"
import { DIFFICULT_TEXTS, entriesOf, inputTextOf, textOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, upTo } from "../fixture.ts"

async function read(fixture: ContractFixture, address = ADDRESS): Promise<readonly Entry[]> {
  const reader = await fixture.reader(address)
  const entries = await listOf(reader.entries())
  await reader.close()
  return entries
}

export const journalWriting: readonly ContractClaim[] = [
  [
    "JRN-1 a journal gives entries back as they were, in their order, also after it was opened again",
    async (fixture) => {
      const make = entriesOf("as they were")
      const entries = DIFFICULT_TEXTS.map(make.user)
      const journal = await fixture.writer()
      assert.equal(journal.opening.created, true)
      await journal.append(entries.slice(0, 1))
      await journal.append(entries.slice(1), { endsTurn: true })
      await journal.append([])
      assert.deepEqual(await listOf(journal.entries()), entries)
      await journal.close()
      assert.deepEqual(await read(fixture), entries)
      const again = await fixture.writer()
      assert.equal(again.opening.created, false)
      const more = make.user("more")
      await again.append([more])
      await again.close()
      assert.deepEqual(await read(fixture), [...entries, more])
    },
  ],
  [
    "JRN-2 a call comes back with its input spelled as the model wrote it",
    async (fixture) => {
      const make = entriesOf("exact inputs")
      const texts = ['{"n":1.0}', '{ "n": 12345678901234567890 }', '{"b":1,"2":0,"1":0}', '{"n":1e2,"t":"\\u00fc"}']
      const entries = texts.map((text, at) => make.call(`toolu_${at}`, text))
      const journal = await fixture.writer()
      await journal.append(entries)
      const inputs = (all: readonly Entry[]) => all.map(inputTextOf)
      assert.deepEqual(inputs(await listOf(journal.entries())), texts)
      await journal.close()
      const reader = await fixture.reader()
      assert.deepEqual(inputs((await reader.tail()).entries), texts)
      assert.deepEqual(inputs(await reader.findMany(entries.map(({ uuid }) => uuid))), texts)
    },
  ],
  [
    "JRN-1 several callers at once: entries are in the order of the calls, and no batch is torn apart",
    async (fixture) => {
      const make = entriesOf("several callers")
      const batches = upTo(fixture.writers * 10).map((at) => [make.user(`${at} first`), make.user(`${at} second`)])
      const journal = await fixture.writer()
      await Promise.all(batches.map((batch) => journal.append(batch)))
      assert.deepEqual(await listOf(journal.entries()), batches.flat())
      assert.deepEqual(await read(fixture), batches.flat())
    },
  ],
  [
    "JRN-1 many journals are written at once, and none has an entry of another",
    async (fixture) => {
      const written = await Promise.all(
        fixture.handles.map(async (store, writer) => {
          const make = entriesOf(`journal ${writer}`)
          const address = { ...ADDRESS, id: `conversation-${writer}` }
          const entries = upTo(20).map((at) => make.user(`${writer} ${at}`))
          const journal = await fixture.writer(address, store)
          for (const entry of entries) await journal.append([entry])
          return { address, entries }
        }),
      )
      for (const { address, entries } of written) assert.deepEqual(await read(fixture, address), entries)
    },
  ],
  [
    "JRN-3 an entry that is acknowledged is there for every other handle",
    async (fixture) => {
      const make = entriesOf("acknowledged")
      const journal = await fixture.writer()
      for (const at of upTo(5)) {
        const entry = make.user(`entry ${at}`)
        await journal.append([entry])
        assert.deepEqual((await read(fixture)).at(-1), entry)
      }
      await journal.sync()
      await journal.sync()
      assert.equal((await read(fixture)).length, 5)
    },
  ],
  [
    "JRN-3 a batch that cannot be written leaves nothing of itself, and the next one is written",
    async (fixture) => {
      const make = entriesOf("all or nothing")
      const circular: Record<string, unknown> = {}
      circular.self = circular
      const impossible = { ...make.user("impossible"), toolUseResult: circular } as unknown as Entry
      const journal = await fixture.writer()
      const kept = [make.user("before"), make.user("after")]
      await journal.append(kept.slice(0, 1))
      const error = await failureOf(() =>
        journal.append([...upTo(4).map((at) => make.user(`with it ${at}`)), impossible, make.user("after it")]),
      )
      assert.ok(error !== undefined, "an entry that has no JSON must be refused")
      assert.deepEqual(await listOf(journal.entries()), kept.slice(0, 1))
      await journal.append(kept.slice(1))
      assert.deepEqual(await listOf(journal.entries()), kept)
      await journal.close()
      assert.deepEqual(await read(fixture), kept)
    },
  ],
  [
    "JRN-3 a reader next to a writer sees whole entries from the first on, and all that were acknowledged before",
    async (fixture) => {
      const make = entriesOf("next to a writer")
      const entries = upTo(40).map((at) => make.user(`${at} ${"x".repeat(at * 50)}`))
      const journal = await fixture.writer()
      await journal.append(entries.slice(0, 1))
      let acknowledged = 1
      const writing = (async () => {
        for (const entry of entries.slice(1)) {
          await journal.append([entry])
          acknowledged++
          await letOthersRun()
        }
      })()
      const readings = upTo(4).map(async () => {
        while (acknowledged < entries.length) {
          const min = acknowledged
          const seen = await read(fixture)
          assert.deepEqual(seen.map(textOf), entries.slice(0, seen.length).map(textOf))
          assert.ok(seen.length >= min, `${min} were acknowledged, and ${seen.length} are there`)
          await letOthersRun()
        }
      })
      await Promise.all([writing, ...readings])
      assert.deepEqual(await read(fixture), entries)
    },
  ],
  [
    "JRN-3 what is not there is not found, and not made",
    async (fixture) => {
      for (const access of ["read", "write"] as const)
        await assertRefused(() => fixture.handle().open(ADDRESS, { access }), ConversationNotFoundError, access)
      const creating = { access: "read", create: true } as const
      await assertRefused(
        () => fixture.handle().open(ADDRESS, creating),
        ConversationNotFoundError,
        "a reader that creates",
      )
      assert.deepEqual(await fixture.handle().has([ADDRESS]), [false])
      assert.deepEqual(await fixture.handle().list(ADDRESS.project), [])
    },
  ],
]
