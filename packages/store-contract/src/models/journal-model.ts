/** Random operations on one journal from several handles. After each, the store returns the same as a plain list. */
import assert from "node:assert/strict"
import { handleOf } from "@strata/core/messages"
import type { Entry, Journal } from "@strata/core/store"
import { listOf } from "../assertions.ts"
import { entriesOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, upTo } from "../fixture.ts"

const STEPS = 25
const BLOBS = ["a.txt", "b", "c.bin"]

interface Model {
  readonly entries: Entry[]
  readonly blobs: Map<string, string>
  notes: string | undefined
  checkpoint: unknown
}

const isBoundary = (entry: Entry | undefined) => entry?.type === "system"

/** The entries of the segment with this end. */
function segmentOf(
  { entries }: Model,
  end = entries.length,
): { readonly start: number; readonly entries: readonly Entry[] } {
  let start = Math.max(0, end - 1)
  while (start > 0 && !isBoundary(entries[start])) start--
  return { start, entries: entries.slice(start, end) }
}

export const journalModel: readonly ContractClaim[] = [
  [
    "BEY-12 random operations on a journal: it answers what a plain list answers",
    async (fixture) => {
      for (const run of upTo(fixture.runs)) await oneRun(fixture, run)
    },
  ],
]

async function oneRun(fixture: ContractFixture, run: number): Promise<void> {
  const { random } = fixture
  const address = { ...ADDRESS, id: `run-${run}` }
  const make = entriesOf(`model ${run}`)
  const model: Model = { entries: [], blobs: new Map(), notes: undefined, checkpoint: undefined }
  let journal = await fixture.writer(address, random.pick(fixture.handles))
  const operations: Readonly<Record<string, () => Promise<void>>> = {
    async append() {
      const texts = upTo(random.below(4)).map((at) => `${model.entries.length} ${at} ${"x".repeat(random.below(300))}`)
      const batch = texts.map((text) => (random.chance(0.15) ? make.boundary() : make.user(text)))
      await journal.append(batch, random.chance(0.5) ? { endsTurn: true } : {})
      model.entries.push(...batch)
    },
    async "append at once"() {
      const batches = upTo(3).map((at) => [make.user(`at once ${at}`)])
      await Promise.all(batches.map((batch) => journal.append(batch)))
      model.entries.push(...batches.flat())
    },
    sync: () => journal.sync(),
    async "write a blob"() {
      const [name, text] = [random.pick(BLOBS), `blob ${random.below(1_000)}`]
      await journal.writeBlob(name, text)
      model.blobs.set(name, text)
    },
    async "write notes"() {
      const expected = random.pick([undefined, null, model.notes ?? null, "other"])
      const text = `notes ${random.below(1_000)}`
      const isExpected = expected === undefined || expected === (model.notes ?? null)
      assert.equal(await journal.writeNotes(text, expected), isExpected)
      if (isExpected) model.notes = text
    },
    async "write a checkpoint"() {
      model.checkpoint = { at: random.below(1_000) }
      await journal.writeCheckpoint(model.checkpoint)
    },
    async "open it on another handle"() {
      await journal.close()
      journal = await fixture.writer(address, random.pick(fixture.handles))
    },
  }
  const done: string[] = []
  for (const _ of upTo(STEPS)) {
    const name = random.pick(Object.keys(operations))
    done.push(name)
    await operations[name]!()
    const isOwn = random.chance(0.7)
    const looked = isOwn ? journal : await fixture.reader(address)
    try {
      await compare(fixture, looked, model)
    } catch (error) {
      if (error instanceof Error) error.message += `\nafter: ${done.join(", ")}`
      throw error
    }
    if (!isOwn) await looked.close()
  }
}

async function compare({ random }: ContractFixture, journal: Journal, model: Model): Promise<void> {
  const { entries } = model
  const tail = await journal.tail()
  assert.deepEqual(tail.entries, segmentOf(model).entries, "tail")
  const { checkpoint, tail: resumed } = await journal.resume()
  assert.deepEqual(resumed.entries, tail.entries, "resume")
  assert.deepEqual(checkpoint, isBoundary(tail.entries[0]) ? model.checkpoint : undefined, "the checkpoint of a resume")
  assert.deepEqual(await journal.readCheckpoint(), model.checkpoint, "checkpoint")
  assert.equal(await journal.readNotes(), model.notes, "notes")
  for (const name of BLOBS)
    assert.equal((await journal.readBlob(name))?.toString(), model.blobs.get(name), `blob ${name}`)
  if (entries.length === 0) return
  const [first, last] = [random.below(entries.length), random.below(entries.length)]
  assert.deepEqual(await journal.find(entries[first]!.uuid), entries[first], "find")
  const wanted = [entries[last]!.uuid, "no one", entries[first]!.uuid]
  assert.deepEqual(await journal.findMany(wanted), [entries[last], entries[first]], "findMany")
  assert.deepEqual(await journal.findByHandle(handleOf(entries[first]!.uuid)), [entries[first]], "findByHandle")
  const around = random.below(3)
  const range = await listOf(journal.range({ first: entries[first]!.uuid, last: entries[last]!.uuid, around }))
  const [start, end] = [Math.min(first, last) - around, Math.max(first, last) + around + 1]
  assert.deepEqual(range, entries.slice(Math.max(0, start), end), "range")
  if (random.chance(0.3)) assert.deepEqual(await listOf(journal.entries()), entries, "entries")
  if (random.chance(0.3)) await compareBackwards(journal, model)
}

async function compareBackwards(journal: Journal, model: Model): Promise<void> {
  let expected = segmentOf(model)
  let segment = await journal.tail()
  for (;;) {
    assert.deepEqual(segment.entries, expected.entries, "before")
    const before = await journal.before(segment)
    if (expected.start === 0) return assert.equal(before, undefined, "there is nothing before the first segment")
    expected = segmentOf(model, expected.start)
    assert.ok(before, "there is a segment before")
    segment = before
  }
}
