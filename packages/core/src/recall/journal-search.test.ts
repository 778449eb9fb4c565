import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { seededIds } from "../base/clock.ts"
import type { Entry } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { projectDirectory } from "../journal/file/layout.ts"
import { encodeLine } from "../journal/line.ts"
import { JournalSearch } from "./journal-search.ts"

const NOW = new Date("2026-03-10T12:00:00Z")
const PROJECT = "p"

async function project() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const directory = projectDirectory(root, PROJECT)
  const write = async (id: string, entries: readonly Entry[]) => {
    const journal = await fileStore({ root, flush: "never" }).open(
      { project: PROJECT, id },
      { access: "write", create: true },
    )
    await journal.append(entries)
    await journal.close()
  }
  const open = (mask?: (text: string) => string) => {
    const index = new JournalSearch({ feed: fileStore({ root }).feed({ project: PROJECT }), ...(mask ? { mask } : {}) })
    onTestFinished(() => index.close())
    return index
  }
  return { write, open, directory, file: join(directory, "search.sqlite") }
}

const ids = seededIds("journal-index")
const userEntry = (text: string): Entry => ({ ...conversation().user(text).messages[0]!, uuid: ids.uuid() })
async function texts(index: JournalSearch, text: string): Promise<readonly string[]> {
  const { answer } = await index.search({ text, now: NOW })
  return answer.found.map((passage) => passage.text)
}

test("BEY-5 finds what the user and the assistant wrote, with its place", async () => {
  const { write, open } = await project()
  const { messages } = conversation().user("Where is the staging server?").say("Staging is on port 7071 of host heron.")
  await write("c1", messages)
  const { found } = (await open().search({ text: "port of the staging server", now: NOW })).answer
  expect(found.find(({ kind }) => kind === "assistant")).toMatchObject({
    source: "c1",
    uuid: messages[1]!.uuid,
    time: "2026-01-01T00:00:00.000Z",
    text: "Staging is on port 7071 of host heron.",
  })
})

test("BEY-5 a search in what was written finds no thinking, tools or internal messages; no search finds summaries", async () => {
  const { write, open } = await project()
  await write(
    "c1",
    conversation()
      .respond([{ type: "thinking", thinking: "pondering walrus", signature: "s" }])
      .call("Read", { file_path: "walrus" })
      .result("walrus content")
      .user("walrus summary", { isCompactSummary: true })
      .user("walrus reminder", { isMeta: true }).messages,
  )
  const index = open()
  expect((await index.search({ text: "walrus", now: NOW, isDialogue: true })).answer.found).toEqual([])
  expect((await texts(index, "walrus")).toSorted()).toEqual([
    "file_path: walrus",
    "pondering walrus",
    "walrus content",
    "walrus reminder",
  ])
})

test("BEY-5 masks secrets before they are stored", async () => {
  const { write, open, file } = await project()
  await write("c1", [userEntry("the token is hunter2 for the wiki")])
  const index = open((text) => text.replaceAll("hunter2", "[secret]"))
  expect(await texts(index, "wiki token")).toEqual(["the token is [secret] for the wiki"])
  index.close()
  expect(readFileSync(file).includes("hunter2")).toBe(false)
})

test("BEY-5 reads only what is new, also after it was opened again", async () => {
  const { write, open } = await project()
  const read: string[] = []
  const mask = (text: string) => {
    read.push(text)
    return text
  }
  await write("c1", [userEntry("alpha")])
  const first = open(mask)
  await first.update()
  first.close()
  await write("c1", [userEntry("beta")])
  const second = open(mask)
  expect(await texts(second, "beta")).toEqual(["beta"])
  expect(await texts(second, "alpha")).toEqual(["alpha"])
  expect(read).toEqual(["alpha", "beta"])
})

test("BEY-5 a line that is still being written is read when it is whole", async () => {
  const { write, open, directory } = await project()
  await write("c1", [userEntry("alpha")])
  const path = join(directory, "c1.jsonl")
  const line = encodeLine(userEntry("beta"))
  writeFileSync(path, line.subarray(0, 50), { flag: "a" })
  const index = open()
  expect(await texts(index, "beta")).toEqual([])
  writeFileSync(path, line.subarray(50), { flag: "a" })
  expect(await texts(index, "beta")).toEqual(["beta"])
})

test("BEY-5 a deleted journal leaves the index, a replaced one is read again", async () => {
  const { write, open, directory, file } = await project()
  await write("c1", [userEntry("alpha walrus")])
  await write("c2", [userEntry("beta")])
  const index = open()
  await index.update()
  rmSync(join(directory, "c1.jsonl"))
  writeFileSync(
    join(directory, "c2.jsonl"),
    Buffer.concat(["gamma", "delta"].map((text) => encodeLine(userEntry(text)))),
  )
  expect(await Promise.all(["alpha", "beta", "gamma"].map((word) => texts(index, word)))).toEqual([[], [], ["gamma"]])
  index.close()
  expect(readFileSync(file).includes("walrus")).toBe(false)
})

test("BEY-5 an index that is damaged or from another version is built again", async () => {
  const { write, open, file } = await project()
  await write("c1", [userEntry("alpha")])
  const broken = [
    () => writeFileSync(file, "this is no database, and longer than its header: ".repeat(50)),
    () => withDatabase(file, "PRAGMA user_version = 99"),
    () => withDatabase(file, "DROP TABLE removals"),
  ]
  for (const breaks of broken) {
    const before = open()
    await before.update()
    before.close()
    breaks()
    expect(await texts(open(), "alpha")).toEqual(["alpha"])
  }
})

