import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { needs } from "../../test/needs.ts"
import { manualClock } from "../base/clock.ts"
import { fileStore } from "../journal/file/file-store.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { MemorySearch } from "../recall/memory-search.ts"
import { openBank } from "./bank.ts"
import { TEXT_CACHE_FILE } from "./changes/text-cache.ts"
import { SEARCH_INDEX } from "./file-names.ts"

const clock = manualClock("2026-03-01T10:00:00.000Z")
const MANY = 60
const LINUX = needs("linux") // on other systems, each read checks all files

async function memoryOf(many: number) {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root, clock }).memories({ project: "p" })
  const puts = Array.from({ length: many }, (_, nth) => ({ name: `Fact ${nth}`, body: `Fact number ${nth}.` }))
  await openBank({ files, clock }).change({ by: "agent", why: "test", source: { saidBy: "user" }, puts })
  return { files, directory: files.directory! }
}

/** The same files, with a count of the calls. */
function counted(files: MemoryFiles) {
  const asked = { lists: 0, reads: [] as string[] }
  const counting: MemoryFiles = {
    ...files,
    list(under) {
      asked.lists++
      return files.list(under)
    },
    read(path) {
      asked.reads.push(path)
      return files.read(path)
    },
    async readAll(wanted) {
      asked.lists++
      const read = await files.readAll(wanted)
      asked.reads.push(...read.flatMap(({ path, text }) => (text === undefined ? [] : [path])))
      return read
    },
  }
  return { counting, asked }
}

function watched(files: MemoryFiles) {
  const watch = files.watch!()
  onTestFinished(() => watch.close())
  return openBank({ files, clock, watch })
}

const bodyOf = async (bank: ReturnType<typeof openBank>, file: string) => (await bank.get(file))?.body

test(
  "L5-11 a memory with nothing in it yet is not looked through for each message; its first file shows at once",
  LINUX,
  async () => {
    const { root, remove } = await temporaryRoot()
    onTestFinished(remove)
    const files = fileStore({ root, clock }).memories({ project: "p" })
    const { counting, asked } = counted(files)
    const bank = watched(counting)
    await bank.all()
    await files.install([{ path: ".count.json", text: "1" }])
    await bank.all()
    asked.lists = 0
    await files.install([{ path: ".count.json", text: "2" }])
    expect(await bank.all()).toEqual([])
    expect(asked.lists).toBe(0)
    writeFileSync(join(files.directory!, "one.md"), "The heron sleeps.\n")
    expect(await bodyOf(bank, "one.md")).toBe("The heron sleeps.")
  },
)

test("L5-11 a manual edit shows to all conversations that ask at the same moment", LINUX, async () => {
  const { files, directory } = await memoryOf(3)
  const bank = watched(files)
  await bank.all()
  await bank.all()
  writeFileSync(join(directory, "one.md"), "The heron sleeps.\n")
  const asked = await Promise.all([1, 2, 3].map(() => bank.all()))
  expect(asked.map((memories) => memories.length)).toEqual([4, 4, 4])
})

test(
  "L5-11 while no file changes, nothing is looked at; an edit by hand shows at once, also in a folder",
  LINUX,
  async () => {
    const { files, directory } = await memoryOf(3)
    mkdirSync(join(directory, "deep"))
    writeFileSync(join(directory, "deep/one.md"), "The heron sleeps.\n")
    const { counting, asked } = counted(files)
    const bank = watched(counting)
    expect(await bank.all()).toHaveLength(4)
    await bank.all() // records what the first one wrote
    Object.assign(asked, { lists: 0, reads: [] })
    expect(await bank.all()).toHaveLength(4)
    expect((await bank.index()).text).toContain("Fact 1")
    expect(asked).toEqual({ lists: 0, reads: [] })
    writeFileSync(join(directory, "deep/one.md"), "The heron is awake.\n")
    expect(await bodyOf(bank, "deep/one.md")).toBe("The heron is awake.")
    writeFileSync(join(directory, "two.md"), "A new one.\n")
    expect(await bodyOf(bank, "two.md")).toBe("A new one.")
    const other = openBank({ files, clock })
    await other.change({
      by: "agent",
      why: "test",
      source: { saidBy: "user" },
      puts: [{ name: "Three", body: "Of another." }],
    })
    expect(await bodyOf(bank, "three.md")).toBe("Of another.")
  },
)

test("L5-11 a memory that is opened again reads only the files that changed since", async () => {
  const { files, directory } = await memoryOf(MANY)
  const before = await openBank({ files, clock }).all()
  writeFileSync(join(directory, "fact-7.md"), "Another fact.\n")
  const { counting, asked } = counted(files)
  const memories = await openBank({ files: counting, clock, readOnly: true }).all()
  expect(asked.reads.filter((path) => !path.startsWith("."))).toEqual(["MEMORY.md", "fact-7.md"])
  expect(memories.find(({ file }) => file === "fact-7.md")?.body).toBe("Another fact.")
  const others = (all: typeof before) => all.filter(({ file }) => file !== "fact-7.md")
  expect(others(memories)).toEqual(others(before))
})

test("BEY-9 what is kept to open a memory faster has no secret, and nothing of an erased memory", async () => {
  const { files, directory } = await memoryOf(MANY)
  const secret = `ghp_${"a1B2c3D4".repeat(5).slice(0, 36)}`
  writeFileSync(join(directory, "fact-8.md"), `The token is ${secret}\n`)
  const bank = openBank({ files, clock })
  const all = await bank.all()
  const index = join(directory, SEARCH_INDEX)
  const search = new MemorySearch(all, index)
  const kept = readFileSync(join(directory, TEXT_CACHE_FILE), "utf8")
  expect(kept).toContain("Fact number 9.")
  expect(kept).not.toContain(secret)
  search.close()
  await bank.erase("fact-9.md")
  for (const path of [join(directory, TEXT_CACHE_FILE), index, `${index}-wal`])
    expect(existsSync(path) && readFileSync(path, "utf8").includes("Fact number 9."), path).toBe(false)
})
