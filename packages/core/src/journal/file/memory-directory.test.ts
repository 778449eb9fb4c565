import { spawn } from "node:child_process"
import { hash } from "node:crypto"
import { rmSync, writeFileSync } from "node:fs"
import { mkdir, open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { everyNth, isWhole } from "../../../test/size.ts"
import { systemClock } from "../../base/clock.ts"
import { LockLostError, MemoryChangedError } from "../../base/errors.ts"
import { fileStore } from "./file-store.ts"
import { memoryDirectory } from "./memory-directory.ts"

const WRITER = fileURLToPath(new URL("../../../test/memory/install-writer.ts", import.meta.url))
const STEPS_OF_TWO_INSTALLS = 7 + 10 // locked, checked, intended, three files, completed; then three more are moved aside first

async function temporaryMemories() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root }).memories({ project: "p" })
  return { root, files, directory: files.directory! }
}

test.runIf(isWhole)("BEY-9 a process killed at any step leaves the files unchanged or completely changed", async () => {
  for (const stopAt of everyNth([...Array(STEPS_OF_TWO_INSTALLS).keys()], 3)) {
    const { files, directory } = await temporaryMemories()
    const acknowledged = await runUntilKilled([directory, String(stopAt)])
    const [a, b, c] = [await files.read("a.md"), await files.read("b.md"), await files.read("sub/c.md")]
    const round = Number(a?.split(" ")[1] ?? 0)
    expect(round).toBeGreaterThanOrEqual(acknowledged)
    expect([a, b, c]).toEqual(
      round === 0
        ? [undefined, undefined, undefined]
        : [`a ${round}`, round % 2 === 0 ? undefined : `b ${round}`, `c ${round}`],
    )
    await files.install([{ path: "a.md", text: "next" }]) // the lock of the dead process is taken over
    expect((await readdir(directory)).filter((name) => /intent|lock|draft/.test(name))).toEqual([])
  }
})

function runUntilKilled(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [WRITER, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  let output = ""
  child.stdout.on("data", (data: Buffer) => {
    output += data.toString()
  })
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (_code, signal) => {
      if (signal === "SIGKILL") resolve(Number(output.trim().split("\n").at(-1) ?? 0))
      else reject(new Error(`the writer ended by itself (${signal})`))
    })
  })
}

test("BEY-9 what someone saved over a half-finished change stays, and the rest of the change is completed", async () => {
  const { files, directory } = await temporaryMemories()
  await files.install([{ path: "a.md", text: "before" }])
  await runUntilKilled([directory, "2"]) // the intent is written, no file yet
  await writeFile(join(directory, "a.md"), "saved since")
  expect([await files.read("a.md"), await files.read("b.md")]).toEqual(["saved since", "b 1"])
})

test.each([
  ["no UTF-8 text", (path: string) => writeFile(path, Buffer.from([0x68, 0xe9]))],
  ["too large", (path: string) => writeFile(path, "x".repeat(5_000_000))],
  ["a link", (path: string) => symlink("/etc/hostname", path)],
  ["a folder", (path: string) => mkdir(path)],
])("BEY-9 a target that became %s after a kill is set aside and named, and the rest goes on", async (_, make) => {
  const { files, directory } = await temporaryMemories()
  await files.install([{ path: "a.md", text: "before" }])
  await runUntilKilled([directory, "2"]) // the intent is written, no file yet
  await rm(join(directory, "a.md"))
  await make(join(directory, "a.md"))
  await writeFile(join(directory, "sub"), "a file where a folder should be")
  expect([await files.read("b.md"), await files.read("sub/c.md")]).toEqual(["b 1", "c 1"])
  const problems = (await files.problems!()).join("\n")
  expect(problems).toContain("a.md was in the way of a change")
  expect(problems).toContain("sub was in the way of a change")
  await files.install([{ path: "a.md", text: "next" }])
  expect(await files.read("a.md")).toBe("next")
})

