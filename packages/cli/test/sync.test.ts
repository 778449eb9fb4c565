/** `strata sync`: two homes, two clones and bare repositories on a disk, with real git. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { systemClock } from "../../core/src/base/clock.ts"
import { projectAt } from "../../core/src/base/project.ts"
import { memoryDirectory } from "../../core/src/journal/file/memory-directory.ts"
import { openBank } from "../../core/src/memory/bank.ts"
import { isWhole } from "../../core/test/size.ts"
import { strataHere } from "./strata-here.ts"
import { MAIN } from "./strata-process.ts"
import { file, type Machine, machines, say } from "./sync-machines.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"

sayMissingTerminals()

const memory = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: About ${name}\ntype: project\n---\n\n${body}\n`

/** Everything that the branches of a repository reach. */
function reachable(repository: string): string {
  const run = (args: string[], input = "") =>
    execFileSync("git", ["--git-dir", repository, ...args], { encoding: "utf8", input })
  const objects = run(["rev-list", "--all", "--objects"])
  return objects + run(["cat-file", "--batch"], objects.replace(/ .*$/gm, ""))
}

test("BEY-12 memories reach the other machine through a branch of their own, which has one commit", async () => {
  const { a, b, box, git } = await machines()
  a.write("ports.md", memory("Ports", "The shop listens on 8080."))
  expect(await a.sync("--dry-run")).toContain(
    "(if it is yours; a sync asks), a sync would do this. Nothing was changed.\nSent: ports.md",
  )
  expect(git("--git-dir", box, "for-each-ref")).toBe("")
  expect(existsSync(join(a.env.STRATA_HOME, "sync"))).toBe(false)
  expect(await a.sync("--mine")).toContain("Sent: ports.md")
  b.write("tests.md", memory("Tests", "The tests need a database."))
  expect(await b.sync("--mine")).toBe(`Synced with ${box} (yours).\nSent: tests.md\nReceived: ports.md\n`)
  const answer = JSON.parse(await a.sync("--json")) as object
  expect(answer).toMatchObject({ trust: "mine", memories: [{ steps: [{ what: "received", file: "tests.md" }] }] })
  expect(a.names()).toEqual(b.names())
  expect(b.read("ports.md")).toBe(a.read("ports.md"))
  expect((await b.strata("memory", "history")).stdout).toContain("added ports.md. Edited by hand.")
  expect(await b.sync()).toContain("Both sides are the same.")
  expect(git("--git-dir", box, "rev-list", "--all", "--count")).toBe("1")
  expect(git("--git-dir", box, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/strata/memories")
  expect(execFileSync("git", ["for-each-ref"], { cwd: a.cwd, encoding: "utf8" })).toBe("")
  expect(readdirSync(a.cwd)).toEqual([".git"])
})

test.runIf(isWhole)("BEY-12 what is erased for good is in no object that the branch reaches", async () => {
  const { a, b, box } = await machines()
  a.write("private.md", memory("Private", "The word is swordfish."))
  a.write("other.md", memory("Other", "Nothing special."))
  await a.sync("--mine")
  await b.sync("--mine")
  expect(reachable(box)).toContain("swordfish")
  await a.strata("memory", "forget", "private", "--erase", "--yes")
  await a.sync()
  expect(reachable(box)).not.toMatch(/swordfish|private/i)
  expect(await b.sync()).toContain("Erased here for good, because they were erased on another machine: private.md")
  const kept = readdirSync(b.env.STRATA_HOME, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const texts = kept.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
  expect(texts.join(" ")).not.toContain("swordfish")
})

test.runIf(isWhole)(
  "BEY-12 two machines that sync at the same time both succeed, and have everything afterwards",
  async () => {
    const { a, b } = await machines()
    for (let round = 1; round <= 3; round++) {
      a.write(`a-${round}.md`, memory(`From a ${round}`, `Fact ${round} of the first machine.`))
      b.write(`b-${round}.md`, memory(`From b ${round}`, `Fact ${round} of the second machine.`))
      await Promise.all([a.sync("--mine"), b.sync("--mine")])
    }
    await a.sync()
    await b.sync()
    await a.sync()
    expect(a.names()).toHaveLength(6)
    expect(b.names()).toEqual(a.names())
  },
)

test("BEY-12 without a terminal, a remote that was not named before gets nothing", async () => {
  const { a, box, git } = await machines()
  a.write("ports.md", memory("Ports", "The shop listens on 8080."))
  const refused = await a.strata("sync", box)
  expect(refused).toMatchObject({ code: 2, stdout: "" })
  expect(refused.stderr).toContain("Add --mine if only you can read and write it, or --shared if others can.")
  expect(git("--git-dir", box, "for-each-ref")).toBe("")
})

test("BEY-12 a remote of the project is never the person's alone", async () => {
  const { a, b, origin, git } = await machines()
  a.write("ports.md", memory("Ports", "The shop listens on 8080."))
  for (const args of [["origin"], ["origin", "--mine"], [origin], [`file://${origin}`, "--mine"]])
    expect((await a.strata("sync", ...args)).stderr).toContain(
      "everyone who can read that repository would read your memories",
    )
  expect(git("--git-dir", origin, "for-each-ref")).toBe("")
  expect((await a.strata("sync", "origin", "--shared")).stdout).toContain("(shared with others).\nSent: ports.md")
  await b.strata("sync", "origin", "--shared")
  const bank = openBank({ files: memoryDirectory({ directory: b.directory, clock: systemClock }) })
  expect(await bank.get("ports.md")).toMatchObject({ source: { saidBy: "agent", outside: origin } })
  // the answer is remembered
  expect(await a.strata("sync", "origin")).toMatchObject({ code: 0 })
})

test("BEY-12 an address cannot start a program, and its password is not shown", async () => {
  const { a, place } = await machines()
  const mark = join(place.cwd, "started")
  const program = join(place.cwd, "program")
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`)
  chmodSync(program, 0o755)
  for (const address of [`ext::${program}`, `--upload-pack=${program}`, `helper://${program}`])
    expect(await a.strata("sync", "--mine", "--", address)).toMatchObject({ code: 2 })
  const unreachable = await a.strata("sync", "--mine", "http://me:hunter2@127.0.0.1:9/box.git")
  expect(unreachable).toMatchObject({ code: 1 })
  expect(unreachable.stderr).toContain("Memories and sessions received so far are saved")
  expect(unreachable.stderr).not.toContain("hunter2")
  expect(existsSync(mark)).toBe(false)
})

test("BEY-12 the state of a stranger's branch is refused, and nothing of it is written", async () => {
  const { a, box } = await machines()
  a.write("ports.md", memory("Ports", "The shop listens on 8080."))
  await a.sync("--mine")
  const clone = join(a.cwd, "..", "stranger")
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...args], { cwd: clone, stdio: "pipe" })
  execFileSync("git", ["clone", "-q", "-b", "strata/memories", box, clone])
  const [project] = readdirSync(join(clone, "projects"))
  writeFileSync(join(clone, "projects", project!, "state.json"), '{"format": 99}')
  git("commit", "-qam", "x")
  git("push", "-q", "origin", "HEAD:strata/memories")
  const refused = await a.strata("sync", box)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.stderr).toContain("Nothing was changed there or here.")
  expect(a.names()).toEqual(["ports.md"])
})

