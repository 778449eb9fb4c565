import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { entriesOf, sketched } from "../../../../../store-contract/src/entries.ts"
import { temporaryRoot } from "../../../../test/journal-files.ts"
import type { StoredItem } from "../../contents.ts"
import { memoryStore } from "../../in-memory/store.ts"
import { encodeLine } from "../../line.ts"
import { moveContents } from "../../move-contents.ts"
import type { Store } from "../../store.ts"
import { fileStore } from "../file-store.ts"
import { journalPaths } from "../layout.ts"

const ADDRESS = { project: "p", id: "c" }
const JOURNAL = { kind: "journal", ...ADDRESS } as const
const make = entriesOf("journal files")

let place: Awaited<ReturnType<typeof temporaryRoot>>
let path: string
beforeEach(async () => {
  place = await temporaryRoot()
  path = join(place.root, "projects", "p", "c.jsonl")
  const journal = await here().open(ADDRESS, { access: "write", create: true })
  await journal.append(sketched(make, "one two"))
  await journal.close()
})
afterEach(() => place.remove())

const here = (root = place.root) => fileStore({ root, flush: "never" })

async function contentIn(store: Store): Promise<StoredItem | undefined> {
  for await (const content of store.contents().list()) return content
  return undefined
}

test("BEY-12 a torn last line is given out as what was set aside, as opening the conversation would leave it", async () => {
  const whole = await readFile(path)
  await appendFile(path, '{"uuid":"torn')
  const other = memoryStore()
  await moveContents({ from: here(), to: other })
  const copy = await temporaryRoot()
  try {
    await moveContents({ from: other, to: here(copy.root) })
    const opened = await here().open(ADDRESS, { access: "write" })
    await opened.close()
    for (const name of ["c.jsonl", "c.damaged"])
      expect(await readFile(join(copy.root, "projects", "p", name))).toEqual(
        await readFile(join(place.root, "projects", "p", name)),
      )
    expect(await readFile(path)).toEqual(whole)
  } finally {
    await copy.remove()
  }
})

test("BEY-12 a last line that lacks only its line end is given out with it, and lines after it begin a line", async () => {
  const whole = await readFile(path)
  await writeFile(path, whole.subarray(0, -1))
  expect((await contentIn(here()))?.lines).toBe(whole.length)
  expect(await here().contents().lines(JOURNAL, 0)).toEqual(whole.subarray(0, whole.lastIndexOf(10, -2) + 1))
  const next = encodeLine(make.user("three"))
  await here()
    .contents()
    .write(JOURNAL, { lines: { at: whole.length, data: next } })
  expect(await readFile(path)).toEqual(Buffer.concat([whole, next]))
})

test("BEY-12 a write that is refused changes no file", async () => {
  const before = await readFile(path)
  const change = { lines: { at: 1, data: Buffer.from("x\n") }, files: [{ name: "notes", data: Buffer.from("x") }] }
  await expect(here().contents().write(JOURNAL, change)).rejects.toThrow("the size")
  expect(await readFile(path)).toEqual(before)
  await expect(stat(join(place.root, "projects", "p", "session-memory", "c.md"))).rejects.toThrow("ENOENT")
})

test("JRN-8 erasing a conversation removes all its files and the search index, and no other conversation", async () => {
  const other = await here().open({ project: "p", id: "c2" }, { access: "write", create: true })
  await other.append(sketched(make, "other"))
  await other.writeBlob("b.txt", "x")
  await other.close()
  for (const name of ["search.sqlite", "c.search.sqlite", "c.damaged"])
    await writeFile(join(place.root, "projects", "p", name), "words")
  await here().contents().erase(JOURNAL)
  const left = await readdir(join(place.root, "projects"), { recursive: true, encoding: "utf8" })
  expect(left.filter((name) => /\/c\.|\/c$|search/.test(name))).toEqual([])
  expect(left).toContain("p/c2.jsonl")
  expect(left).toContain("p/tool-results/c2/b.txt")
})

test("JRN-8 erasing again after a kill in the middle removes the sub-agents that were left", async () => {
  const agent = await here().open({ project: "p", under: "c", id: "agent" }, { access: "write", create: true })
  await agent.append(sketched(make, "its words"))
  await agent.close()
  await rm(path)
  await here().contents().erase(JOURNAL)
  expect(await contentIn(here())).toBeUndefined()
  const left = await readdir(join(place.root, "projects", "p"), { recursive: true, encoding: "utf8" })
  expect(left.filter((name) => name.includes("agent"))).toEqual([])
})

test("JRN-8 a conversation goes after its sub-agents: erasing that ends in the middle leaves what finds them again", async () => {
  const address = { project: "p", under: "c", id: "agent" }
  const agent = await here().open(address, { access: "write", create: true })
  await agent.append(sketched(make, "its words"))
  await agent.close()
  const { inFlight } = journalPaths(place.root, address)
  await mkdir(inFlight) // a directory cannot be removed as a file
  await expect(here().contents().erase(JOURNAL)).rejects.toThrow()
  expect((await stat(path)).size).toBeGreaterThan(0)
  await rm(inFlight, { recursive: true })
  await here().contents().erase(JOURNAL)
  expect(await contentIn(here())).toBeUndefined()
})
