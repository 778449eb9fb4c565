import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { isWhole, size } from "../../../test/size.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { openBank } from "../bank.ts"
import { MemoryConflictError } from "./merge.ts"

const WRITER = fileURLToPath(new URL("../../../test/memory/bank-writer.ts", import.meta.url))

async function bankOnDisk() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root }).memories({ project: "p" })
  return { files, bank: openBank({ files }), directory: files.directory! }
}

type Step =
  | { readonly kind: "put"; readonly file: string; readonly text: string }
  | { readonly kind: "hand"; readonly file: string; readonly text: string }
  | { readonly kind: "remove"; readonly file: string }
  | { readonly kind: "delete"; readonly file: string }
  | { readonly kind: "revert"; readonly at: number }

const file = fc.constantFrom("a.md", "b.md", "c.md")
const text = fc
  .array(fc.constantFrom("one", "two", "three", "# T", "---"), { maxLength: 5 })
  .map((lines) => `${lines.join("\n")}\n`)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("put"), file, text }),
  fc.record({ kind: fc.constant("hand"), file, text }),
  fc.record({ kind: fc.constant("remove"), file }),
  fc.record({ kind: fc.constant("delete"), file }),
  fc.record({ kind: fc.constant("revert"), at: fc.nat(20) }),
)

test("BEY-9 after any sequence of changes, every earlier text can be read, and taking all back leads to the start", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const files = memoryStore().memories({ project: "p" })
      const bank = openBank({ files })
      const texts = async () => {
        const listed = (await files.list()).filter(({ path }) => /^[a-z]\.md$/.test(path))
        return new Map(await Promise.all(listed.map(async ({ path }) => [path, (await files.read(path))!] as const)))
      }
      const seen: { id: number; texts: Map<string, string> }[] = []
      const remember = async () => seen.push({ id: (await bank.history()).length, texts: await texts() })
      await remember()
      for (const one of steps) {
        if (one.kind === "put") await bank.change({ by: "agent", why: "w", puts: [{ file: one.file, text: one.text }] })
        else if (one.kind === "remove") await bank.change({ by: "dream", why: "w", removals: [one.file] })
        else if (one.kind === "hand") await files.install([{ path: one.file, text: one.text }])
        else if (one.kind === "delete") await files.install([{ path: one.file, text: undefined }])
        else if (one.kind === "revert") {
          const count = (await bank.history()).length
          const before = await texts()
          try {
            if (count > 0) await bank.revert(String(1 + (one.at % count)))
          } catch (error) {
            expect(error).toBeInstanceOf(MemoryConflictError)
            expect(await texts()).toEqual(before)
          }
        }
        await remember()
      }
      const history = await bank.history()
      expect(history.map(({ id }) => id)).toEqual(history.map((_, i) => String(i + 1)))
      // each state is as recorded
      const now = new Map<string, string>()
      const states = [new Map<string, string>()]
      for (const { files: changed } of history) {
        for (const { path, after } of changed) {
          if (!/^[a-z]\.md$/.test(path)) continue
          if (after === undefined) now.delete(path)
          else now.set(path, await bank.earlierText(after))
        }
        states.push(new Map(now))
      }
      for (const { id, texts: then } of seen) expect(states[id]).toEqual(then)
      for (let id = history.length; id > 0; id--) await bank.revert(String(id))
      expect(await texts()).toEqual(new Map())
    }),
    { numRuns: size(3, 60) },
  )
})

/** Resolves with the signal that ended the writer. */
function runWriter(args: readonly string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [WRITER, ...args], { stdio: ["ignore", "ignore", "inherit"] })
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") resolve(signal)
      else reject(new Error(`the writer ended with ${code}`))
    })
  })
}

test.runIf(isWhole)("BEY-9 two processes change the same memory at once, and nothing is lost", async () => {
  const { bank, directory } = await bankOnDisk()
  await Promise.all(["left", "right"].map((name) => runWriter([directory, name, "8"])))
  const all = await bank.all()
  expect(all).toHaveLength(16)
  expect((await bank.index()).text.split("\n")).toHaveLength(16)
  const history = await bank.history()
  expect(history.map(({ id, by }) => `${id} ${by}`)).toEqual(history.map((_, i) => `${i + 1} agent`))
  expect(history).toHaveLength(16)
})

test.runIf(isWhole)("BEY-9 changes side by side in one process all succeed", async () => {
  const { bank, files } = await bankOnDisk()
  const other = openBank({ files })
  const change = (at: number) =>
    (at % 2 === 0 ? bank : other).change({ by: "agent", why: "w", puts: [{ name: `n ${at}`, body: String(at) }] })
  await Promise.all(Array.from({ length: 12 }, (_, at) => change(at)))
  expect(await bank.all()).toHaveLength(12)
})

test("BEY-9 a damaged history is bridged and reported", async () => {
  const { bank, files, directory } = await bankOnDisk()
  for (const name of ["one", "two", "three"])
    await bank.change({ by: "agent", why: name, puts: [{ name, body: name }] })
  const history = join(directory, ".history")
  const [, second] = await readdir(join(history, "changes"))
  const path = join(history, "changes", second!)
  await writeFile(path, (await readFile(path, "utf8")).slice(0, 40))
  expect((await bank.history()).map(({ id }) => id)).toEqual(["1", "3"])
  expect(await bank.problems()).toEqual([expect.stringContaining("Change 2 in the history is damaged")])
  await expect(bank.revert("2")).rejects.toThrow("its record is damaged")
  // the head is rebuilt; the file of the damaged change is attributed to the user
  await writeFile(join(history, "head.json"), "{")
  const fresh = openBank({ files })
  expect(await fresh.all()).toHaveLength(3)
  const last = await fresh.change({ by: "agent", why: "four", puts: [{ name: "four", body: "4" }] })
  expect((await fresh.history()).map(({ id, by }) => `${id} ${by}`)).toEqual([
    "1 agent",
    "3 agent",
    "4 person",
    "5 agent",
  ])
  expect(last?.id).toBe("5")
  const [copy] = await readdir(join(history, "texts"))
  await writeFile(join(history, "texts", copy!), "changed")
  await expect(fresh.earlierText(copy!.replace(".md", ""))).rejects.toThrow("missing or damaged")
  await expect(fresh.earlierText("../../x")).rejects.toThrow("missing or damaged")
  await rm(history, { recursive: true })
  expect(
    (await openBank({ files }).history()).map(({ by }) => by),
    "no one knows who wrote them",
  ).toEqual(["outside"])
})