test.runIf(isWhole).each(TERMINALS)(
  "BEY-12 the first sync shows what would leave, and asks whose the remote is ($name)",
  async ({ open }) => {
    const { a, box, git } = await machines()
    a.write("ports.md", memory("Ports", "The shop listens on 8080."))
    const start = () =>
      open({ command: [process.execPath, MAIN, "sync", box], cwd: a.cwd, env: { ...a.env, NO_COLOR: "1" } })
    {
      await using terminal = await start()
      await terminal.sees("1 memory: ports.md")
      await terminal.sees("Whose is it?")
      terminal.type("no")
      terminal.press("enter")
      await terminal.sees("nothing was sent")
    }
    expect(git("--git-dir", box, "for-each-ref")).toBe("")
    await using terminal = await start()
    await terminal.sees("Whose is it?")
    terminal.type("mine")
    terminal.press("enter")
    await terminal.sees("Sent: ports.md")
    expect(git("--git-dir", box, "for-each-ref")).toContain("strata/memories")
  },
)

test.runIf(isWhole)(
  "BEY-12 sessions travel on request, byte for byte, with agents, notes and stored results",
  async () => {
    const { a, b, box, git } = await machines()
    const journal = await say(a, { id: "talk" }, "Hello.", "Where is the test?")
    await journal.writeBlob("result-1.txt", "a long result")
    await journal.writeNotes("# Notes\n")
    await journal.close()
    await (await say(a, { id: "finder", under: "talk" }, "Find it.")).close()
    await a.sync("--mine")
    expect(git("--git-dir", box, "for-each-ref")).toBe("")
    expect(await a.sync("--sessions", "--dry-run")).toContain("1 session sent: talk")
    expect(await a.sync("--sessions")).toContain("1 session sent: talk")
    expect(await b.sync("--mine", "--sessions")).toContain("1 session received: talk")
    const paths = [["talk.jsonl"], ["talk", "subagents", "finder.jsonl"], ["tool-results", "talk", "result-1.txt"]]
    for (const path of [...paths, ["session-memory", "talk.md"]]) expect(file(b, ...path)).toBe(file(a, ...path))

    await (await say(b, { id: "talk" }, "Here it is.")).close()
    await b.sync("--sessions")
    // a conversation that is open is left alone
    const open = await say(a, { id: "talk" })
    expect(await a.sync("--sessions")).toContain(
      "Session talk was not taken from the remote: it is open in another process.",
    )
    await open.close()
    expect(await a.sync("--sessions")).toContain("1 session received: talk")
    const more = await say(a, { id: "talk" }, "Thank you.")
    expect(await a.sync("--sessions")).toContain("Session talk was not sent: it is open in another process.")
    await more.close()
    await a.sync("--sessions")
    expect(await b.sync("--sessions")).toContain("1 session received: talk")
    expect(file(a, "talk.jsonl")).toBe(file(b, "talk.jsonl"))
    expect(await b.sync("--sessions")).toContain("Both sides are the same.")
    expect(git("--git-dir", box, "rev-list", "--count", "strata/sessions")).toBe("1")
  },
)

