/** What must be true of names: none leads elsewhere, and one may be as long as it is said to be. */
import assert from "node:assert/strict"
import { InvalidIdError } from "@strata/core"
import { CONSOLIDATE } from "@strata/core/store"
import { listOf, refused } from "../claims.ts"
import { entriesOf, textsOf } from "../entries.ts"
import { type Claim, PROJECT } from "../ground.ts"

const HOSTILE = ["../x", "..", ".", "/etc/passwd", "", "a/b", "a\\b", "a\0b", "x".repeat(1_000), "a\n", "*", "%"]
const HOSTILE_FILES = [...HOSTILE, "a.b.c", ".hidden", "a.", "a/../../x.txt", "x.tx/t"]
const LONG_FILE = `${"x".repeat(200)}.${"y".repeat(200)}`

export const names: readonly Claim[] = [
  [
    "JRN-8 no name of a project, conversation, team, permit or agent can lead elsewhere",
    async (ground) => {
      const store = ground.handle()
      for (const name of HOSTILE) {
        const addresses = [
          { project: PROJECT, id: name },
          { project: name, id: "c" },
          { project: PROJECT, id: "c", under: name },
        ]
        for (const address of addresses) {
          const what = JSON.stringify(address)
          await refused(() => store.open(address, { access: "write", create: true }), InvalidIdError, what)
          await refused(() => store.open(address, { access: "read" }), InvalidIdError, what)
          await refused(() => store.writerOf(address), InvalidIdError, what)
        }
        const what = JSON.stringify(name)
        await refused(() => store.has([{ project: name, id: "c" }]), InvalidIdError, what)
        await refused(() => store.list(name), InvalidIdError, what)
        await refused(() => store.list(PROJECT, { under: name }), InvalidIdError, what)
        await refused(() => store.mailboxes({ project: name, team: "t" }), InvalidIdError, what)
        await refused(() => store.mailboxes({ project: PROJECT, team: name }), InvalidIdError, what)
        await refused(() => store.permit({ project: name, name: "p" }), InvalidIdError, what)
        await refused(() => store.permit({ project: PROJECT, name }), InvalidIdError, what)
        for (const permit of ["p", CONSOLIDATE])
          await refused(
            () => store.permit({ project: PROJECT, name: permit }).take({ id: name, max: 1 }),
            InvalidIdError,
            what,
          )
        await refused(() => store.feed({ project: name }), InvalidIdError, what)
        await refused(() => store.log({ project: name, name: "callers" }), InvalidIdError, what)
        await refused(() => store.memories({ project: name }), InvalidIdError, what)
        await refused(() => store.memories({ agent: name, scope: "user" }), InvalidIdError, what)
        await refused(() => store.memories({ agent: "a", scope: "local", project: name }), InvalidIdError, what)
      }
      assert.deepEqual(await store.list(PROJECT), [])
    },
  ],
  [
    "L1-5 no name of a blob can lead elsewhere",
    async (ground) => {
      const journal = await ground.writer()
      for (const name of [...HOSTILE_FILES, LONG_FILE]) {
        await refused(() => journal.writeBlob(name, "x"), InvalidIdError, JSON.stringify(name))
        await refused(() => journal.readBlob(name), InvalidIdError, JSON.stringify(name))
      }
    },
  ],
  [
    "JRN-8 a name may be as long as it is said to be, and capital letters count",
    async (ground) => {
      const address = { project: "p".repeat(220), id: "c".repeat(220) }
      const journal = await ground.writer(address)
      await journal.append([entriesOf("long").user("long")])
      await journal.writeCheckpoint({})
      await journal.writeBlob(`${"b".repeat(200)}.txt`, "x")
      await journal.close()
      assert.equal(textsOf(await listOf((await ground.reader(address)).entries())), "long")
      const dashes = await ground.writer({ project: "-a_B-9", id: "-_-" })
      await dashes.append([entriesOf("dashes").user("dashes")])
      assert.deepEqual(await ground.handle().has([{ project: "-a_B-9", id: "-_-" }]), [true])
    },
  ],
]
