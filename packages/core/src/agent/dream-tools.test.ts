import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { systemClock } from "../base/clock.ts"
import { runForkCalls } from "../forks/fork.ts"
import type { ToolUse } from "../messages/blocks.ts"
import type { Confinement } from "../tools/command.ts"
import { openDreamTools, type ReadRules } from "./dream-tools.ts"
import { defaultConfinement } from "./tools/shell/confinement.ts"

async function place(rules?: ReadRules, confinement?: () => Confinement) {
  const top = scratchDirectory()
  const [copy, project, journals, outside] = ["copy", "project", "project/store/mine", "outside"].map((name) => {
    mkdirSync(join(top, name), { recursive: true })
    return join(top, name)
  }) as [string, string, string, string]
  mkdirSync(join(copy, "logs"))
  writeFileSync(join(copy, "a.md"), "the text\n")
  writeFileSync(join(project, "code.ts"), "const port = 80\n")
  writeFileSync(join(project, ".env"), "x\n")
  writeFileSync(join(journals, "c.jsonl"), '{"text":"deploy"}\n')
  writeFileSync(join(outside, "secret.md"), "secret\n")
  symlinkSync(outside, join(copy, "link"))
  const opened = await openDreamTools(
    { copy, project, journals: [journals], rules },
    { clock: systemClock, env: { PATH: process.env.PATH }, confinement },
  )
  async function call(name: string, input: object): Promise<{ ok: boolean; text: string }> {
    const use = { type: "tool_use", id: `toolu_${name}`, name, input } as ToolUse
    const signal = new AbortController().signal
    const [result] = await runForkCalls([use], { ...opened, signal })
    return { ok: !result!.is_error, text: JSON.stringify(result!.content) }
  }
  return { ...{ copy, project, journals, outside, call }, close: () => opened.close() }
}

describe("L6-4 the tools of a dream", () => {
  test("L6-4 it reads the copy, the project and the transcripts, and writes in the copy", async () => {
    const { call, copy, project, journals, close } = await place()
    expect(await call("Read", { file_path: "a.md" })).toMatchObject({ ok: true })
    expect(await call("Edit", { file_path: "a.md", old_string: "text", new_string: "new text" })).toMatchObject({
      ok: true,
    })
    expect(readFileSync(join(copy, "a.md"), "utf8")).toBe("the new text\n")
    expect(await call("Write", { file_path: join(copy, "topic.md"), content: "x\n" })).toMatchObject({ ok: true })
    expect(await call("Write", { file_path: "MEMORY.md", content: "x\n" })).toMatchObject({ ok: true })
    expect((await call("Grep", { pattern: "port", path: project, output_mode: "content" })).text).toContain("port = 80")
    expect((await call("Glob", { pattern: "*.ts", path: project })).text).toContain("code.ts")
    expect((await call("Bash", { command: `grep -c deploy ${journals}/c.jsonl` })).text).toContain("1")
    expect((await call("Bash", { command: "ls | head -3" })).text).toContain("a.md")
    await close()
  })

  test("PERM-8 its commands run in the sandbox that the person set", async () => {
    let asked = 0
    const { call, close } = await place(undefined, () => {
      asked++
      return defaultConfinement({})
    })
    expect((await call("Bash", { command: "ls" })).text).toContain("a.md")
    expect(asked).toBeGreaterThan(0)
    await close()
  })

  test("L5-12 it reads nothing of other owners, though the store is inside the project", async () => {
    const { call, project, journals, close } = await place()
    const others = join(project, "store", "theirs")
    mkdirSync(others)
    writeFileSync(join(others, "d.jsonl"), '{"text":"deploy the heron"}\n')
    for (const [name, input] of [
      ["Grep", { pattern: "deploy", path: project, output_mode: "content" }],
      ["Grep", { pattern: "deploy", path: journals, output_mode: "content" }],
      ["Glob", { pattern: "**/*.jsonl", path: project }],
    ] as const) {
      const { text } = await call(name, input)
      expect(text).toContain("c.jsonl")
      expect(text).not.toMatch(/heron|d\.jsonl/)
    }
    for (const [name, input] of [
      ["Read", { file_path: join(others, "d.jsonl") }],
      ["Grep", { pattern: "deploy", path: others }],
      ["Bash", { command: `grep -r deploy ${project}` }],
      ["Bash", { command: `head ${others}/d.jsonl` }],
    ] as const)
      expect(await call(name, input)).toMatchObject({ ok: false, text: expect.stringContaining("other owners") })
    expect((await call("Bash", { command: `grep -r deploy ${journals}` })).text).toContain("deploy")
    await close()
  })

  test("L6-4 everything else is refused, with a reason", async () => {
    const { call, copy, project, journals, outside, close } = await place()
    const refused = [
      ["Write", { file_path: join(project, "x.md"), content: "x" }],
      ["Write", { file_path: join(outside, "x.md"), content: "x" }],
      ["Write", { file_path: "../outside/x.md", content: "x" }],
      ["Write", { file_path: "link/x.md", content: "x" }],
      ["Write", { file_path: "script.sh", content: "x" }],
      ["Write", { file_path: ".hidden.md", content: "x" }],
      ["Write", { file_path: "archive/x.md", content: "x" }],
      ["Write", { file_path: "logs/2026/05/2026-05-01.md", content: "x" }],
      ["Edit", { file_path: join(project, "code.ts"), old_string: "80", new_string: "81" }],
      ["Edit", { file_path: join(outside, "secret.md"), old_string: "secret", new_string: "x" }],
      ["Read", { file_path: join(outside, "secret.md") }],
      ["Read", { file_path: "link/secret.md" }],
      ["Read", { file_path: "/etc/passwd" }],
      ["Read", { file_path: join(journals, "c.jsonl") }],
      ["Grep", { pattern: "secret", path: outside }],
      ["Grep", { pattern: "secret", path: "link" }],
      ["Glob", { pattern: "*", path: outside }],
      ["Glob", { pattern: "../outside/*" }],
      ["Bash", { command: `rm ${copy}/a.md` }],
      ["Bash", { command: "ls > x.md" }],
      ["Bash", { command: "ls", run_in_background: true }],
      ["Bash", { command: `cat ${journals}/c.jsonl` }],
      ["BashOutput", { bash_id: "shell_1" }],
      ["WebFetch", { url: "http://localhost" }],
      ["TodoWrite", { todos: [] }],
      ["Agent", { prompt: "x" }],
    ] as const
    for (const [name, input] of refused) {
      const { ok, text } = await call(name, input)
      expect(ok, `${name} ${JSON.stringify(input)}: ${text}`).toBe(false)
      expect(text).toMatch(/Not allowed|There is no tool/)
    }
    await close()
  })

  test("L6-4 the person's rules count too", async () => {
    const { call, project, close } = await place((_tool, { paths = [] }) =>
      paths.some((path) => path.endsWith(".env")) ? 'the rule "Read(.env)" forbids it' : true,
    )
    expect(await call("Read", { file_path: join(project, "code.ts") })).toMatchObject({ ok: true })
    expect(await call("Read", { file_path: join(project, ".env") })).toMatchObject({ ok: false })
    expect(await call("Bash", { command: `cat ${project}/.env` })).toMatchObject({ ok: false })
    await close()
  })
})
