/** Restoring files after a rewind: real files, real tools, an in-process model. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { describe, expect, test } from "vitest"
import { ask, calling, type Scene, scene } from "../../test/scripted-agent.ts"
import { isWhole } from "../../test/size.ts"
import type { Agent } from "../agent/agent.ts"
import { codingTools } from "../agent/tools/toolsets.ts"
import { edit } from "../tools/files/edit.ts"
import { read } from "../tools/files/read.ts"
import { write } from "../tools/files/write.ts"
import { engineOf } from "./conversation.ts"
import { contentHash } from "./file-snapshots.ts"

const readIt = (path: string) => calling("Read", { file_path: path })
const writeIt = (path: string, content: string) => calling("Write", { file_path: path, content })
const editIt = (path: string, old_string: string, new_string: string) =>
  calling("Edit", { file_path: path, old_string, new_string })

const OPTIONS = { tools: [read, write, edit], mode: "bypass" } as const

/** Uuid of the user's newest message. */
const newest = (agent: Agent) => engineOf(agent.conversation).views.words.messages.at(-1)!.uuid

const inFile = ({ cwd }: Scene, name: string) => readFileSync(join(cwd, name), "utf8")

async function changed(place: Scene) {
  writeFileSync(join(place.cwd, "a.txt"), "one\r\n")
  const agent = await place.open(
    [
      readIt("a.txt"),
      editIt("a.txt", "one", "two"),
      writeIt("made/b.txt", "new"),
      editIt("a.txt", "two", "three"),
      "Done.",
    ],
    OPTIONS,
  )
  await ask(agent, "change them")
  return { agent, uuid: newest(agent) }
}

describe("JRN-5 restoring files", () => {
  test("puts back the exact content and removes what was created, and the model knows", async () => {
    const place = scene()
    const { agent, uuid } = await changed(place)
    const plan = await agent.conversation.planRestore(uuid)
    expect(plan.files.map(({ name, action, needsConsent }) => [name, action, needsConsent])).toEqual([
      ["a.txt", "restore", false],
      ["made/b.txt", "remove", false],
    ])
    const report = await agent.conversation.restoreFiles(plan)
    expect(report).toEqual({ restored: ["a.txt"], removed: ["made/b.txt"], skipped: [] })
    expect(inFile(place, "a.txt")).toBe("one\r\n")
    expect(existsSync(join(place.cwd, "made/b.txt"))).toBe(false)
    await ask(agent, "go on")
    expect(JSON.stringify(place.requests.at(-1))).toMatch(/had files put back on disk.*a\.txt.*made\/b\.txt/)
    expect((await agent.conversation.planRestore(uuid)).files).toEqual([])
  })

  test.runIf(isWhole)("works after a resume, and a restore can be taken back", async () => {
    const place = scene()
    const { agent, uuid } = await changed(place)
    await agent.close()
    const again = await place.open(["Hello."], OPTIONS)
    await ask(again, "hello")
    const later = newest(again)
    await again.conversation.restoreFiles(await again.conversation.planRestore(uuid))
    expect(inFile(place, "a.txt")).toBe("one\r\n")
    const back = await again.conversation.restoreFiles(await again.conversation.planRestore(later))
    expect(back).toEqual({ restored: ["a.txt", "made/b.txt"], removed: [], skipped: [] })
    expect(inFile(place, "a.txt")).toBe("three\r\n")
  })

  test("leaves a file that someone else changed since, unless it may overwrite it", async () => {
    const place = scene()
    const { agent, uuid } = await changed(place)
    for (const name of ["a.txt", "made/b.txt"]) writeFileSync(join(place.cwd, name), "mine")
    const plan = await agent.conversation.planRestore(uuid)
    expect(plan.files.map(({ needsConsent }) => needsConsent)).toEqual([true, true])
    const { skipped } = await agent.conversation.restoreFiles(plan)
    expect(skipped).toEqual(["a.txt", "made/b.txt"].map((name) => ({ name, why: "someone else changed it since" })))
    expect(inFile(place, "a.txt")).toBe("mine")
    writeFileSync(join(place.cwd, "made/b.txt"), "changed after the plan")
    const report = await agent.conversation.restoreFiles(plan, { overwrite: true })
    expect(report.restored).toEqual(["a.txt"])
    expect(report.skipped).toEqual([{ name: "made/b.txt", why: "it changed just now" }])
  })

  test("names what a command changed as not restorable", async () => {
    const place = scene()
    const { cwd, open } = place
    writeFileSync(join(cwd, "old.txt"), "old")
    const agent = await open([calling("Bash", { command: "echo new > old.txt" }), "Done."], {
      tools: codingTools(),
      mode: "bypass",
      env: { PATH: process.env.PATH },
    })
    await ask(agent, "change it")
    const plan = await agent.conversation.planRestore(newest(agent))
    expect(plan.files).toMatchObject([{ name: "old.txt", action: "leave", why: expect.stringContaining("a command") }])
    expect(await agent.conversation.restoreFiles(plan)).toMatchObject({ restored: [], skipped: [{ name: "old.txt" }] })
    expect(inFile(place, "old.txt")).toBe("new\n")
  })

  test("writes nothing outside the project, and follows no link that leads there", async () => {
    const place = scene()
    const outside = scene().cwd
    const { agent, uuid } = await changed(place)
    writeFileSync(join(outside, "b.txt"), "new")
    rmSync(join(place.cwd, "made"), { recursive: true })
    symlinkSync(outside, join(place.cwd, "made"))
    rmSync(join(place.cwd, "a.txt"))
    symlinkSync(join(outside, "b.txt"), join(place.cwd, "a.txt"))
    const plan = await agent.conversation.planRestore(uuid)
    const report = await agent.conversation.restoreFiles(plan, { overwrite: true })
    expect(report.skipped.map(({ why }) => why)).toEqual(["it is a link now", "its path leads outside the project"])
    expect(readFileSync(join(outside, "b.txt"), "utf8")).toBe("new")
  })
})