test("BEY-9 what an editor writes late into a file that was just replaced comes back, or goes to the archive", async () => {
  const { files, directory } = await temporaryMemories()
  const path = join(directory, "a.md")
  await files.install([{ path: "a.md", text: "before" }])
  const editor = await open(path, "r+")
  const { skipped } = (await files.install([{ path: "a.md", text: "ours" }]))!
  expect(skipped).toEqual([])
  await editor.truncate(0)
  await editor.write("by hand", 0)
  await files.list()
  expect(await readFile(path, "utf8")).toBe("by hand")
  await editor.write(", and more", 7) // the editor has not finished writing
  await editor.close()
  expect(await files.read("a.md")).toBe("by hand, and more")

  const slow = await open(path, "r+")
  await files.install([{ path: "a.md", text: "ours again" }])
  await writeFile(path, "saved with another editor")
  await slow.write("BY", 0)
  await slow.close()
  await files.list()
  expect(await readFile(path, "utf8")).toBe("saved with another editor")
  const [archived] = await readdir(join(directory, "archive"))
  expect(await readFile(join(directory, "archive", archived!), "utf8")).toBe("BY hand, and more")
})

test("BEY-9 a file of ours is replaced in one step: nothing is kept aside for an editor that cannot be there", async () => {
  const { files, directory } = await temporaryMemories()
  for (const count of [1, 2, 3]) await files.install([{ path: ".count.json", text: `${count}` }])
  expect(await readdir(directory)).toEqual([".count.json"])
  const stale = files.install([{ path: ".count.json", text: "4", expected: "2" }])
  await expect(stale).rejects.toThrow(MemoryChangedError)
  expect(await files.read(".count.json")).toBe("3")
  await files.install([{ path: ".count.json", text: undefined }])
  expect(await files.read(".count.json")).toBeUndefined()
})

test.each(["checked", "intended", "changed"] as const)(
  "BEY-12 an install that lost its lock after the step %s writes no more, and does not take away another's intent",
  async (last) => {
    const { root, remove } = await temporaryRoot()
    onTestFinished(remove)
    const directory = join(root, "memory")
    const others = '{"changes":[],"sum":"another process writes"}'
    const paused = memoryDirectory({
      directory,
      clock: systemClock,
      atStep(step) {
        if (step !== last) return
        rmSync(join(directory, ".lock"), { force: true })
        writeFileSync(join(directory, ".intent.json"), others)
      },
    })
    const names = ["a.md", "b.md"]
    const install = paused.install(names.map((path) => ({ path, text: "late", expected: null })))
    await expect(install).rejects.toThrow(LockLostError)
    expect(await readFile(join(directory, ".intent.json"), "utf8")).toBe(others)
    const there = (await readdir(directory)).filter((name) => names.includes(name))
    expect(there).toEqual(last === "changed" ? expect.any(Array) : [])
  },
)

test("BEY-9 a damaged intent is set aside and changes nothing", async () => {
  const { files, directory } = await temporaryMemories()
  await files.install([{ path: "a.md", text: "a" }])
  for (const intent of ['{"changes":[{"path":"a.md","before":"a","text":"evil"}],"sum":"0"}', "{", "[]"]) {
    await writeFile(join(directory, ".intent.json"), intent)
    expect(await files.read("a.md")).toBe("a")
  }
  expect(await readdir(join(directory, ".damaged"))).toHaveLength(3)
  expect(await files.problems!()).toHaveLength(3)
})

test("BEY-9 a change that was half made when its intent was damaged: what was moved away comes back, and it is reported once", async () => {
  for (const damage of [
    (text: string) => text.slice(0, -40), // torn
    (text: string) => text.replace("ours", "0urs"), // another bit
  ]) {
    const { files, directory } = await temporaryMemories()
    await files.install(["a.md", "b.md"].map((path) => ({ path, text: `${path} before` })))
    const killed = memoryDirectory({
      ...{ directory, clock: systemClock },
      atStep(step) {
        if (step === "moved") throw new Error("killed")
      },
    })
    const change = killed.install(["a.md", "b.md"].map((path) => ({ path, text: `${path} ours` })))
    await expect(change).rejects.toThrow("completes it")
    const intent = join(directory, ".intent.json")
    await writeFile(intent, damage(await readFile(intent, "utf8")))
    expect(await files.notices!()).toEqual([expect.stringContaining("all other memories and the history are intact")])
    expect(await files.notices!()).toEqual([])
    expect((await files.problems!())[0]).toContain(".damaged/")
    for (const path of ["a.md", "b.md"])
      expect(`${await files.read(path)} ${await files.read(`archive/${path}`)}`).toContain(`${path} before`)
    await files.install([{ path: "a.md", text: "next" }])
    expect(await files.read("a.md")).toBe("next")
    await files.install([{ path: "a.md", text: undefined }], { permanent: true })
    expect(await files.problems!()).toEqual([])
  }
})

