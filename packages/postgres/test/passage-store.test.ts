/** Compares the index on a server with the one in SQLite: after any additions and removals, every question has the same answer. */
import { randomUUID } from "node:crypto"
import fc from "fast-check"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Question } from "../../core/src/recall/answer/ranking.ts"
import { PassageIndex } from "../../core/src/recall/index/passage-index.ts"
import { RemoteIndex } from "../../core/src/recall/index/remote-index.ts"
import type { Passage } from "../../core/src/recall/passages/passage.ts"
import { needs } from "../../core/test/needs.ts"
import { fuzz, RUNS } from "../../core/test/runs.ts"
import { size } from "../../core/test/size.ts"
import { postgresStore } from "../src/index.ts"
import { oldestPrograms, startServer, type TestServer } from "./server.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"

const NOW = new Date("2026-03-10T12:00:00Z")
const START = Date.UTC(2025, 10, 1)
const HOUR = 3_600_000
const WORDS =
  "heron port server walrus invoice I my we the did what do week last May 2025 yesterday heron heron server? parseConfigFile src/foo.ts ERR_42 日本語 é 🚀 !== x\0y \ud800 İn conf configuration".split(
    " ",
  )
const QUESTIONS = [
  "what did we do last week?",
  "we did",
  "🚀",
  "!==",
  "conf",
  "ERR_4",
  "foo.t",
  "Config",
  "my port in May 2025",
]

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 9 }).map((words) => words.join(" "))
const messages = fc.record({
  text,
  kind: fc.constantFrom("user", "assistant", "result", "call", "note" as const),
  isNew: fc.boolean(),
  hours: fc.nat(9),
  label: fc.option(fc.constantFrom("Bash", "the walrus\0 port"), { nil: undefined }),
})
const change = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      source: fc.nat(2),
      messages: fc.array(messages, { maxLength: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("remove", "restart"), source: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("ask" as const) }) },
)
const asked = fc.record({
  text: fc.oneof(text, fc.constantFrom(...QUESTIONS)),
  context: fc.constantFrom([], ["the walrus port", "an invoice"]),
  isDialogue: fc.boolean(),
  source: fc.option(fc.constantFrom("s0", "s1", "s2"), { nil: undefined }),
  left: fc.option(fc.constantFrom("s0", "s1"), { nil: undefined }),
})

type QuestionSample = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

const questionOf = ({ text: words, context, isDialogue, source, left }: QuestionSample): Question => ({
  ...{ text: words, context, isDialogue, now: NOW, limit: 20 },
  ...(source === undefined ? {} : { source }),
  ...(left === undefined ? {} : { exclude: { sources: new Set([left]) } }),
})

const newest = { which: "the newest PostgreSQL", needed: "postgres" } as const
const oldest = { which: "PostgreSQL 15", needed: "postgres15" } as const

for (const { which, needed } of size([newest], [newest, oldest]))
  describe(`BEY-12 ${which}`, needs(needed), () => {
    let server: TestServer | SharedServer | undefined
    let pool: pg.Pool | undefined
    beforeAll(async () => {
      server = needed === "postgres" ? await sharedServer() : await startServer({ programs: oldestPrograms()! })
      pool = new pg.Pool({ connectionString: await server.database(), max: 20 })
    })
    afterAll(async () => {
      await pool?.end()
      await server?.stop()
    })

    const openStore = (tenant: string, project = "p") =>
      postgresStore({ pool: pool!, tenant }).passages!({ project, tokens: 1 })

    async function sameAnswers(served: RemoteIndex, { index, question }: { index: PassageIndex; question: Question }) {
      const [here, there] = [index.search(question), await served.search(question)]
      expect(there).toEqual(here)
      expect(await served.around(there.found, 3)).toEqual(index.around(here.found, 3))
    }

    test("BEY-12 every question has the answer that the index in SQLite gives", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 12 }),
          fc.array(asked, { minLength: 1, maxLength: 4 }),
          async (changes, questions) => {
            const tenant = randomUUID()
            const index = new PassageIndex(":memory:")
            const served = new RemoteIndex(openStore(tenant))
            const positions = new Map<string, string>()
            let [steps, hours] = [0, 0]
            for (const each of changes) {
              if (each.kind === "ask") {
                for (const one of questions) await sameAnswers(served, { index, question: questionOf(one) })
                continue
              }
              const source = `s${(each as { source: number }).source}`
              if (each.kind === "remove") {
                index.remove(source)
                await served.remove(source)
                positions.delete(source)
                continue
              }
              const passages = ("messages" in each ? each.messages : []).map((one, at): Passage => {
                hours += one.hours
                return {
                  ...{
                    uuid: one.isNew ? `${steps}-${at}` : "same\0",
                    blocks: `${at}`,
                    kind: one.kind as Passage["kind"],
                  },
                  isDialogue: one.kind === "user" || one.kind === "assistant",
                  ...(one.label === undefined ? {} : { label: one.label }),
                  time: one.hours === 7 ? "" : new Date(START + hours * HOUR).toISOString(),
                  ...{ start: 100 * steps + at, length: one.text.length * 40, text: one.text },
                }
              })
              const to = `mark ${++steps}`
              const step = { source, passages, from: positions.get(source), to, isRestart: each.kind === "restart" }
              expect(index.extend(step)).toBe(true)
              expect(await served.extend(step)).toBe(true)
              positions.set(source, to)
            }
            expect(await served.positions()).toEqual(positions)
            const newcomer = new RemoteIndex(openStore(tenant))
            for (const one of questions) {
              await sameAnswers(served, { index, question: questionOf(one) })
              await sameAnswers(newcomer, { index, question: questionOf(one) })
            }
            index.close()
          },
        ),
        { ...fuzz, numRuns: 2 * RUNS },
      )
    })
  })
