/** `strata memory`, on memory files in a separate home directory. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { systemClock } from "../../core/src/base/clock.ts"
import { projectAt } from "../../core/src/base/project.ts"
import { memoryDirectory } from "../../core/src/journal/file/memory-directory.ts"
import { openBank } from "../../core/src/memory/bank.ts"
import { isWhole } from "../../core/test/size.ts"
import type { CommandCall } from "../src/command.ts"
import { review } from "../src/memory/review.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, MAIN, strata } from "./strata-process.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"

sayMissingTerminals()

const PNPM = `---
name: Package manager
description: Which package manager this project uses
type: project
created: 2026-03-01
source: { said-by: user, conversation: 0f1e2d3c-aaaa, message: m7 }
---

The project uses pnpm.
`
const TABS = `---
name: Indentation
description: How code is indented here
type: feedback
created: 2026-03-01
source: { said-by: agent }
---

Two spaces. **Why:** the linter says so.
`

async function memoryPlace(files: Readonly<Record<string, string>> = { "package-manager.md": PNPM, "tabs.md": TABS }) {
  const place = emptyPlace()
  const project = join(realpathSync(place.cwd), "project")
  mkdirSync(project)
  execFileSync("git", ["init", "-q", project])
  const { name } = await projectAt({ cwd: project, env: process.env })
  const directory = join(place.env.STRATA_HOME!, "projects", name, "memory")
  const write = (file: string, text: string) => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, file), text)
  }
  for (const [file, text] of Object.entries(files)) write(file, text)
  return {
    project,
    directory,
    env: place.env,
    write,
    read: (file: string) => readFileSync(join(directory, file), "utf8"),
    memory: (
      args: readonly string[],
      { cwd = project, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
    ) => strataHere(["memory", ...args], { cwd, env: { ...place.env, ...env } }),
    memoryProcess: (args: readonly string[]) => strata(["memory", ...args], { cwd: project, env: place.env }),
    [Symbol.dispose]: () => place.remove(),
  }
}

test("L5-8 L5-13 lists memories with type, age and source, what is not confirmed apart, and shows one in full", async () => {
  using at = await memoryPlace({})
  const bank = openBank({ files: memoryDirectory({ directory: at.directory, clock: systemClock }) })
  const stated = { saidBy: "user", conversation: "0f1e2d3c-aaaa", message: "m7" } as const
  const noted = { saidBy: "agent", outside: "Read README.md" } as const
  for (const [file, text, source] of [
    ["package-manager.md", PNPM, stated],
    ["tabs.md", TABS, noted],
  ] as const)
    await bank.change({ by: "extraction", why: "w", puts: [{ file, text, source }] })
  const [listed, shown, json] = await Promise.all([
    at.memoryProcess([]),
    at.memory(["show", "pack"]),
    at.memory(["--json"]),
  ])
  expect(listed).toMatchObject({ code: 0, stderr: "" })
  expect(listed.stdout).toContain(`2 memories in ${at.directory}`)
  const [own, notes] = listed.stdout.split("1 memory not confirmed")
  expect(own).toMatch(/package-manager +project +\d+ months ago +you said it\n/)
  expect(notes).toMatch(/tabs +feedback +\d+ months ago +noted by the agent, not confirmed\n/)
  expect(notes).toMatch(/How code is indented here In view: Read README\.md/)
  expect(shown.stdout).toMatch(/^Package manager\n/)
  expect(shown.stdout).toMatch(/conversation +0f1e2d3c-aaaa\n +message +m7\n/)
  expect(shown.stdout).toMatch(/\n\nThe project uses pnpm\.\n$/)
  const { memories } = JSON.parse(json.stdout)
  expect(memories).toMatchObject([{ file: "tabs.md" }, { file: "package-manager.md", source: { message: "m7" } }])
})

test("L5-13 confirm and review: one key confirms, drops or skips, and a command of an agent cannot", async () => {
  using at = await memoryPlace({})
  const files = memoryDirectory({ directory: at.directory, clock: systemClock })
  const bank = openBank({ files })
  const note = (name: string) => bank.change({ by: "agent", why: "w", puts: [{ name, body: `About ${name}.` }] })
  for (const name of ["one", "two", "three", "four"]) await note(name)
  expect((await at.memory(["confirm", "one"])).stdout).toMatch(
    /^one is confirmed\. Revert it with: strata memory revert \d+\n$/,
  )
  expect((await at.memory(["confirm", "one"])).stdout).toBe("one is confirmed already.\n")
  expect((await bank.get("one.md"))?.source).toEqual({ saidBy: "agent", confirmed: true })
  expect((await at.memory(["review"])).stderr).toContain("strata memory confirm NAME")

  const stdin = Object.assign(new PassThrough(), { isTTY: true, fd: 0 }) as never as NonNullable<CommandCall["stdin"]>
  let printed = ""
  const keys = ["y", "xs", "d"]
  const terminal = {
    columns: 80,
    isScreen: true,
    print(text: string) {
      printed += text
      if (text.includes("q ends"))
        for (const key of keys.shift() ?? "q") setImmediate(() => (stdin as never as PassThrough).write(key))
    },
  } as never
  expect(await review({ bank, terminal, stdin })).toBe(0)
  expect(printed).toContain("1 of 3: y confirms, d drops, s skips, q ends")
  const left = new Map((await bank.all()).map(({ file, source }) => [file, source.confirmed]))
  expect([...left]).toEqual([
    ["four.md", true],
    ["one.md", true],
    ["three.md", undefined],
  ])

  const owner = { pid: 1, host: "elsewhere", started: "" } // an owner that cannot be checked
  await files.install([{ path: ".history/writing/x.json", text: JSON.stringify({ by: "x", owner }) }])
  for (const args of [
    ["confirm", "three"],
    ["forget", "three"],
  ]) {
    const refused = await at.memory(args)
    expect(refused.stderr).toContain("An agent is running a command in this project, and it must not speak for you.")
    expect(refused.code).not.toBe(0)
  }
  expect((await bank.get("three.md"))?.source.confirmed).toBeUndefined()
})

test("L5-8 without memories it says where they will be, and creates nothing", async () => {
  using at = await memoryPlace({})
  expect((await at.memory([])).stdout).toBe(`This project has no memories yet. They are stored in ${at.directory}\n`)
  expect(existsSync(at.directory)).toBe(false)
})

test("L5-8 forgets into the archive, and takes that back", async () => {
  using at = await memoryPlace()
  const forgotten = await at.memory(["forget", "indentation"])
  expect(forgotten.stdout).toMatch(/^"Indentation" is forgotten\. The text is stored in .*archive.*\n.*revert 2\n$/)
  expect(existsSync(join(at.directory, "tabs.md"))).toBe(false)
  expect(readdirSync(join(at.directory, "archive"))).toHaveLength(1)
  expect((await at.memory([])).stdout).toContain("1 memory in")
  const reverted = await at.memory(["revert", "2", "--yes"])
  expect(reverted.stdout).toContain("-Two spaces. **Why:** the linter says so.")
  expect(reverted.stdout).toContain("Change 2 was reverted.")
  expect(at.read("tabs.md")).toBe(TABS)
})

test("BEY-9 --erase removes a memory everywhere: file, index, archive, history and what a dream left; the rest can still be reverted", async () => {
  using at = await memoryPlace()
  const SECRET = "the gate opens with four seven one one"
  const everything = () =>
    readdirSync(join(at.directory, ".."), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), "utf8")}`)
      .join("\n")
  at.write("gate.md", `---\nname: Gate\ndescription: ${SECRET}\n---\n\n${SECRET}\n`)
  await at.memory([])
  at.write("gate.md", `---\nname: Gate\ndescription: ${SECRET}\n---\n\n${SECRET}, twice.\n`)
  await at.memory(["forget", "tabs"])
  await at.memory(["forget", "gate"])
  const dreams = join(at.directory, "..", "dreams")
  mkdirSync(dreams)
  const pending = { id: "a", puts: [], removals: [], base: [["gate.md", SECRET]] }
  writeFileSync(join(dreams, "pending.json"), JSON.stringify(pending))
  writeFileSync(join(at.directory, "..", "search.sqlite"), SECRET)
  expect(everything()).toContain(SECRET)
  expect(await at.memory(["forget", "--erase", "gate"])).toMatchObject({ code: 2 })
  const { code, stdout } = await at.memory(["forget", "--erase", "gate", "--yes"])
  expect(code).toBe(0)
  expect(stdout).toContain("gate.md is erased")
  expect(stdout).toContain("still has it in its journal")
  expect(everything()).not.toContain(SECRET)
  expect(everything()).not.toContain("gate.md")
  const { changes } = JSON.parse((await at.memory(["history", "--json"])).stdout)
  const forgotten = changes.find(({ files }: { files: { path: string; after?: string }[] }) =>
    files.some(({ path, after }) => path === "tabs.md" && after === undefined),
  )
  expect((await at.memory(["revert", forgotten.id, "--yes"])).code).toBe(0)
  expect(at.read("tabs.md")).toBe(TABS)
  expect((await at.memory([])).stdout).toContain("2 memories in")
  expect((await at.memory(["forget", "--erase", "gate", "--yes"])).code).toBe(2)
})

test("L5-8 edits a memory in the person's editor, as a change of theirs", async () => {
  using at = await memoryPlace()
  const edited = await at.memory(["edit", "package-manager"], { env: { EDITOR: "sed -i s/pnpm/npm/" } })
  expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining("package-manager.md is changed.") })
  expect(at.read("package-manager.md")).toBe(PNPM.replace("pnpm.", "npm."))
  const { changes } = JSON.parse((await at.memory(["history", "--json"])).stdout)
  expect(changes.at(-1)).toMatchObject({ by: "person", why: "Edited with strata memory edit" })
  const { diff } = JSON.parse((await at.memory(["history", "2", "--json"])).stdout)
  expect(diff).toContain("-The project uses pnpm.\n+The project uses npm.")
})

test("L5-8 BEY-9 an editor that fails, no editor, no change, a secret", async () => {
  using at = await memoryPlace()
  const edit = (env: Record<string, string>) => at.memory(["edit", "tabs"], { env })
  expect(await edit({ EDITOR: "false" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nothing was changed"),
  })
  expect(await edit({})).toMatchObject({ code: 2, stderr: expect.stringContaining("Set EDITOR") })
  expect(await edit({ VISUAL: "true" })).toMatchObject({ code: 0, stdout: "Nothing was changed.\n" })
  expect(at.read("tabs.md")).toBe(TABS)
  const secret = `sk-ant-api03-${"Ab3dE6gH9j".repeat(9)}AA`
  const leaky = await edit({ EDITOR: `sh -c 'echo "key: ${secret}" >> "$0"'` })
  expect(leaky.stderr).toContain("Memories must not contain secrets.")
  expect(at.read("tabs.md")).not.toContain(secret)
  expect((await at.memory(["history", "2"])).stdout).not.toContain(secret)
})

test("L5-8 BEY-9 an edit by hand is in the history as the person's", async () => {
  using at = await memoryPlace()
  await at.memory([])
  at.write("tabs.md", TABS.replace("Two", "Four"))
  const { stdout } = await at.memory(["history"])
  expect(stdout).toMatch(/ 2 +\S+ \S+ +you +changed tabs\.md\. Edited by hand\./)
})

test("BEY-5 searches memories and says what replaced them", async () => {
  const bun = PNPM.replace("Package manager", "Bun")
    .replace("pnpm", "bun")
    .replace("---\n\n", "supersedes: package-manager.md\n---\n\n")
  using at = await memoryPlace({ "package-manager.md": PNPM, "bun.md": bun })
  const [page, json, nothing] = await Promise.all([
    at.memory(["search", "which", "package", "manager"]),
    at.memory(["search", "package manager", "--json"]),
    at.memory(["search", "xylophone"]),
  ])
  expect(page.stdout).toMatch(/Memories\n.*\n +bun /)
  const { memories } = JSON.parse(json.stdout)
  expect(memories.map(({ memory }: { memory: { file: string } }) => memory.file)).toEqual([
    "bun.md",
    "package-manager.md",
  ])
  expect(memories[1]).toMatchObject({ isReplaced: true })
  expect(nothing.stdout).toBe("Nothing in this project's memory or conversations fits.\n")
})

test("L5-10 every subdirectory and worktree of a repository has the same memory", async () => {
  using at = await memoryPlace()
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: at.project })
  git("commit", "-q", "--allow-empty", "-m", "first")
  const worktree = join(at.project, "..", "other")
  git("worktree", "add", "-q", worktree)
  const below = join(at.project, "src", "deep")
  mkdirSync(below, { recursive: true })
  const texts = await Promise.all(
    [at.project, worktree, below].map(async (cwd) => (await at.memory([], { cwd })).stdout),
  )
  expect(new Set(texts)).toHaveLength(1)
  expect(texts[0]).toContain("2 memories in")
  rmSync(worktree, { recursive: true })
})

test("a mistake gets a sentence and exit code 2, and changes nothing", async () => {
  using at = await memoryPlace()
  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [["shw"], 'strata memory has no action shw. Did you mean "strata memory show"?\n'],
    [["dance"], "strata memory has no action dance. The actions are"],
    [["show"], 'Use it like this: strata memory show NAME. "strata memory --help" shows more.\n'],
    [["show", "tasb"], 'There is no memory "tasb" in this project. Did you mean tabs?\n'],
    [["history", "99"], "There is no change 99 in this project's memory."],
    [["revert", "1"], "In scripts, use: strata memory revert 1 --yes"],
    [["forget", "tabs", "--json"], "strata memory forget has no --json."],
  ]
  for (const [args, sentence] of mistakes) {
    const { code, stderr } = await at.memory(args)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(sentence) })
  }
  expect(at.read("tabs.md")).toBe(TABS)
})

test("PERM-5 nothing in a memory controls the terminal", async () => {
  const attack = "\u001b]52;c;ZXZpbA==\u0007 \u001b[2J \u202eexe"
  using at = await memoryPlace({
    "evil.md": `---\nname: "x"\ndescription: ${JSON.stringify(attack)}\n---\n${attack}\n`,
  })
  const all = [[], ["show", "evil"], ["history", "1"], ["search", "exe", "evil"], ["--json"], ["show", attack]]
  for (const args of all) {
    const { stdout, stderr } = await at.memory(args)
    for (const control of ["\u001b", "\u0007", "\u202e"]) expect(stdout + stderr).not.toContain(control)
  }
})

test.runIf(isWhole).each(TERMINALS)("L5-8 BEY-9 revert shows the change and asks, in $name", async ({ open }) => {
  using at = await memoryPlace()
  await at.memory(["forget", "tabs"])
  await using terminal = open({
    command: [process.execPath, MAIN, "memory", "revert", "2"],
    cwd: at.project,
    env: { ...at.env, NO_COLOR: "1" },
  })
  await terminal.sees("Revert this change? yes or no:")
  expect(terminal.screen()).toContain("-Two spaces.")
  terminal.type("yes")
  terminal.press("enter")
  await terminal.sees("Change 2 was reverted.")
  expect(at.read("tabs.md")).toBe(TABS)
})
