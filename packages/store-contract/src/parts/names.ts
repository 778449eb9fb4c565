/** Requirements of names: none addresses other data, and names up to the documented length work. */
import assert from "node:assert/strict"
import { InvalidIdError } from "@strata/core"
import { CONSOLIDATE } from "@strata/core/store"
import { assertRefused, listOf } from "../assertions.ts"
import { entriesOf, textsOf } from "../entries.ts"
import { type ContractClaim, PROJECT } from "../fixture.ts"

const HOSTILE = ["../x", "..", ".", "/etc/passwd", "", "a/b", "a\\b", "a\0b", "x".repeat(1_000), "a\n", "*", "%"]
const HOSTILE_FILES = [...HOSTILE, "a.b.c", ".hidden", "a.", "a/../../x.txt", "x.tx/t"]
const LONG_FILE = `${"x".repeat(200)}.${"y".repeat(200)}`

export const names: readonly ContractClaim[] = [
  [
    "JRN-8 no name of a project, conversation, team, permit or agent can lead elsewhere",
    async (fixture) => {
      const store = fixture.handle()
      for (const name of HOSTILE) {
        const addresses = [
          { project: PROJECT, id: name },
          { project: name, id: "c" },
          { project: PROJECT, id: "c", under: name },
        ]
        for (const address of addresses) {
          const what = JSON.stringify(address)
          await assertRefused(() => store.open(address, { access: "write", create: true }), InvalidIdError, what)
          await assertRefused(() => store.open(address, { access: "read" }), InvalidIdError, what)
          await assertRefused(() => store.writerOf(address), InvalidIdError, what)
        }
        const what = JSON.stringify(name)
        await assertRefused(() => store.has([{ project: name, id: "c" }]), InvalidIdError, what)
        await assertRefused(() => store.list(name), InvalidIdError, what)
        await assertRefused(() => store.list(PROJECT, { under: name }), InvalidIdError, what)
        await assertRefused(() => store.mailboxes({ project: name, team: "t" }), InvalidIdError, what)
        await assertRefused(() => store.mailboxes({ project: PROJECT, team: name }), InvalidIdError, what)
        await assertRefused(() => store.permit({ project: name, name: "p" }), InvalidIdError, what)
        await assertRefused(() => store.permit({ project: PROJECT, name }), InvalidIdError, what)
        for (const permit of ["p", CONSOLIDATE])
          await assertRefused(
            () => store.permit({ project: PROJECT, name: permit }).take({ id: name, max: 1 }),
            InvalidIdError,
            what,
          )
        await assertRefused(() => store.feed({ project: name }), InvalidIdError, what)
        await assertRefused(() => store.log({ project: name, name: "callers" }), InvalidIdError, what)
        await assertRefused(() => store.memories({ project: name }), InvalidIdError, what)
        await assertRefused(() => store.memories({ agent: name, scope: "user" }), InvalidIdError, what)
        await assertRefused(() => store.memories({ agent: "a", scope: "local", project: name }), InvalidIdError, what)
      }
      assert.deepEqual(await store.list(PROJECT), [])
    },
  ],
  [
    "L1-5 no name of a blob can lead elsewhere",
    async (fixture) => {
      const journal = await fixture.writer()
      for (const name of [...HOSTILE_FILES, LONG_FILE]) {
        await assertRefused(() => journal.writeBlob(name, "x"), InvalidIdError, JSON.stringify(name))
        await assertRefused(() => journal.readBlob(name), InvalidIdError, JSON.stringify(name))
      }
    },
  ],
  [
    "JRN-8 a name may be as long as documented, and capital letters count",
    async (fixture) => {
      const address = { project: "p".repeat(220), id: "c".repeat(220) }
      const journal = await fixture.writer(address)
      await journal.append([entriesOf("long").user("long")])
      await journal.writeCheckpoint({})
      await journal.writeBlob(`${"b".repeat(200)}.txt`, "x")
      await journal.close()
      assert.equal(textsOf(await listOf((await fixture.reader(address)).entries())), "long")
      const dashes = await fixture.writer({ project: "-a_B-9", id: "-_-" })
      await dashes.append([entriesOf("dashes").user("dashes")])
      assert.deepEqual(await fixture.handle().has([{ project: "-a_B-9", id: "-_-" }]), [true])
    },
  ],
]
