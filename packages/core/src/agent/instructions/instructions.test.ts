import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { offlineModel } from "../../model/offline/offline-model.ts"
import { openAgent } from "../open-agent.ts"
import { InstructionWatch } from "./instruction-watch.ts"
import { type InstructionOptions, loadInstructions } from "./instructions.ts"

let root: string
let options: InstructionOptions
const put = (path: string, content: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-instructions-")))
  mkdirSync(join(root, "home"))
  mkdirSync(join(root, "project/app"), { recursive: true })
  options = {
    home: join(root, "home"),
    project: join(root, "project"),
    cwd: join(root, "project/app"),
    mayRead: () => true,
  }
})
afterEach(() => rmSync(root, { recursive: true }))

const contents = async () => (await loadInstructions(options)).map(({ content }) => content)
const contentsFor = async (file: string) =>
  (await (await InstructionWatch.start(options)).due([join(root, file)])).map((due) =>
    "content" in due ? due.content : "",
  )

describe("instruction files at the start", () => {
  test.runIf(isWhole)(
    "the user's first, then from the project's root down; local ones last; equal ones once",
    async () => {
      put("home/AGENTS.md", "mine")
      put("project/AGENTS.md", "root")
      put("project/CLAUDE.md", "root")
      put("project/AGENTS.local.md", "just me")
      put("project/app/CLAUDE.md", "app")
      put("project/.strata/rules/b.md", "rule b")
      put("project/.strata/rules/a.md", "rule a")
      expect(await contents()).toEqual(["mine", "root", "just me", "rule a", "rule b", "app"])
    },
  )

  test("files of Claude Code: the person's, .claude/CLAUDE.md, rules in subfolders", async () => {
    put("person/.claude/CLAUDE.md", "for all projects")
    put("person/.claude/rules/tone.md", "short")
    put("project/.claude/CLAUDE.md", "of the project")
    put("project/.claude/rules/a.md", "rule a")
    put("project/.claude/rules/backend/api/http.md", "rule http")
    put("project/.claude/rules/backend/notes.txt", "no rule")
    symlinkSync(join(root, "project/.claude/rules"), join(root, "project/.claude/rules/backend/circle"))
    options = { ...options, userHome: join(root, "person") }
    const found = await contents()
    expect(found).toEqual(["for all projects", "short", "of the project", "rule a", "rule http"])
  })

  test.each(['["**/*.sql"]', "**/*.sql", "\n  - **/*.sql"])(
    "NEST-1 rules for paths wait for a file that fits: %j",
    async (paths) => {
      put("project/.claude/rules/sql.md", `---\npaths: ${paths}\n---\nupper case`) // a bare star is not valid YAML
      expect(await contents()).toEqual([])
      expect(await contentsFor("project/app/x.sql")).toEqual(["upper case"])
      expect(await contentsFor("project/app/x.ts")).toEqual([])
    },
  )
})

describe("NEST-1 instructions near a touched file", () => {
  test("those between the working directory and the file, not those above it", async () => {
    put("project/AGENTS.md", "root")
    put("project/app/lib/AGENTS.md", "lib")
    put("project/app/lib/deep/CLAUDE.md", "deep")
    put("project/app/other/AGENTS.md", "other")
    expect(await contentsFor("project/app/lib/deep/a.ts")).toEqual(["lib", "deep"])
    expect(await contentsFor("elsewhere/a.ts")).toEqual([])
  })

  test("are attached once, and permission is checked", async () => {
    put("project/app/lib/AGENTS.md", "lib")
    put("project/app/secret/AGENTS.md", "secret")
    options = { ...options, mayRead: (path) => !path.includes("secret") }
    const watch = await InstructionWatch.start(options)
    const due = await watch.due([join(root, "project/app/lib/a.ts"), join(root, "project/app/secret/b.ts")])
    expect(due).toEqual([{ type: "nested_memory", path: join(root, "project/app/lib/AGENTS.md"), content: "lib" }])
    expect(await watch.due([join(root, "project/app/lib/b.ts")])).toEqual([])
  })
})

describe("NEST-2 changed instruction files", () => {
  test("are attached again, once for every change", async () => {
    put("project/AGENTS.md", "one")
    const watch = await InstructionWatch.start(options)
    expect(await watch.due([])).toEqual([])
    put("project/AGENTS.md", "two")
    expect((await watch.due([])).map((file) => "content" in file && file.content)).toEqual(["two"])
    expect(await watch.due([])).toEqual([])
  })
})

describe("NEST-3 imports", () => {
  test("are followed, also from imported files, at most four deep, but not inside code", async () => {
    put("project/AGENTS.md", "see @docs/a.md and `@docs/code.md`\n```\n@docs/code.md\n```")
    put("project/docs/code.md", "CODE")
    for (const [from, to] of ["ab", "bc", "cd", "de", "ef"]) put(`project/docs/${from}.md`, `${from} @${to}.md`)
    put("project/docs/f.md", "f")
    const [text] = await contents()
    expect(text).toBe("see a b c d @e.md and `@docs/code.md`\n```\n@docs/code.md\n```")
  })

  test("go round no circle, and a missing one stays as it was written", async () => {
    put("project/AGENTS.md", "@loop.md @gone.md me@example.com")
    put("project/loop.md", "loop @AGENTS.md @loop.md")
    expect(await contents()).toEqual(["loop @AGENTS.md @loop.md @gone.md me@example.com"])
  })

  test("never leave what permissions allow, also through a symlink", async () => {
    put("outside.md", "SECRET")
    put("project/AGENTS.md", "a @../outside.md b @link.md")
    symlinkSync(join(root, "outside.md"), join(root, "project/link.md"))
    expect(await contents()).toEqual(["a @../outside.md b @link.md"])
  })

  test("the agent's own rules decide what an import may read", async () => {
    put("project/app/AGENTS.md", "a @secret.md b @open.md")
    put("project/app/secret.md", "SECRET")
    put("project/app/open.md", "OPEN")
    const agent = await openAgent({
      model: offlineModel(),
      ...{ cwd: join(root, "project/app"), dir: join(root, "home"), env: {}, store: memoryStore() },
      settings: { permissions: { deny: ["Read(**/secret.md)"] } },
    })
    await agent.conversation.add("Hello.")
    const sent = JSON.stringify(await agent.conversation.prepare())
    await agent.close()
    expect([sent.includes("a @secret.md b OPEN"), sent.includes("SECRET")]).toEqual([true, false])
    expect(agent.problems.join(" ")).toContain("secret.md, which Read may not read without a question")
  })
})
