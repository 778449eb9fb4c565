/** Appended lines are indexed later, in the background. An append runs no SQLite statement, and no other process can delay it. */
import { join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test, vi } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { manualClock, seededIds } from "../../base/clock.ts"
import type { Entry } from "../../journal/entries.ts"
import { FileFeed } from "../../journal/file/file-feed.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { projectDirectory } from "../../journal/file/layout.ts"
import { BlockReader } from "../block-texts.ts"
import { splitBlock } from "../passages/passage.ts"
import { SqliteIndexFile } from "./index-file.ts"
import { PassageIndex } from "./passage-index.ts"
import { TrackedJournals } from "./tracked-journals.ts"

const ids = seededIds("background")
const userEntry = (words: string): Entry => ({ ...conversation().user(words).messages[0]!, uuid: ids.uuid() })

async function followed() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const clock = manualClock()
  const directory = projectDirectory(root, "p")
  const journal = await fileStore({ root, flush: "never" }).open(
    { project: "p", id: "c" },
    { access: "write", create: true },
  )
  onTestFinished(() => journal.close())
  /** The mode of each transaction, in order. */
  const writes: ("briefly" | "waiting")[] = []
  const journals = new TrackedJournals({
    ...{ feed: new FileFeed(directory), name: "search.sqlite", hearsAppends: true, clock },
    open(path) {
      const index = new PassageIndex(path)
      const { briefly, extendAll } = index
      let isBrief = false
      index.briefly = async (work) => {
        isBrief = true
        return briefly.call(index, work).finally(() => {
          isBrief = false
        }) as ReturnType<typeof work>
      }
      index.extendAll = (steps) => {
        writes.push(isBrief ? "briefly" : "waiting")
        return extendAll.call(index, steps)
      }
      return index
    },
    reader: () => {
      const reader = new BlockReader()
      return { take: (entry) => reader.take(entry).flatMap((block) => splitBlock(block, (text) => text)) }
    },
  })
  onTestFinished(() => journals.close())
  const found = async (text: string, which: object = {}) => {
    const { answer, of } = await journals.ask((index) => index.search({ text, now: clock.now() }), which)
    return { texts: answer.found.map((one) => one.text), of }
  }
  const inBackground = async () => {
    clock.advance(1_000)
    for (let round = 0; round < 200; round++) await setImmediate()
  }
  const say = (words: string) => journal.append([userEntry(words)])
  return { say, found, inBackground, writes, file: join(directory, "search.sqlite") }
}

/** Options of a question that uses the index without updating it. */
const AS_IT_IS = { maxAge: 1_000_000 }

test("BEY-5 an append asks SQLite for nothing; its text is stored afterwards", async () => {
  const { say, found, inBackground, writes } = await followed()
  await say("the walrus sleeps")
  expect((await found("walrus")).texts).toEqual(["the walrus sleeps"])
  const calls = [
    ...(["exec", "prepare"] as const).map((name) => vi.spyOn(DatabaseSync.prototype, name)),
    ...(["run", "get", "all", "iterate"] as const).map((name) => vi.spyOn(StatementSync.prototype, name)),
  ]
  onTestFinished(() => calls.forEach((call) => void call.mockRestore()))
  const count = () => calls.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  for (let nth = 0; nth < 50; nth++) await say(`the heron flies ${nth}`)
  expect(count()).toBe(0)
  await inBackground()
  expect(count()).toBeGreaterThan(0)
  expect(writes.at(-1)).toBe("briefly")
  expect((await found("heron", AS_IT_IS)).texts).toHaveLength(10)
})

test("BEY-5 while another connection writes, the background gives up soon, and what was written is found once it has ended", async () => {
  const { say, found, inBackground, writes, file } = await followed()
  await say("the walrus sleeps")
  await found("walrus")
  const other = new DatabaseSync(file)
  onTestFinished(() => other.close())
  other.exec("BEGIN IMMEDIATE")
  const before = writes.length
  await say("the heron flies")
  await inBackground()
  await say("the heron eats")
  expect(writes.slice(before)).toContain("briefly")
  expect(writes.slice(before)).not.toContain("waiting")
  expect((await found("heron", AS_IT_IS)).texts).toEqual([])
  other.exec("COMMIT")
  for (let round = 0; round < 5; round++) await inBackground()
  expect((await found("heron", AS_IT_IS)).texts.toSorted()).toEqual(["the heron eats", "the heron flies"])
})

test("BEY-5 work in the background waits five milliseconds for another process, a question a second, also after a failure", async () => {
  const file = new SqliteIndexFile(":memory:", { version: 1, tables: [], create: "" })
  onTestFinished(() => file.close())
  const patience = () => file.statement("PRAGMA busy_timeout").get()?.timeout
  expect(await file.briefly(async () => patience())).toBe(5)
  expect(patience()).toBe(1_000)
  await expect(file.briefly(() => Promise.reject(new Error("no")))).rejects.toThrow("no")
  expect(patience()).toBe(1_000)
})
