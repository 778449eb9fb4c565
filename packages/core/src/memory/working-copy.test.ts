import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { MAX_MEMORY_BYTES } from "./file-names.ts"
import { claimScratch } from "./scratch.ts"
import { openWorkingCopy } from "./working-copy.ts"

const PLACE = { project: "app" } as const

async function opened() {
  vi.stubEnv("TMPDIR", scratchDirectory())
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = memoryStore()
  const files = store.memories(PLACE)
  await files.install([
    { path: "tabs.md", text: "Use tabs.\n" },
    { path: "MEMORY.md", text: "- [Tabs](tabs.md)\n" },
    { path: ".history/head.json", text: "{}" },
  ])
  const copy = (await openWorkingCopy(store, PLACE))!
  onTestFinished(() => copy.close())
  const at = (file: string) => join(copy.directory, file)
  return { store, files, copy, at, shown: (file: string) => readFileSync(at(file), "utf8") }
}

describe("BEY-12 memories of a store without files, as files", () => {
  test("memories and the index are there, and nothing else", async () => {
    const { copy, shown } = await opened()
    expect(readdirSync(copy.directory).sort()).toEqual(["MEMORY.md", "tabs.md"])
    expect(shown("tabs.md")).toBe("Use tabs.\n")
  })

  test("a store with files needs none", async () => {
    expect(await openWorkingCopy(fileStore({ root: scratchDirectory() }), PLACE)).toBeUndefined()
  })

  test("what cannot be a memory is not taken in, and that is reported", async () => {
    const { files, copy, at, shown } = await opened()
    writeFileSync(at("tabs.md"), "x".repeat(MAX_MEMORY_BYTES + 1))
    writeFileSync(at("new.md"), Buffer.from([0xff, 0xfe, 0x41]))
    expect(await copy.installChanges()).toEqual([
      { path: "new.md", reason: "no-text" },
      { path: "tabs.md", reason: "no-text" },
    ])
    expect(await files.read("tabs.md")).toBe("Use tabs.\n")
    expect(shown("tabs.md")).toBe("Use tabs.\n")
  })

  test("what others change is there after the next reading, also what they removed", async () => {
    const { files, copy, at, shown } = await opened()
    await files.install([
      { path: "tabs.md", text: undefined },
      { path: "team/port.md", text: "The port is 80.\n" },
    ])
    await copy.list()
    expect(shown("team/port.md")).toBe("The port is 80.\n")
    expect(existsSync(at("tabs.md"))).toBe(false)
    await files.install([{ path: "team/port.md", text: "The port is 81.\n" }])
    await copy.readAll({ folders: [undefined] })
    expect(shown("team/port.md")).toBe("The port is 81.\n")
  })

  test("what a tool writes, adds and removes is installed; what is installed is there at once", async () => {
    const { files, copy, at, shown } = await opened()
    writeFileSync(at("tabs.md"), "Use spaces.\n")
    mkdirSync(at("team"))
    writeFileSync(at("team/port.md"), "The port is 80.\n")
    expect(await copy.installChanges()).toEqual([])
    expect(await files.read("tabs.md")).toBe("Use spaces.\n")
    expect(await files.read("team/port.md")).toBe("The port is 80.\n")
    rmSync(at("tabs.md"))
    expect(await copy.installChanges()).toEqual([])
    expect(await files.read("tabs.md")).toBeUndefined()
    await copy.install([{ path: "team/port.md", text: "The port is 81.\n", expected: "The port is 80.\n" }])
    expect(shown("team/port.md")).toBe("The port is 81.\n")
  })

  test("a memory that someone else changed meanwhile stays theirs, and is shown again", async () => {
    const { files, copy, at, shown } = await opened()
    writeFileSync(at("tabs.md"), "Use spaces.\n")
    await files.install([{ path: "tabs.md", text: "Use four spaces.\n" }])
    await copy.list() // does not overwrite what the tool wrote
    expect(shown("tabs.md")).toBe("Use spaces.\n")
    expect(await copy.installChanges()).toEqual([{ path: "tabs.md", reason: "changed" }])
    expect(await files.read("tabs.md")).toBe("Use four spaces.\n")
    expect(shown("tabs.md")).toBe("Use four spaces.\n")
  })

  test("a link, and what is no memory, is not taken in", async () => {
    const { files, copy, at } = await opened()
    const secret = join(scratchDirectory(), "secret.md")
    writeFileSync(secret, "secret")
    symlinkSync(secret, at("linked.md"))
    writeFileSync(at("program.sh"), "echo")
    writeFileSync(at("bytes.md"), Buffer.from([0xff, 0xfe, 0x00]))
    await copy.installChanges()
    expect((await files.list()).map(({ path }) => path)).toEqual(["MEMORY.md", "tabs.md"])
  })

  test("two places of a store that names them alike have a directory each", async () => {
    const { store, copy } = await opened()
    const alike: typeof store = {
      ...store,
      memories: (place) => ({ ...store.memories(place), location: "the database" }),
    }
    const [one, two] = [await openWorkingCopy(alike, PLACE), await openWorkingCopy(alike, { project: "other" })]
    expect(readdirSync(one!.directory).sort()).toEqual(["MEMORY.md", "tabs.md"])
    expect(readdirSync(two!.directory)).toEqual([])
    for (const opened of [one!, two!, copy]) opened.close()
  })

  test("users of one store share a directory, and the last one removes it; another store has its own", async () => {
    const { store, copy } = await opened()
    const second = (await openWorkingCopy(store, PLACE))!
    expect(second.directory).toBe(copy.directory)
    const other = (await openWorkingCopy(memoryStore(), PLACE))!
    expect(other.directory).not.toBe(copy.directory)
    expect(readdirSync(other.directory)).toEqual([])
    copy.close()
    expect(existsSync(second.directory)).toBe(true)
    second.close()
    other.close()
    const again = (await openWorkingCopy(store, PLACE))!
    expect(again.directory).toBe(copy.directory) // messages of the conversation mention the path
    again.close()
  })
})

describe("BEY-12 directories for texts of a store", () => {
  const order = { kind: "dream", of: "memory:app" } as const

  test("what a killed process left is removed, and its lock taken over", async () => {
    const at = scratchDirectory()
    const first = await claimScratch(order, at)
    const { directory } = first
    await first.release()
    expect(existsSync(directory)).toBe(false)
    mkdirSync(directory)
    writeFileSync(join(directory, "left.md"), "left")
    const dead = { pid: 0, host: "h", since: "", started: "", token: "t" }
    writeFileSync(`${directory}.lock`, JSON.stringify(dead))
    const next = await claimScratch(order, at)
    expect(next.directory).toBe(directory)
    expect(readdirSync(directory)).toEqual([])
    await next.release()
  })

  test("a directory with our name that others can enter is not used", async () => {
    const at = scratchDirectory()
    const usual = await claimScratch(order, at)
    await usual.release()
    chmodSync(dirname(usual.directory), 0o755)
    const other = await claimScratch(order, at)
    expect(dirname(other.directory)).not.toBe(dirname(usual.directory))
    await other.release()
  })
})