test.runIf(isWhole)("BEY-12 a session that went on on two machines is two on both", async () => {
  const { a, b } = await machines()
  await (await say(a, { id: "talk" }, "Hello.")).close()
  await a.sync("--mine", "--sessions")
  await b.sync("--mine", "--sessions")
  await (await say(a, { id: "talk" }, "On the first machine.")).close()
  await (await say(b, { id: "talk" }, "On the second machine.")).close()
  await a.sync("--sessions")
  expect(await b.sync("--sessions")).toMatch(
    /Session talk was continued here and on another machine. The other version is stored as talk-elsewhere-/,
  )
  expect(await a.sync("--sessions")).toMatch(/1 session received: talk-elsewhere-/)
  for (const { sync } of [b, a, b]) expect(await sync("--sessions")).toContain("Both sides are the same.")
  const journals = (at: Machine) =>
    readdirSync(join(at.env.STRATA_HOME, "projects", at.project)).filter((name) => name.endsWith(".jsonl"))
  const texts = (at: Machine) =>
    journals(at)
      .map((name) => file(at, name))
      .sort()
  expect(journals(a)).toHaveLength(2)
  expect(texts(b)).toEqual(texts(a))
  // both go on
  await (await say(b, { id: "talk" }, "More on the second machine.")).close()
  await b.sync("--sessions")
  await a.sync("--sessions")
  expect(texts(a)).toEqual(texts(b))
})

test("BEY-12 a session with a secret stays here until the person says otherwise, and sessions go only to a remote of the person's own", async () => {
  const { a, box } = await machines()
  const key = `sk-ant-api03-${"aB3".repeat(31)}-AA`
  await (await say(a, { id: "talk" }, `The key is ${key}`)).close()
  expect(await a.sync("--mine", "--sessions")).toContain(
    "Session talk was not sent: something in it looks like a secret",
  )
  expect(reachable(box)).not.toContain(key)
  await (await say(a, { id: "quoted" }, `Set password = "hunter2-Xy81kq" there`)).close() // in a line its quotes are escaped
  expect(await a.sync("--sessions")).toContain("Session quoted was not sent: something in it looks like a secret")
  expect(reachable(box)).not.toContain("hunter2")
  expect(await a.sync("--sessions", "--with-secrets")).toContain("2 sessions sent: quoted, talk")
  expect(reachable(box)).toContain("hunter2")
  expect((await a.strata("sync", "origin", "--with-secrets")).stderr).toContain("use it with --sessions")
  const refused = await a.strata("sync", "origin", "--shared", "--sessions")
  expect(refused).toMatchObject({ code: 2 })
  expect(refused.stderr).toContain("only with a remote that is yours alone")
})

test.runIf(isWhole)(
  "BEY-12 all projects that have a name travel, also to a machine that does not have them yet",
  async () => {
    const { a, b, box } = await machines()
    a.write("ports.md", memory("Ports", "The shop listens on 8080."))
    const other = { ...a.env, STRATA_PROJECT: "stock" }
    const { name } = await projectAt({ cwd: a.cwd, env: {}, project: "stock" })
    await (await say({ ...a, project: name }, { id: "count" }, "Count everything.")).close()
    const directory = join(a.env.STRATA_HOME, "projects", name, "memory")
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, "shelves.md"), memory("Shelves", "There are 12 shelves."))
    await a.sync("--mine")
    expect(reachable(box)).not.toContain("12 shelves")
    expect(await a.sync("--all-projects", "--sessions")).toContain(`${name}:\n  Sent: shelves.md`)
    await b.sync("--mine", "--all-projects", "--sessions")
    const listed = await strataHere(["memory"], { cwd: b.cwd, env: { ...other, STRATA_HOME: b.env.STRATA_HOME } })
    expect(listed.stdout).toContain("shelves")
    expect(existsSync(join(b.env.STRATA_HOME, "projects", name, "count.jsonl"))).toBe(true)
  },
)

test("BEY-12 other names of the project's own remote, and the project itself, are not a person's own", async () => {
  const { a } = await machines()
  execFileSync("git", ["remote", "add", "team", "git@github.com:acme/shop.git"], { cwd: a.cwd })
  const names = [
    "https://github.com/Acme/Shop",
    "ssh://git@ssh.github.com:443/acme/shop.git",
    "https://www.github.com/acme/shop",
  ]
  for (const name of [...names, ".", ".git", `file://${a.cwd}`, join(a.cwd, "..", "a")]) {
    const { code, stderr } = await a.strata("sync", name, "--mine", "--dry-run")
    expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining("is a remote of the project itself")])
  }
})
