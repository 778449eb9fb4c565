import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { isWhole } from "../../../test/size.ts"
import { FileFeed } from "../../journal/file/file-feed.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { projectDirectory } from "../../journal/file/layout.ts"
import type { Question } from "../answer/ranking.ts"
import { BlockReader } from "../block-texts.ts"
import { type Passage, splitBlock } from "../passages/passage.ts"
import { questionTerms } from "../passages/passage-terms.ts"
import { PassageIndex } from "./passage-index.ts"
import { TrackedJournals } from "./tracked-journals.ts"

const NOW = new Date("2026-03-10T12:00:00Z")

const passage = (text: string, at: number): Passage => ({
  ...{ uuid: `u${at}`, blocks: "0", kind: "result", isDialogue: false, time: "2026-01-01T00:00:00Z" },
  ...{ start: 0, length: text.length, text },
})

function indexOf(...texts: readonly string[]): PassageIndex {
  const index = new PassageIndex(":memory:")
  onTestFinished(() => index.close())
  index.extend({ source: "s", passages: texts.map(passage), from: undefined, to: "1" })
  return index
}

const ask = (index: PassageIndex, question: Omit<Question, "now">) => index.search({ now: NOW, ...question })
const found = (index: PassageIndex, text: string) => ask(index, { text }).found.map(({ uuid }) => uuid)

test.runIf(isWhole)("BEY-1 a question of a megabyte looks up only its beginning", () => {
  const log = Array.from({ length: 120_000 }, (_, n) => `zz${n}q`).join(" ")
  expect(questionTerms(log)).toHaveLength(200)
  const index = indexOf("the port is taken", "all is well")
  expect(found(index, `port ${log}`)).toEqual(["u0"])
  expect(found(index, "a".repeat(1_000_000))).toEqual([])
})

test("BEY-1 any syntax is only text to a search, and what has no words is found as it is written", () => {
  const index = indexOf("deployed 🚀 at noon", "if (a !== b) return", "日本語の設定", "plain")
  const questions = [
    '"',
    "AND OR NOT",
    "NEAR(plain, 3)",
    "body:plain",
    "plain*",
    "'; DROP TABLE words; --",
    "\u0000",
    "%",
  ]
  for (const text of questions) expect(() => ask(index, { text })).not.toThrow()
  expect(found(index, "🚀")).toEqual(["u0"])
  expect(found(index, "!==")).toEqual(["u1"])
  expect(found(index, "設定")).toEqual(["u2"])
  expect(ask(index, { text: "🚀", kind: "call" }).found).toEqual([])
  expect(ask(index, { text: "🚀", kind: "result", source: "s" }).found).toHaveLength(1)
})

/** The error that SQLite throws when a file cannot grow. */
function fullError(): unknown {
  const db = new DatabaseSync(":memory:")
  try {
    db.exec("CREATE TABLE t (x); PRAGMA max_page_count = 2;")
    return db.exec(`INSERT INTO t VALUES ('${"x".repeat(100_000)}')`)
  } catch (error) {
    return error
  } finally {
    db.close()
  }
}

test("BEY-1 on a full disk a search still finds everything, also what is new: the index goes on in memory", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const journal = await fileStore({ root, flush: "never" }).open(
    { project: "p", id: "c" },
    { access: "write", create: true },
  )
  onTestFinished(() => journal.close())
  await journal.append(conversation().user("the needle").messages)
  const full = fullError()
  expect(full).toMatchObject({ errcode: 13 })
  const opened: string[] = []
  const journals = new TrackedJournals({
    feed: new FileFeed(projectDirectory(root, "p")),
    name: "search.sqlite",
    open(path) {
      opened.push(path)
      const index = new PassageIndex(path)
      if (path === ":memory:") return index
      index.extend = () => {
        throw full
      }
      return index
    },
    reader: () => {
      const reader = new BlockReader()
      return { take: (entry) => reader.take(entry).flatMap((block) => splitBlock(block, (text) => text)) }
    },
  })
  onTestFinished(() => journals.close())
  const asking = async (text: string) => journals.ask((index) => index.search({ text, now: NOW }))
  const ask = async (text: string) => (await asking(text)).answer.found.length
  expect(await ask("needle")).toBe(1)
  await journal.append(conversation().user("a second thing").messages)
  expect(await ask("second")).toBe(1)
  expect(opened).toEqual([join(projectDirectory(root, "p"), "search.sqlite"), ":memory:"])
})