describe("JRN-5 restoring files that others touch too", () => {
  test("asks before it takes back what someone else wrote between two changes of the agent", async () => {
    const place = scene()
    writeFileSync(join(place.cwd, "a.txt"), "one\n")
    const agent = await place.open(
      [
        readIt("a.txt"),
        editIt("a.txt", "one", "two"),
        "Done.",
        readIt("a.txt"),
        editIt("a.txt", "two", "three"),
        "Done.",
      ],
      OPTIONS,
    )
    await ask(agent, "change it")
    const uuid = newest(agent)
    writeFileSync(join(place.cwd, "a.txt"), "two\nmy own line\n")
    await ask(agent, "and again")
    const plan = await agent.conversation.planRestore(uuid)
    expect(plan.files).toMatchObject([{ needsConsent: true, why: "someone else changed it in between" }])
    expect((await agent.conversation.restoreFiles(plan)).restored).toEqual([])
    expect(inFile(place, "a.txt")).toBe("three\nmy own line\n")
  })

  test("does not overwrite what it cannot keep", async () => {
    const place = scene()
    const { agent, uuid } = await changed(place)
    const large = "x".repeat(5 * 1024 * 1024)
    writeFileSync(join(place.cwd, "a.txt"), large)
    const plan = await agent.conversation.planRestore(uuid)
    const { skipped } = await agent.conversation.restoreFiles(plan, { overwrite: true })
    expect(skipped).toMatchObject([{ name: "a.txt", why: expect.stringContaining("too large to keep") }])
    expect(inFile(place, "a.txt")).toBe(large)
  })

  test("brings a file back with its permissions", async () => {
    const place = scene()
    const script = join(place.cwd, "run.sh")
    writeFileSync(script, "one", { mode: 0o750 })
    const agent = await place.open([readIt("run.sh"), editIt("run.sh", "one", "two"), "Done."], OPTIONS)
    await ask(agent, "change it")
    rmSync(script)
    await agent.conversation.restoreFiles(await agent.conversation.planRestore(newest(agent)), { overwrite: true })
    expect(inFile(place, "run.sh")).toBe("one")
    expect(statSync(script).mode & 0o777).toBe(0o750)
  })

  test("writes nothing through a path of a journal that climbs out of the project", async () => {
    const place = scene()
    const { agent, uuid } = await changed(place)
    const [kept] = (await agent.conversation.planRestore(uuid)).files
    const name = `stolen-${basename(place.cwd)}`
    const climbing = `${place.cwd}/gone/../../${name}/a.txt`
    await agent.conversation.attach({
      type: "files_restored",
      ...{ restored: [], removed: [], left: [] },
      changes: [{ path: climbing, before: contentHash(kept!.content!), mode: 0o4777 }],
    })
    const plan = await agent.conversation.planRestore(uuid)
    await agent.conversation.restoreFiles(plan, { overwrite: true })
    expect(existsSync(join(place.cwd, "..", name))).toBe(false)
  })
})