/** The intent as earlier versions wrote it: in one line, of which they could read at most 4 MB. */
function olderIntent(changes: readonly { path: string; before: string | null; text: string | null }[]): string {
  const id = "0a1b2c3d"
  return JSON.stringify({ id, changes, sum: hash("sha256", `${id}${JSON.stringify(changes)}`, "hex") })
}

test("BEY-9 a memory that an older version left with an intent too large to read opens, with all of the change", async () => {
  const { files, directory } = await temporaryMemories()
  await files.install([{ path: "a.md", text: "before" }])
  const large = "x".repeat(200_000)
  const changes = Array.from({ length: 24 }, (_, at) => ({ path: `n${at}.md`, before: null, text: `${at} ${large}` }))
  const intent = olderIntent([{ path: "a.md", before: "before", text: "after" }, ...changes])
  expect(intent.length).toBeGreaterThan(4 * 1024 * 1024)
  await writeFile(join(directory, ".intent.json"), intent)
  expect(await files.list()).toHaveLength(25)
  expect(await files.read("a.md")).toBe("after")
  expect(await files.read("n23.md")).toBe(`23 ${large}`)
  expect(await files.problems!()).toEqual([])
})

test("BEY-9 a change that is larger than any of its texts may be is completed after a kill at each of its steps", async () => {
  const large = "y".repeat(2_500_000)
  const changes = ["a.md", "b.md"].map((path) => ({ path, text: `${path} ${large}` }))
  for (const last of ["checked", "intended", "moved", "changed"] as const) {
    const { files, directory } = await temporaryMemories()
    await files.install(changes.map(({ path }) => ({ path, text: "before" })))
    const killed = memoryDirectory({
      ...{ directory, clock: systemClock },
      atStep(step) {
        if (step === last) throw new Error("killed")
      },
    })
    await expect(killed.install(changes)).rejects.toThrow()
    for (const { path, text } of changes) expect(await files.read(path)).toBe(last === "checked" ? "before" : text)
    expect((await readdir(directory)).filter((name) => /intent|lock|draft/.test(name))).toEqual([])
  }
})

test("BEY-9 links inside the directory are not followed, neither to read nor to write", async () => {
  const { root, files, directory } = await temporaryMemories()
  await files.install([{ path: "a.md", text: "a" }])
  await mkdir(join(root, "outside"))
  await writeFile(join(root, "outside", "x.md"), "outside")
  await symlink(join(root, "outside", "x.md"), join(directory, "x.md"))
  await symlink(join(root, "outside"), join(directory, "folder"))
  expect((await files.list()).map(({ path }) => path)).toEqual(["a.md"])
  for (const path of ["x.md", "folder/x.md", "folder/new.md"]) {
    await expect(files.read(path)).rejects.toThrow("it is a link")
    await expect(files.install([{ path, text: "y" }])).rejects.toThrow("it is a link")
  }
  expect(await readdir(join(root, "outside"))).toEqual(["x.md"])
})

test("L7-7 an agent's memory has one directory per scope, and the one in the project cannot lead out of it", async () => {
  const { root } = await temporaryMemories()
  const project = join(root, "work")
  await mkdir(project)
  const store = fileStore({ root: join(root, "home") })
  const directories = [
    store.memories({ agent: "reviewer", scope: "user" }),
    store.memories({ agent: "reviewer", scope: "local", project: "p" }),
    store.memories({ agent: "reviewer", scope: "project", directory: project }),
  ].map(({ directory }) => directory)
  expect(directories).toEqual([
    join(root, "home/agent-memory/reviewer"),
    join(root, "home/projects/p/agent-memory/reviewer"),
    join(project, ".strata/agent-memory/reviewer"),
  ])
  for (const agent of ["../x", "a/b", ""])
    expect(() => store.memories({ agent, scope: "user" })).toThrow("cannot be used as a name for an agent")
  await symlink(join(root, "home"), join(project, ".strata"))
  const files = store.memories({ agent: "reviewer", scope: "project", directory: project })
  await mkdir(join(root, "home"))
  await expect(files.read("a.md")).rejects.toThrow("it leads out of")
  await expect(files.install([{ path: "a.md", text: "x" }])).rejects.toThrow("it leads out of")
})
