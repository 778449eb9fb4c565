/** Appended entries of a process reach its search without a scan of the journals, and no message waits for that. */
import { appendFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import { temporaryRoot } from "../../test/journal-files.ts"
import { manualClock, seededIds } from "../base/clock.ts"
import type { Entry } from "../journal/entries.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { projectDirectory } from "../journal/file/layout.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { encodeLine } from "../journal/line.ts"
import { JournalSearch } from "./journal-search.ts"

const ids = seededIds("appended")
const userEntry = (words: string): Entry => ({ ...conversation().user(words).messages[0]!, uuid: ids.uuid() })
/** Options of the search that runs with each message. */
const AUTOMATIC = { maxNew: 48 * 1024, maxAge: 2_000 }

const KINDS = ["files", "memory"] as const

async function followed(kind: (typeof KINDS)[number] = "files") {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const clock = manualClock()
  const directory = projectDirectory(root, "p")
  const store = kind === "memory" ? memoryStore() : fileStore({ root, flush: "never" })
  const search = new JournalSearch({ feed: store.feed({ project: "p" }), clock })
  onTestFinished(() => search.close())
  const open = async (id: string) => {
    const journal = await store.open({ project: "p", id }, { access: "write", create: true })
    onTestFinished(() => journal.close())
    return (...texts: readonly string[]) => journal.append(texts.map(userEntry))
  }
  const found = async (text: string, which: object = AUTOMATIC) =>
    (await search.search({ text, now: clock.now() }, which)).answer.found.map((one) => one.text)
  /** Lets the background work of the process finish. */
  const inBackground = async () => {
    clock.advance(1_000)
    for (let round = 0; round < 200; round++) await setImmediate()
  }
  return { directory, clock, open, found, inBackground }
}

test("BEY-5 what a conversation appends is found without being read from its journal, and a message does not wait for it", async () => {
  const { directory, open, found, inBackground } = await followed()
  const [say, sayThere] = [await open("a"), await open("b")]
  await say("the walrus sleeps")
  expect(await found("walrus")).toEqual(["the walrus sleeps"]) // the first search waits
  await sayThere("the heron flies")
  expect(await found("heron")).toEqual([])
  const file = join(directory, "b.jsonl")
  writeFileSync(file, "x".repeat(statSync(file).size)) // makes the file unreadable as a journal
  await inBackground()
  expect(await found("heron")).toEqual(["the heron flies"])
})

test.each(KINDS)(
  "BEY-12 an append to a store of %s does not wait for the index: that follows it later",
  async (kind) => {
    const { open, found, inBackground } = await followed(kind)
    const say = await open("a")
    await say("the walrus sleeps")
    expect(await found("walrus")).toEqual(["the walrus sleeps"]) // the first search waits
    await say("the heron flies")
    expect(await found("heron")).toEqual([])
    await inBackground()
    expect(await found("heron")).toEqual(["the heron flies"])
  },
)

test.each(KINDS)(
  "BEY-5 an explicit search in %s finds what was appended a moment ago, and each passage once",
  async (kind) => {
    const { open, found, inBackground } = await followed(kind)
    const [say, sayThere] = [await open("a"), await open("b")]
    await say("the walrus sleeps")
    expect(await found("walrus", {})).toEqual(["the walrus sleeps"])
    await sayThere("the heron flies")
    await say("the heron sleeps", "the heron eats")
    const all = ["the heron eats", "the heron flies", "the heron sleeps"]
    expect((await found("heron", {})).toSorted()).toEqual(all)
    await inBackground()
    expect((await found("heron", {})).toSorted()).toEqual(all)
  },
)

test("BEY-5 what is older than two seconds is found by every message, also what another process wrote without a report", async () => {
  const { directory, clock, open, found } = await followed()
  const say = await open("a")
  await say("the walrus sleeps")
  expect(await found("walrus")).toEqual(["the walrus sleeps"])
  appendFileSync(join(directory, "a.jsonl"), encodeLine(userEntry("the heron flies")))
  await say("the pelican dives")
  clock.advance(2_001)
  expect(await found("heron")).toEqual(["the heron flies"])
  expect(await found("pelican")).toEqual(["the pelican dives"])
})

test.each(KINDS)("BEY-5 what is too much to keep in memory is read from the journal, in %s", async (kind) => {
  const { open, found, inBackground } = await followed(kind)
  const [say, sayThere] = [await open("a"), await open("b")]
  await say("the walrus sleeps")
  expect(await found("walrus")).toEqual(["the walrus sleeps"])
  await sayThere(`the heron flies ${"and flies ".repeat(5_000)}`, "the pelican dives")
  await say("the walrus wakes")
  await inBackground()
  for (let round = 0; round < 50 && (await found("pelican")).length === 0; round++) await inBackground()
  expect(await found("pelican")).toEqual(["the pelican dives"])
  expect((await found("walrus")).toSorted()).toEqual(["the walrus sleeps", "the walrus wakes"])
})