describe("JRN-5 restoring files whose contents were not kept", () => {
  /** The same calls, as recorded by an older version. */
  async function recorded(
    place: Scene,
    calls: readonly { readonly name: string; readonly input: object; readonly output: string }[],
  ) {
    const agent = await place.open([], OPTIONS)
    const chat = agent.conversation
    await chat.add("earlier")
    let uuid = ""
    for (const [n, { name, input, output }] of calls.entries()) {
      if (name === "point") {
        await chat.record({ content: [{ type: "text", text: "Done." }] })
        uuid = await chat.add("change it")
        continue
      }
      await chat.record({ content: [{ type: "tool_use", id: `c${n}`, name, input }] })
      await chat.add([{ type: "tool_result", tool_use_id: `c${n}`, content: output }])
    }
    return { chat, uuid }
  }
  const point = { name: "point", input: {}, output: "" }
  const edited = (old_string: string, new_string: string, file_path = "a.txt") => ({
    name: "Edit",
    input: { file_path, old_string, new_string },
    output: `Updated ${file_path}. It now reads:`,
  })

  test("reverses edits whose text is in one place", async () => {
    const place = scene()
    writeFileSync(join(place.cwd, "a.txt"), "head\nthree\n")
    const { chat, uuid } = await recorded(place, [point, edited("one", "two"), edited("two", "three")])
    expect(await chat.restoreFiles(await chat.planRestore(uuid))).toMatchObject({ restored: ["a.txt"] })
    expect(inFile(place, "a.txt")).toBe("head\none\n")
  })

  test("takes what a Read showed whole, with the line end that fits the file", async () => {
    const place = scene()
    writeFileSync(join(place.cwd, "a.txt"), "x\nx\ny")
    const shown = { name: "Read", input: { file_path: "a.txt" }, output: "     1\tx\n     2\to\n     3\ty" }
    const { chat, uuid } = await recorded(place, [shown, point, edited("o", "x")])
    expect(await chat.restoreFiles(await chat.planRestore(uuid))).toMatchObject({ restored: ["a.txt"] })
    expect(inFile(place, "a.txt")).toBe("x\no\ny")
  })

  test("takes an earlier Write, removes a created file, and leaves what it cannot know", async () => {
    const place = scene()
    mkdirSync(join(place.cwd, "home"), { recursive: true })
    for (const [name, text] of [
      ["a.txt", "later"],
      ["made.txt", "new"],
      ["c.txt", "same same"],
    ] as const)
      writeFileSync(join(place.cwd, name), text)
    const wrote = (file_path: string, content: string, how: "Created" | "Updated") => ({
      name: "Write",
      input: { file_path, content },
      output: `${how} ${file_path} (1 line).`,
    })
    const { chat, uuid } = await recorded(place, [
      wrote("a.txt", "first", "Created"),
      point,
      wrote("a.txt", "later", "Updated"),
      wrote("made.txt", "new", "Created"),
      edited("other", "same", "c.txt"),
    ])
    const report = await chat.restoreFiles(await chat.planRestore(uuid))
    expect(report).toEqual({
      restored: ["a.txt"],
      removed: ["made.txt"],
      skipped: [{ name: "c.txt", why: "the journal does not have its earlier content" }],
    })
    expect(inFile(place, "a.txt")).toBe("first")
  })
})
