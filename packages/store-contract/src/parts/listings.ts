/** Requirements of journal lists, and of the query whether a journal exists. */
import assert from "node:assert/strict"
import { eventually } from "../assertions.ts"
import { entriesOf } from "../entries.ts"
import { type ContractClaim, PROJECT } from "../fixture.ts"

const make = entriesOf("listings")

export const listings: readonly ContractClaim[] = [
  [
    "L7-4 a list leaves out the journals of agents, and has those of one conversation",
    async (fixture) => {
      const addresses = [
        ...[{ id: "one" }, { id: "two" }],
        ...[
          { id: "agent-1", under: "one" },
          { id: "agent-2", under: "one" },
          { id: "agent-1", under: "two" },
        ],
      ]
      for (const address of addresses) {
        const journal = await fixture.writer({ project: PROJECT, ...address })
        await journal.append([make.user(`${address.id} of ${address.under ?? "no one"}`)])
        await journal.close()
      }
      const elsewhere = await fixture.writer({ project: `${PROJECT}-2`, id: "one" })
      await elsewhere.append([make.user("of another project")])
      const listed = async (under?: string) => {
        const listing = await fixture.handle().list(PROJECT, under === undefined ? {} : { under })
        return listing.map(({ firstWords }) => firstWords).sort()
      }
      assert.deepEqual(await listed(), ["one of no one", "two of no one"])
      assert.deepEqual(await listed("one"), ["agent-1 of one", "agent-2 of one"])
      assert.deepEqual(await listed("two"), ["agent-1 of two"])
      assert.deepEqual(await listed("three"), [])
    },
  ],
  [
    "BEY-12 a list has nothing of another project or owner, also where one name begins like another",
    async (fixture) => {
      const projects = ["work", "work-2", "work_2", "Work-3", "work__0123456789abcdef", "wor"]
      for (const project of projects) {
        const journal = await fixture.writer({ project, id: `of-${project}` })
        await journal.append([make.user(project)])
        await journal.close()
      }
      for (const project of projects)
        for (const isBare of [true, false]) {
          const ids = (await fixture.handle().list(project, { isBare })).map(({ id }) => id)
          assert.deepEqual(ids, [`of-${project}`])
        }
      for (const id of projects.map((project) => `of-${project}`)) {
        const isThere = await fixture.handle().has(projects.map((project) => ({ project, id })))
        assert.deepEqual(
          isThere,
          projects.map((project) => id === `of-${project}`),
        )
      }
    },
  ],
  [
    "BEY-12 all projects with conversations are named, each once, in the order of their names",
    async (fixture) => {
      assert.deepEqual(await fixture.handle().projects(), [])
      await fixture
        .handle()
        .memories({ project: "only-memories" })
        .install([{ path: "a.md", text: "a", expected: null }])
      const addresses = [
        ...[{ project: "work" }, { project: "Work-3" }, { project: "work__0123456789abcdef" }, { project: "work" }],
        ...[{ project: "a" }, { project: "only-agents", under: "gone" }],
      ].map((namespace, at) => ({ ...namespace, id: `id-${at}` }))
      for (const address of addresses) {
        const journal = await fixture.writer(address)
        await journal.append([make.user(address.id)])
        await journal.close()
      }
      assert.deepEqual(await fixture.handle().projects(), ["Work-3", "a", "work", "work__0123456789abcdef"])
    },
  ],
  [
    "JRN-7 a list has the facts that were written last, else the first words; a bare one has size and time",
    async (fixture) => {
      const journal = await fixture.writer({ project: PROJECT, id: "titled" })
      await journal.append([make.user("Fix the test\nin parser.ts"), make.session({ model: "m", cwd: "/w" })])
      const before = (await fixture.handle().list(PROJECT))[0]
      assert.deepEqual(before?.facts, { model: "m", cwd: "/w" })
      assert.equal(before?.firstWords, "Fix the test")
      await journal.append([make.boundary(), make.session({ model: "m", cwd: "/w", title: "Parser" })])
      const after = (await fixture.handle().list(PROJECT))[0]
      assert.deepEqual(after?.facts, { model: "m", cwd: "/w", title: "Parser" })
      assert.ok(after.bytes > before!.bytes, "its size grows")
      const [bare, ...rest] = await fixture.handle().list(PROJECT, { isBare: true })
      assert.deepEqual(rest, [])
      assert.deepEqual(bare, { id: "titled", bytes: after.bytes, touched: after.touched })
      assert.equal(new Date(bare!.touched).toISOString(), bare!.touched)
      assert.deepEqual(await fixture.handle().list("no-such-project"), [])
    },
  ],
  [
    "JRN-7 the journal that was written last is the first of a list",
    async (fixture) => {
      const ids = ["a", "b", "c"]
      for (const id of [...ids, ...ids.toReversed(), "b"]) {
        const journal = await fixture.writer({ project: PROJECT, id })
        // clocks have a limited resolution: entries are written until this journal's time is later than all others
        await eventually(`${id} is the first`, async () => {
          await journal.append([make.user(id)])
          const listed = await fixture.handle().list(PROJECT, { isBare: true })
          const times = listed.map(({ touched }) => touched)
          assert.deepEqual(times, times.toSorted().toReversed())
          return listed[0]!.id === id && listed[0]!.touched !== listed[1]?.touched
        })
        await journal.close()
      }
    },
  ],
  [
    "BEY-12 many journals are asked for in one call, in the order of the question",
    async (fixture) => {
      const journal = await fixture.writer({ project: PROJECT, id: "one" })
      await journal.append([make.user("one")])
      const agent = await fixture.writer({ project: PROJECT, id: "agent", under: "one" })
      await agent.append([make.user("agent")])
      const isThere = await fixture.handle().has([
        ...[
          { project: PROJECT, id: "two" },
          { project: PROJECT, id: "one" },
        ],
        ...[
          { project: PROJECT, id: "agent" },
          { project: PROJECT, id: "agent", under: "one" },
        ],
        ...[
          { project: PROJECT, id: "../one" },
          { project: PROJECT, id: "" },
        ],
      ])
      assert.deepEqual(isThere, [false, true, false, true, false, false])
      assert.deepEqual(await fixture.handle().has([]), [])
    },
  ],
]
