/** Limits of instruction files: they cannot read outside the project, bypass the rules, or delay opening. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { ask, calling, resultsIn, scene } from "../../../test/scripted-agent.ts"
import { isWhole } from "../../../test/size.ts"
import { manualClock } from "../../base/clock.ts"
import { repositoryRoot } from "../../base/git.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { edit } from "../../tools/files/edit.ts"
import { read } from "../../tools/files/read.ts"
import { MAX_CHARACTERS, MAX_IMPORTS } from "./instruction-source.ts"

function place() {
  const made = scene()
  const root = made.cwd
  const cwd = join(root, "project")
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  mkdirSync(cwd)
  const clock = manualClock()
  const open: typeof made.open = (turns, options) => made.open(turns, { cwd, clock, tools: [read], ...options })
  const sent = () => JSON.stringify(made.requests)
  return { ...made, root, cwd, put, open, sent }
}

describe("NEST-3 instruction files", () => {
  test("bring nothing from outside the project: absolute, relative, through links", async () => {
    const { root, put, open, sent } = place()
    put("secret.md", "SECRET")
    put("outside/rule.md", "SECRET")
    put("project/AGENTS.md", `Mine. @${join(root, "secret.md")} @../secret.md @link.md @linked/rule.md`)
    symlinkSync(join(root, "secret.md"), join(root, "project/link.md"))
    symlinkSync(join(root, "outside"), join(root, "project/linked"))
    symlinkSync(join(root, "secret.md"), join(root, "project/CLAUDE.md"))
    mkdirSync(join(root, "project/.claude"))
    symlinkSync(join(root, "outside"), join(root, "project/.claude/rules"))
    const agent = await open([])
    await ask(agent, "go")
    expect(sent()).toContain("Mine.")
    expect(sent()).not.toContain("SECRET")
    expect(agent.problems.filter((problem) => problem.includes("outside the project")).length).toBeGreaterThan(4)
    expect(new Set(agent.problems).size).toBe(agent.problems.length)
  })

  test.each(["deny", "ask"] as const)("bring nothing that Read would %s", async (verdict) => {
    const { cwd, put, open, sent } = place()
    put("project/keys.md", "SECRET")
    put("project/AGENTS.md", "Mine. @keys.md")
    const rule = `Read(${join(cwd, "keys.md")})`
    const agent = await open([], { settings: { permissions: { [verdict]: [rule] } }, mode: "bypass" })
    await ask(agent, "go")
    expect(sent()).not.toContain("SECRET")
    expect(agent.problems.join()).toContain("keys.md, which Read may not read")
  })

  test("the person's own may import any file of the person that Read may read", async () => {
    const { root, put, open, sent } = place()
    put("style.md", "My style.")
    put("home/AGENTS.md", `@${join(root, "style.md")}`)
    await ask(await open([]), "go")
    expect(sent()).toContain("My style.")
  })

  test("FIFOs, directories and binary files are left out", async () => {
    const { cwd, put, open, sent } = place()
    put("project/AGENTS.md", "Mine. @pipe @folder @binary @latin")
    execFileSync("mkfifo", [join(cwd, "pipe")])
    mkdirSync(join(cwd, "folder"))
    put("project/binary", Buffer.from([65, 0, 66]))
    put("project/latin", Buffer.from([0x66, 0xfc, 0x72]))
    const agent = await open([])
    await ask(agent, "go")
    expect(sent()).toContain("Mine. @pipe @folder @binary @latin")
    expect(agent.problems).toHaveLength(4)
  })
})

describe("NEST-4 limits", () => {
  test("121 files that import each other open, each read once", async () => {
    const { put, open, sent } = place()
    const all = Array.from({ length: 121 }, (_, i) => `f${i}.md`)
    for (const name of all) put(`project/${name}`, `${name} ${all.map((other) => `@${other}`).join(" ")}`)
    put("project/AGENTS.md", all.map((name) => `@${name}`).join("\n"))
    await ask(await open([]), "go")
    expect(sent().length).toBeLessThan(MAX_CHARACTERS + 20_000)
  })

  test("imports that take longer than two seconds are left out, and this is reported", async () => {
    const { put, open, sent } = place()
    for (const name of ["a.md", "b.md"]) put(`project/${name}`, `text of ${name}.`)
    put("project/AGENTS.md", "Mine. @a.md @b.md")
    let looks = 0
    const clock = { now: () => new Date(3_000 * looks++) }
    const agent = await open([], { clock })
    await ask(agent, "go")
    expect(agent.problems.join()).toContain("took longer than 2 s to import")
    expect(sent()).toContain("Mine. @a.md @b.md")
  })

  test.runIf(isWhole)("imports are counted; words with an @ are not imports", async () => {
    const { put, open, sent } = place()
    const all = Array.from({ length: MAX_IMPORTS + 5 }, (_, i) => `f${i}.md`)
    for (const name of all) put(`project/${name}`, `text of ${name}.`)
    put("project/AGENTS.md", `${"@someone ".repeat(200)}${all.map((name) => `@${name}`).join("\n")}`)
    const agent = await open([])
    await ask(agent, "go")
    expect(agent.problems).toEqual([expect.stringContaining(`more than ${MAX_IMPORTS} files`)])
    expect(sent()).toContain(`text of f${MAX_IMPORTS - 1}.md.`)
    expect(sent()).toContain(`@f${MAX_IMPORTS}.md`)
  })

  test("a nested file is cut at a line end and says where the rest is", async () => {
    const { cwd, put, open, requests } = place()
    put("project/lib/AGENTS.md", "Use tabs in every file.\n".repeat(20_000))
    put("project/lib/a.ts", "x")
    const agent = await open([calling("Read", { file_path: "lib/a.ts" }), "Done."])
    await ask(agent, "go")
    const nested = engineOf(agent.conversation)
      .views.context.storedMessages()
      .flatMap((message) =>
        message.type === "attachment" && message.attachment.type === "nested_memory" ? [message.attachment] : [],
      )
    expect(nested).toHaveLength(1)
    expect(nested[0]!.content.length).toBeLessThan(MAX_CHARACTERS + 300)
    expect(nested[0]!.content).toContain(`Use tabs in every file.\n[Cut here`)
    expect(nested[0]!.content).toContain(join(cwd, "lib/AGENTS.md"))
    expect(requests).toHaveLength(2)
  })

  test("the repository's root is found from a subdirectory; reading there still needs permission", async () => {
    const { root, cwd, put, open, sent } = place()
    mkdirSync(join(root, "project/.git"))
    put("project/AGENTS.md", "From the root.")
    put("project/packages/AGENTS.md", "From the middle.")
    put("project/packages/x/AGENTS.md", "From here.")
    put("AGENTS.md", "From above.")
    put("project/other.txt", "OTHER")
    const at = join(cwd, "packages/x")
    const agent = await open([calling("Read", { file_path: "../../other.txt" }), "Done."], { cwd: at, mode: "ask" })
    await ask(agent, "go")
    for (const text of ["From the root.", "From the middle.", "From here."]) expect(sent()).toContain(text)
    for (const text of ["From above.", "OTHER"]) expect(sent()).not.toContain(text)
    expect(repositoryRoot(root)).toBe(root)
  })

  test("NEST-1 rules with globs match by name, with braces, and from their own directory", async () => {
    const { put, open, sent } = place()
    put("project/.claude/rules/a.md", '---\npaths: "*.sql"\n---\nRule A.')
    put("project/.claude/rules/b.md", '---\npaths: "db/**/*.{sql,ddl}, x.md"\n---\nRule B.')
    put("home/.claude/rules/c.md", '---\npaths: ["db/**"]\n---\nRule C.')
    put("project/db/deep/a.sql", "x")
    await ask(await open([calling("Read", { file_path: "db/deep/a.sql" }), "Done."]), "go")
    for (const text of ["Rule A.", "Rule B.", "Rule C."]) expect(sent()).toContain(text)
  })
})

