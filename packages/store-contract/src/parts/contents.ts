/** Requirements of a store's contents when they are exported, imported and erased. */

import assert from "node:assert/strict"
import { InvalidIdError } from "@strata/core"
import { ConversationLockedError } from "@strata/core/base"
import type { Store } from "@strata/core/store"
import {
  type ContentAddress,
  ContentDiffersError,
  contentName,
  dailyBudgetIn,
  encodeLine,
  memoryStore,
  moveContents,
} from "@strata/core/store"
import { assertRefused, listOf } from "../assertions.ts"
import { entriesOf, sketched, textsOf } from "../entries.ts"
import { ADDRESS, type ContractClaim, type ContractFixture, PROJECT } from "../fixture.ts"

const JOURNAL: ContentAddress = { kind: "journal", ...ADDRESS }
const DAY = "2026-11-17"
const LINE = Buffer.from("no entry\n")

/** All contents with their bytes, by name. */
export async function everythingIn(store: Store): Promise<ReadonlyMap<string, string>> {
  const contents = store.contents()
  const all = new Map<string, string>()
  for (const { address, lines, files, touched } of await listOf(contents.list())) {
    const name = contentName(address)
    if (lines !== undefined) all.set(`${name}:`, (await linesOf(store, address)).toString("latin1"))
    for (const [file, data] of await contents.files(
      address,
      files.map((one) => one.name),
    ))
      all.set(`${name}: ${file}`, data.toString("latin1"))
    for (const { name: file, modified } of files)
      if (modified !== undefined) all.set(`${name}: ${file}: time`, modified)
    if (address.kind === "journal") all.set(`${name}: time`, touched ?? "")
  }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export async function linesOf(store: Store, address: ContentAddress): Promise<Buffer> {
  const found: Buffer[] = []
  for (let at = 0; ; at += found.at(-1)!.length) {
    const bytes = await store.contents().lines(address, at)
    if (bytes.length === 0) return Buffer.concat(found)
    assert.equal(bytes.at(-1), 0x0a, "whole lines are given out")
    found.push(bytes)
  }
}

/** Writes every kind of content that the port supports. */
async function fill(fixture: ContractFixture): Promise<void> {
  const store = fixture.handle()
  const make = entriesOf("contents")
  const agent = { project: PROJECT, id: "agent", under: ADDRESS.id }
  for (const address of [ADDRESS, agent, { project: "other_owner_1", id: "x" }]) {
    const journal = await fixture.writer(address, store)
    await journal.append(sketched(make, "one two | three 四"))
    await journal.writeBlob("result.bin", Buffer.from([0, 255, 10, 13, 128]))
    await journal.writeNotes("# Notizen 四\n")
    await journal.writeCheckpoint({ at: "四" })
    await journal.close()
  }
  const namespaces = [
    ...[
      { project: PROJECT },
      { project: PROJECT, collection: "dreams" },
      { project: PROJECT, collection: "directories" },
    ],
    ...[
      { agent: "reviewer", scope: "user" },
      { agent: "reviewer", scope: "local", project: PROJECT },
    ],
  ] as const
  for (const namespace of namespaces)
    await store.memories(namespace).install([
      { path: "发布流程.md", text: `四 ${JSON.stringify(namespace)}` },
      { path: ".history/1.json", text: "{}" },
      { path: ".state.json", text: "1" },
    ])
  await store.memories({ shared: true }).install([{ path: "limits.json", text: "{}" }])
  const mailbox = store.mailboxes({ project: PROJECT, team: "team" })
  const member = await mailbox.join({ name: "a", conversation: ADDRESS.id })
  for (const text of ["first", "zweite 四"]) await mailbox.send({ from: "b", to: ["a"], content: { text } })
  const { messages } = await mailbox.read(undefined)
  await mailbox.send({ from: "a", to: ["b"], content: { text: "third" } })
  await member.leave(messages[0]!.cursor)
  await mailbox.close()
  await store.log({ project: PROJECT, name: "callers" }).append('{"line":"四"}')
  await dailyBudgetIn(store.memories({ project: PROJECT })).add(1.25, DAY)
}

async function eraseAll(store: Store): Promise<void> {
  for (const { address } of await listOf(store.contents().list())) await store.contents().erase(address)
}

export const contents: readonly ContractClaim[] = [
  [
    "BEY-12 the contents of a store are imported by another and come back byte for byte, and everything works with them",
    async (fixture) => {
      assert.deepEqual([...(await everythingIn(fixture.handle()))], [], "nothing is kept at first")
      await fill(fixture)
      const before = await everythingIn(fixture.handle())
      assert.ok(before.size > 20, `everything is listed: ${[...before.keys()].join(", ")}`)
      const other = memoryStore()
      const moved = await moveContents({ from: fixture.handle(), to: other })
      assert.deepEqual(moved.refused, [])
      assert.deepEqual([...(await everythingIn(other))], [...before])
      await eraseAll(fixture.handle())
      assert.deepEqual([...(await everythingIn(fixture.handle()))], [], "everything was erased")
      const back = await moveContents({ from: other, to: fixture.handle() })
      assert.deepEqual(back.refused, [])
      assert.equal(back.sha256, moved.sha256)
      assert.deepEqual([...(await everythingIn(fixture.handle()))], [...before])
      await goesOn(fixture)
      await goesOn({ ...fixture, handle: () => other })
    },
  ],
  [
    "BEY-12 lines that are no entries, damaged lines, long lines and binary files are stored unchanged",
    async (fixture) => {
      const make = entriesOf("raw")
      const [one, two] = sketched(make, "one two")
      const journal = await fixture.writer()
      await journal.append([one!])
      await journal.close()
      const at = (await linesOf(fixture.handle(), JOURNAL)).length
      const damaged = encodeLine(two!)
      damaged[40] = 0
      const long = encodeLine(make.user("x".repeat(2 * 1024 * 1024)))
      const data = Buffer.concat([
        damaged,
        LINE,
        Buffer.from([255, 0, 254, 10]),
        Buffer.from("\n"),
        long,
        encodeLine(make.user("end")),
      ])
      const blob = Buffer.from([0, 1, 2, 253, 254, 255])
      const contents = fixture.handle().contents()
      await contents.write(JOURNAL, { lines: { at, data }, files: [{ name: "blob/binary.bin", data: blob }] })
      assert.ok((await linesOf(fixture.handle(), JOURNAL)).subarray(at).equals(data))
      const reader = await fixture.reader()
      const entries = await listOf(reader.entries())
      assert.equal(entries.length, 3)
      assert.equal(textsOf([entries[0]!, entries[2]!]), "one end")
      assert.deepEqual(await reader.readBlob("binary.bin"), blob)
      const written = await fixture.writer()
      await written.append(sketched(make, "after"))
      assert.equal(textsOf([(await listOf(written.entries())).at(-1)!]), "after")
    },
  ],
  [
    "BEY-12 an empty journal is preserved as one",
    async (fixture) => {
      const address = { ...JOURNAL, id: "empty" } as const
      await fixture
        .handle()
        .contents()
        .write(address, { lines: { at: 0, data: Buffer.alloc(0) } })
      const [found] = await listOf(fixture.handle().contents().list())
      assert.equal(found?.lines, 0)
      assert.deepEqual(await fixture.handle().has([address]), [true])
    },
  ],
  [
    "BEY-12 nothing is written into a journal that someone has open, and nothing of it is erased",
    async (fixture) => {
      const journal = await fixture.writer({ project: PROJECT, id: "agent", under: ADDRESS.id })
      const owner = await fixture.writer()
      await owner.append(sketched(entriesOf("open"), "one"))
      await owner.close()
      const contents = fixture.handle().contents()
      const agent = { kind: "journal", ...journal.address } as const
      const write = () => contents.write(agent, { lines: { at: 0, data: LINE } })
      await assertRefused(write, ConversationLockedError, "a write into an open journal")
      await assertRefused(() => contents.erase(agent), ConversationLockedError, "erasing an open journal")
      await assertRefused(
        () => contents.erase(JOURNAL),
        ConversationLockedError,
        "erasing the conversation of an open one",
      )
      assert.deepEqual(await fixture.handle().has([ADDRESS, journal.address]), [true, true])
      const open = (await listOf(contents.list())).filter(({ isOpen }) => isOpen)
      assert.deepEqual(
        open.map(({ address }) => contentName(address)),
        [contentName(agent)],
      )
      await journal.close()
      await contents.erase(JOURNAL)
      assert.deepEqual(await fixture.handle().has([ADDRESS, journal.address]), [false, false])
    },
  ],
  [
    "BEY-12 what is something else is not overwritten, and nothing of such a write is stored",
    async (fixture) => {
      const contents = fixture.handle().contents()
      const files = [{ name: "notes", data: Buffer.from("one") }]
      await contents.write(JOURNAL, { lines: { at: 0, data: LINE }, files })
      const other = { lines: { at: LINE.length, data: LINE }, files: [{ name: "notes", data: Buffer.from("two") }] }
      await assertRefused(() => contents.write(JOURNAL, other), ContentDiffersError, "other notes")
      await assertRefused(
        () => contents.write(JOURNAL, { lines: { at: 3, data: LINE } }),
        ContentDiffersError,
        "another size",
      )
      assert.ok((await linesOf(fixture.handle(), JOURNAL)).equals(LINE))
      assert.equal((await contents.files(JOURNAL, ["notes"])).get("notes")?.toString(), "one")
      await contents.write(JOURNAL, { files: [{ ...other.files[0]!, replaces: true }] })
      assert.equal((await contents.files(JOURNAL, ["notes"])).get("notes")?.toString(), "two")
      const namespace: ContentAddress = { kind: "memories", namespace: { project: PROJECT } }
      await contents.write(namespace, { files: [{ name: "a.md", data: Buffer.from("one") }] })
      const changed = [
        { name: "b.md", data: Buffer.from("x") },
        { name: "a.md", data: Buffer.from("two") },
      ]
      await assertRefused(() => contents.write(namespace, { files: changed }), ContentDiffersError, "another memory")
      assert.deepEqual([...(await contents.files(namespace, ["a.md", "b.md"])).keys()], ["a.md"])
      await contents.erase(namespace, ["a.md"])
      assert.deepEqual([...(await contents.files(namespace, ["a.md", "b.md"])).keys()], [])
    },
  ],
  [
    "JRN-8 no name of a content can lead elsewhere",
    async (fixture) => {
      const contents = fixture.handle().contents()
      const data = Buffer.from("x")
      for (const name of ["../x", "", "a/b", "a\0b", ".."]) {
        const write = (address: ContentAddress) => () => contents.write(address, { files: [{ name: "notes", data }] })
        await assertRefused(write({ kind: "journal", project: name, id: "a" }), InvalidIdError, name)
        await assertRefused(write({ kind: "journal", project: PROJECT, id: name }), InvalidIdError, name)
        await assertRefused(write({ kind: "memories", namespace: { project: name } }), InvalidIdError, name)
        const blob = () => contents.write(JOURNAL, { files: [{ name: `blob/${name}`, data }] })
        await assertRefused(blob, InvalidIdError, name)
      }
      assert.deepEqual(await listOf(contents.list()), [])
    },
  ],
]

/** Asserts that conversations, memories and teams work in this store. */
async function goesOn(fixture: Pick<ContractFixture, "handle">): Promise<void> {
  const store = fixture.handle()
  const journal = await store.open(ADDRESS, { access: "write" })
  const resumed = await journal.resume()
  assert.equal(textsOf(resumed.tail.entries), "| three 四")
  assert.deepEqual(resumed.checkpoint, { at: "四" })
  await journal.append(sketched(entriesOf("goes on"), "four"))
  assert.equal(textsOf(await listOf(journal.entries())), "one two | three 四 four")
  await journal.close()
  assert.equal((await store.list(PROJECT))[0]?.firstWords, "one")
  const mailbox = store.mailboxes({ project: PROJECT, team: "team" })
  const member = await mailbox.join({ name: "a", conversation: ADDRESS.id })
  const unread = await mailbox.read(member.cursor)
  assert.deepEqual(
    unread.messages.map(({ content }) => content.text),
    ["zweite 四", "third"],
  )
  const sent = await mailbox.send({ from: "b", to: ["a"], content: { text: "fourth" } })
  assert.equal(sent.sequence, 3)
  assert.deepEqual(
    (await mailbox.read(unread.cursor)).messages.map(({ content }) => content.text),
    ["fourth"],
  )
  await member.leave()
  await mailbox.close()
  assert.equal(await dailyBudgetIn(store.memories({ project: PROJECT })).add(0.75, DAY), 2)
  assert.deepEqual(await store.log({ project: PROJECT, name: "callers" }).read(), ['{"line":"四"}'])
}