test("BEY-5 an index that cannot be written is kept in memory", async () => {
  const { write, open, file } = await project()
  await write("c1", [userEntry("alpha")])
  mkdirSync(file)
  expect(await texts(open(), "alpha")).toEqual(["alpha"])
})

test("BEY-5 two processes fill one index without doubling anything", async () => {
  const { write, open } = await project()
  await write(
    "c1",
    Array.from({ length: 30 }, (_, at) => userEntry(`alpha ${at}`)),
  )
  const [one, two] = [open(), open()]
  await Promise.all([one.update(), two.update()])
  await write("c1", [userEntry("omega")])
  expect(await Promise.all([texts(one, "omega"), texts(two, "omega")])).toEqual([["omega"], ["omega"]])
})

test("BEY-5 what is long and new is read in the background: no question waits for it, and later ones find it", async () => {
  const { write, open } = await project()
  await write("c1", [userEntry("alpha")])
  const index = open()
  await index.update()
  await write("c2", [...Array.from({ length: 600 }, (_, at) => userEntry(`filler number ${at}`)), userEntry("omega")])
  const ask = async (text: string) =>
    (await index.search({ text, now: NOW }, { maxNew: 1_000 })).answer.found.map((one) => one.text)
  expect(await ask("omega")).toEqual([])
  expect(await ask("alpha")).toEqual(["alpha"])
  let found: readonly string[] = []
  while (found.length === 0) {
    await setImmediate()
    found = await ask("omega")
  }
  expect(found).toEqual(["omega"])
})

test("BEY-5 a journal that is open grows, and only its directory's time stays: each search finds what is new", async () => {
  const { write, open, directory } = await project()
  for (let nth = 0; nth < 30; nth++) await write(`c${nth}`, [userEntry(`word${nth}`)])
  const journal = await fileStore({ root: join(directory, "..", ".."), flush: "never" }).open(
    { project: PROJECT, id: "c3" },
    { access: "write", create: true },
  )
  onTestFinished(() => journal.close())
  const index = open()
  const long = new Date(Date.now() - 3_600_000)
  await texts(index, "warm")
  for (let nth = 0; nth < 30; nth++) utimesSync(join(directory, `c${nth}.jsonl`), long, new Date(long.getTime() - nth))
  utimesSync(directory, long, long)
  expect(await texts(index, "word29")).toEqual(["word29"])
  await journal.append([userEntry("heron")])
  expect(await texts(index, "heron")).toEqual(["heron"])
  await write("c31", [userEntry("walrus")])
  expect(await texts(index, "walrus")).toEqual(["walrus"])
})

test("BEY-5 the indexes of earlier versions are removed", async () => {
  const { write, open, directory } = await project()
  await write("c1", [userEntry("alpha")])
  const old = ["blocks.sqlite", "recall.sqlite", "recall.sqlite-wal"].map((name) => join(directory, name))
  for (const path of old) writeFileSync(path, "old")
  expect(await texts(open(), "alpha")).toEqual(["alpha"])
  expect(old.filter((path) => existsSync(path))).toEqual([])
})

test("BEY-5 only the owner can read the index", async () => {
  const { write, open, file } = await project()
  await write("c1", [userEntry("alpha")])
  await open().update()
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test("BEY-5 a project without conversations has nothing to find", async () => {
  const { open } = await project()
  expect(await texts(open(), "alpha")).toEqual([])
})

function withDatabase(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

test("BEY-1 a result that has the question's words in a row comes before what only shares some of them", async () => {
  const { write, open } = await project()
  const log = (middle: string) =>
    ["queue drained in 12 ms\n".repeat(20), middle, "queue filled in 9 ms\n".repeat(20)].join("\n")
  const talk = conversation()
  for (const service of ["mailer", "billing archive", "gateway", "indexer"])
    talk
      .user(`What about the ${service}?`)
      .say(`The ${service} is fine; its retention is fine too.`)
      .call("Bash", { command: `./inspect ${service}` })
      .result(log(`the shard limit of the ${service} is ${service.length}4711`))
      .say(`That is all about the ${service}.`)
  for (const nth of [1, 2, 3, 4, 5, 6])
    talk.user(`The billing archive, ${nth}?`).say(`The billing archive, again: ${nth}.`)
  await write("a", talk.messages)
  const { answer } = await open().search({ text: "What is the shard limit of the billing archive?", now: NOW })
  const best = answer.found.slice(0, 5).map(({ text }) => text)
  expect(best.join("\n")).toContain("the shard limit of the billing archive is 154711")
})

test("BEY-1 a match is where its words are together, however often one of them occurs before", async () => {
  const { write, open } = await project()
  const text = `${"worker started\n".repeat(30)}the worker waits 90210 ms for its lease\n${"done\n".repeat(60)}`
  await write("a", conversation().call("Bash", { command: "x" }).result(text).messages)
  const { answer } = await open().search({ text: "how long does a worker wait for the lease", now: NOW })
  const { text: found, at } = answer.found[0]!
  expect(found.slice(Math.max(0, at - 100), at + 100)).toContain("90210")
})