test("NEST-3 a home directory kept in git does not open itself to the projects below it", async () => {
  const { root, put, open, sent } = place()
  mkdirSync(join(root, ".git"))
  put(".ssh/id", "SECRET")
  put("project/AGENTS.md", "Mine. @../.ssh/id")
  await ask(await open([], { env: { HOME: root } }), "go")
  expect(sent()).toContain("Mine.")
  expect(sent()).not.toContain("SECRET")
})

test("NEST-1 an instruction file of the repository's root that was loaded at the start counts as read", async () => {
  const { root, cwd, put, open } = place()
  mkdirSync(join(root, "project/.git"))
  put("project/AGENTS.md", "Use tabs.")
  put("project/packages/x/a.ts", "x")
  const change = calling("Edit", { file_path: "../../AGENTS.md", old_string: "tabs", new_string: "spaces" })
  await ask(await open([change, "Done."], { cwd: join(cwd, "packages/x"), tools: [read, edit], mode: "bypass" }), "go")
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("Use spaces.")
})

describe("NEST-1 an attached instruction file counts as read", () => {
  const touchAndEdit = (path: string) => [
    calling("Read", { file_path: "lib/a.ts" }),
    calling("Edit", { file_path: path, old_string: "tabs", new_string: "spaces" }),
    calling("Read", { file_path: path }),
    "Done.",
  ]

  test("when all of it is shown: Edit needs no other Read, and a Read is still answered in full", async () => {
    const { cwd, put, open } = place()
    put("project/lib/AGENTS.md", "Use tabs.\n\n")
    put("project/lib/a.ts", "x")
    const agent = await open(touchAndEdit("lib/AGENTS.md"), { tools: [read, edit], mode: "accept-edits" })
    const results = resultsIn(await ask(agent, "go"))
    expect(readFileSync(join(cwd, "lib/AGENTS.md"), "utf8")).toBe("Use spaces.\n\n")
    expect(results[2]).toContain("Use spaces.")
  })

  test.each([
    ["cut", "Use tabs.\n".repeat(20_000)],
    ["filled in with an import", "Use tabs. @more.md"],
    ["shown without its frontmatter", "---\npaths: 'lib/**'\n---\nUse tabs."],
  ])("not when it is %s", async (_, text) => {
    const { put, open } = place()
    put("project/lib/AGENTS.md", text)
    put("project/lib/more.md", "More.")
    put("project/lib/a.ts", "x")
    const agent = await open(touchAndEdit("lib/AGENTS.md"), { tools: [read, edit], mode: "accept-edits" })
    expect(resultsIn(await ask(agent, "go"))[1]).toContain("has not been read")
  })
})

test("NEST-3 what is left out after the opening is reported once, as a notice", async () => {
  const { put, open } = place()
  put("secret.md", "SECRET")
  put("project/lib/AGENTS.md", "Mine. @../../secret.md")
  for (const name of ["a.ts", "b.ts"]) put(`project/lib/${name}`, "x")
  const turns = ["a.ts", "b.ts"].map((name) => calling("Read", { file_path: `lib/${name}` }))
  const events = await ask(await open([...turns, "Done."]), "go")
  const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []))
  expect(notices).toEqual([expect.stringMatching(/AGENTS\.md imports .*secret\.md, which is outside the project/)])
})