test("BEY-9 no secret reaches a file, a name, the index, the reason or the history", async () => {
  const { bank, directory } = await bankOnDisk()
  const secret = "Tr0ub4dor99"
  const says = `the password is ${secret}`
  await bank.change({ by: "extraction", why: `Because ${says}`, puts: [{ name: says, description: says, body: says }] })
  await bank.change({
    by: "agent",
    why: "w",
    puts: [{ file: "raw.md", text: `---\nname: Raw\ndescription: ${says}\nx-own: ${says}\n---\n${says}\n` }],
  })
  await writeFile(join(directory, "tool.md"), `---\nname: Tool\n---\n${says}\n`)
  const recorded = await bank.record({ by: "agent", source: { saidBy: "agent" }, files: ["tool.md"] })
  expect(recorded?.masked).toEqual([{ file: "tool.md", kind: "password" }])
  expect(await bank.get("raw.md")).toMatchObject({
    name: "Raw",
    description: "the password is [secret removed: password]",
  })
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    expect(entry.name).not.toContain(secret.toLowerCase())
    if (entry.isFile()) expect(await readFile(join(entry.parentPath, entry.name), "utf8")).not.toContain(secret)
  }
  // a user's manual edit stays in its file only
  await writeFile(join(directory, "mine.md"), `${says}\n`)
  expect((await bank.get("mine.md"))?.body).toBe("the password is [secret removed: password]")
  expect(await bank.problems()).toEqual([expect.stringContaining("mine.md has a secret in it")])
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const holding = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) =>
        (await readFile(join(parentPath, name), "utf8")).includes(secret) ? [name] : [],
      ),
  )
  expect(holding.flat()).toEqual(["mine.md"])
})

test("L5-8 a bank opened for reading writes nothing", async () => {
  const { bank, files, directory } = await bankOnDisk()
  await bank.change({ by: "agent", why: "w", puts: [{ name: "one", body: "1" }] })
  await writeFile(join(directory, "hand.md"), "by hand")
  const reader = openBank({ files, readOnly: true })
  expect((await reader.all()).map(({ file }) => file)).toEqual(["hand.md", "one.md"])
  await expect(reader.change({ by: "agent", why: "w", puts: [{ name: "x", body: "x" }] })).rejects.toThrow(
    "reading only",
  )
  expect(await reader.history()).toHaveLength(1)
})

test.runIf(isWhole)(
  "BEY-9 a bank whose writer is killed again and again has each change completely or not at all",
  async () => {
    const { bank, directory } = await bankOnDisk()
    for (const stopAt of fc.sample(fc.nat(25), { numRuns: size(3, 6), seed: 3 })) {
      expect(await runWriter([directory, `stops at ${stopAt}`, "10", String(stopAt)])).toBe("SIGKILL")
      const history = await bank.history()
      expect(history.map(({ id, by }) => `${id} ${by}`)).toEqual(history.map((_, i) => `${i + 1} agent`))
      expect(await bank.all()).toHaveLength(history.length)
      const index = await readFile(join(directory, "MEMORY.md"), "utf8").catch(() => "")
      expect(index.split("\n").filter(Boolean)).toHaveLength(history.length)
      expect(await bank.problems()).toEqual([])
    }
    expect((await bank.all()).length).toBeGreaterThan(2)
  },
)

test("BEY-9 an erased memory leaves no mark in others, in the files, the archive or the history", async () => {
  const { bank, directory } = await bankOnDisk()
  const everything = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), "utf8")}`)
      .join("\n")
  await bank.change({ by: "person", why: "a", puts: [{ file: "first.md", name: "First", body: "One." }] })
  const gate = { file: "hunter2.md", name: "Hunter", body: "Two.", supersedes: ["first.md"] }
  await bank.change({ by: "person", why: "b", puts: [gate] })
  const old = { file: "old.md", name: "Old", body: "O.", supersedes: ["hunter2"] }
  await bank.change({ by: "person", why: "c", puts: [old] })
  await bank.change({ by: "person", why: "d", removals: ["old.md"] })
  const last = { file: "last.md", name: "Last", body: "Three.", supersedes: ["hunter2.md"] }
  await bank.change({ by: "person", why: "e", puts: [last] })
  expect(everything()).toContain("hunter2")
  await bank.erase("hunter2.md")
  expect(everything()).not.toContain("hunter2")
  const [first, third] = await bank.all()
  expect(first).toMatchObject({ file: "first.md", supersededBy: "last.md" })
  expect(third).toEqual(expect.not.objectContaining({ supersedes: expect.anything() }))
  expect(await bank.problems()).toEqual([])
  const changes = await bank.history()
  expect(changes.map(({ by }) => by)).toEqual(Array(changes.length).fill("person"))
  expect(changes.map(({ why }) => why)).not.toContain("Edited by hand")
})
