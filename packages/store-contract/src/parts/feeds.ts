/** Requirements of feeds: which journals have grown, and their raw lines. */
import assert from "node:assert/strict"
import type { AppendedLines, FeedLine } from "@strata/core/store"
import { decodeLine } from "@strata/core/store"
import { eventually, listOf } from "../assertions.ts"
import { DIFFICULT_TEXTS, entriesOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, PROJECT } from "../fixture.ts"

const NAMESPACE = { project: PROJECT }
const make = entriesOf("feeds")

function feedOf(
  fixture: ContractFixture,
  store = fixture.handle(),
  namespace: { project: string; under?: string } = NAMESPACE,
) {
  const feed = store.feed(namespace)
  fixture.onCleanup(() => feed.close())
  return feed
}

const uuidsIn = (lines: readonly FeedLine[]) =>
  lines.map(({ bytes }) => (JSON.parse(bytes.toString()) as { readonly uuid: string }).uuid)

export const feeds: readonly ContractClaim[] = [
  [
    "BEY-12 a feed gives the lines of a journal from an offset on, whole and in order",
    async (fixture) => {
      const feed = feedOf(fixture)
      assert.deepEqual(await listOf(feed.lines(ADDRESS.id, 0)), [])
      const journal = await fixture.writer()
      const entries = [...DIFFICULT_TEXTS.map(make.user), make.boundary(), make.user("last")]
      await journal.append(entries)
      const lines = await listOf(feed.lines(ADDRESS.id, 0))
      assert.deepEqual(
        uuidsIn(lines),
        entries.map(({ uuid }) => uuid),
      )
      assert.ok(lines.every(({ ended, bytes }) => ended && !bytes.includes("\n")))
      const states = new Set(lines.map(({ bytes }) => decodeLine(bytes).state))
      assert.deepEqual([...states], ["whole"], "lines are as encodeLine writes them, or the search leaves them out")
      let offset = 0
      for (const line of lines) {
        assert.equal(line.offset, offset)
        offset += line.bytes.length + 1
      }
      for (const at of [1, 3, lines.length - 1])
        assert.deepEqual(await listOf(feed.lines(ADDRESS.id, lines[at]!.offset)), lines.slice(at))
      assert.deepEqual(await listOf(feed.lines(ADDRESS.id, offset)), [])
      const more = make.user("more")
      await journal.append([more])
      const rest = await listOf(feed.lines(ADDRESS.id, offset))
      assert.deepEqual([uuidsIn(rest), rest[0]?.offset], [[more.uuid], offset])
      for (const id of ["no-one", "../conversation", ""]) assert.deepEqual(await listOf(feed.lines(id, 0)), [], id)
    },
  ],
  [
    "BEY-12 a look names the journals that have grown, with their sizes, and none of another namespace",
    async (fixture) => {
      const feed = feedOf(fixture)
      assert.deepEqual([...(await feed.poll(new Set())).journals], [])
      const addresses = ["one", "two", "three"].map((id) => ({ ...NAMESPACE, id }))
      const journals = await Promise.all(addresses.map((address) => fixture.writer(address)))
      const agent = await fixture.writer({ ...NAMESPACE, id: "agent", under: "one" })
      const elsewhere = await fixture.writer({ project: `${PROJECT}-2`, id: "elsewhere" })
      for (const journal of [...journals, agent, elsewhere]) await journal.append([make.user("first")])
      const sizeOf = async (id: string) => {
        const last = (await listOf(fixture.handle().feed(NAMESPACE).lines(id, 0))).at(-1)!
        return last.offset + last.bytes.length + 1
      }
      const seen = new Map<string, number>()
      const look = async () => {
        const { journals: grown, isAll } = await feed.poll(new Set())
        for (const [id, { bytes }] of grown) seen.set(id, bytes)
        if (isAll) assert.deepEqual([...grown.keys()].toSorted(), ["one", "three", "two"])
      }
      await eventually("the journals are seen", async () => {
        await look()
        return seen.size === 3
      })
      for (const [at, { id }] of [...addresses.entries(), ...addresses.entries()]) {
        await journals[at]!.append([make.user(`more of ${id}`)])
        const size = await sizeOf(id)
        await eventually(`${id} has grown`, async () => {
          await look()
          return seen.get(id) === size
        })
      }
      assert.deepEqual([...seen.keys()].toSorted(), ["one", "three", "two"])
      feed.forget()
      const all = await feed.poll(new Set())
      assert.deepEqual(
        [all.isAll, [...all.journals.keys()].toSorted(), all.deleted],
        [true, ["one", "three", "two"], []],
      )
      const sizes = await feed.sizes(new Set(["one", "two", "no-one", "agent", "elsewhere"]))
      assert.deepEqual([...sizes.keys()].toSorted(), ["one", "two"])
      for (const [id, { bytes, touched }] of sizes) {
        assert.equal(bytes, await sizeOf(id))
        assert.ok(Number.isFinite(touched))
      }
      const ofAgents = await feedOf(fixture, fixture.handle(), { ...NAMESPACE, under: "one" }).poll(new Set())
      assert.deepEqual([...ofAgents.journals.keys()], ["agent"])
    },
  ],
  [
    "BEY-12 a feed calls back with what is appended, as it is in the journal, until it is ended",
    async (fixture) => {
      const store = fixture.handle()
      const feed = feedOf(fixture, store)
      const appended: AppendedLines[] = []
      const end = feed.onAppended((lines) => appended.push(lines))
      const journal = await fixture.writer(ADDRESS, store)
      await journal.append([make.user("one"), make.user("two")])
      await journal.append([make.user("three")])
      const agent = await fixture.writer({ ...NAMESPACE, id: "agent", under: ADDRESS.id }, store)
      await agent.append([make.user("of an agent")])
      end()
      await journal.append([make.user("not heard")])
      const lines = await listOf(feed.lines(ADDRESS.id, 0))
      const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes, Buffer.from("\n")]))
      let from = 0
      for (const one of appended) {
        assert.deepEqual([one.conversation, one.from], [ADDRESS.id, from])
        from += one.bytes.length
      }
      assert.ok(Buffer.concat(appended.map((one) => one.bytes)).equals(bytes.subarray(0, lines[3]!.offset)))
    },
  ],
]
