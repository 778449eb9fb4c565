import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import type { Model } from "../../model/model.ts"
import { readSettings } from "../../settings/settings.ts"
import { findModel } from "../../tokens/models.ts"
import { loadSkills } from "../../tools/session/skills.ts"
import { openAgent } from "../open-agent.ts"
import type { SingleAgentOptions } from "../options.ts"
import { defaultSkillDirectories } from "../tools/coding-tools.ts"
import { codingTools } from "../tools/toolsets.ts"

function calling(name: string, input: object): Model {
  const turns = [[{ type: "tool_use", id: "toolu_1", name, input }], [{ type: "text", text: "Done." }]]
  const model = "claude-opus-4-6"
  return {
    name: model,
    provider: "test",
    facts: findModel(model).facts,
    async *stream() {
      const content = turns.shift()!
      const stop_reason = turns.length > 0 ? "tool_use" : "end_turn"
      const usage = { input_tokens: 1_000, output_tokens: 10 }
      yield { type: "response", response: { id: `msg_${turns.length}`, model, content, stop_reason, usage } }
    },
  }
}

function place() {
  const root = scratchDirectory()
  const [cwd, dir] = [join(root, "project"), join(root, "home")]
  mkdirSync(cwd)
  mkdirSync(join(dir, "skills", "release"), { recursive: true })
  writeFileSync(join(dir, "skills", "release", "SKILL.md"), "Tag it.")
  writeFileSync(join(dir, "skills", "release", "steps.md"), "First, test.")
  writeFileSync(join(dir, "secret.md"), "secret")
  return { cwd, dir }
}

/** Result of one call in an agent that has nobody to ask. */
async function resultOf(
  where: { cwd: string; dir: string },
  model: Model,
  settings: SingleAgentOptions["settings"] = {},
) {
  const agent = await openAgent({ ...where, model, env: {}, store: memoryStore(), tools: codingTools(), settings })
  onTestFinished(() => agent.close())
  for await (const event of agent.query("go")) if (event.type === "tool-result") return event.result
  throw new Error("no result")
}

describe("PERM-2 your own skills", () => {
  test("are used without a question, and so are the files next to them", async () => {
    const where = place()
    const used = await resultOf(where, calling("Skill", { name: "release" }))
    expect(used.content).toContain("is in use")
    const read = await resultOf(where, calling("Read", { file_path: join(where.dir, "skills/release/steps.md") }))
    expect(read.content).toContain("First, test.")
  })

  test("include those in ~/.claude/skills, also linked ones, in a subdirectory of the repository", async () => {
    const { cwd, dir } = place()
    const home = join(cwd, "..")
    const skillIn = (path: string) => {
      mkdirSync(join(home, path), { recursive: true })
      writeFileSync(join(home, path, "SKILL.md"), "Do it.")
    }
    skillIn("dotfiles/review")
    skillIn("project/.claude/skills/deploy")
    mkdirSync(join(home, ".claude/skills"), { recursive: true })
    symlinkSync(join(home, "dotfiles/review"), join(home, ".claude/skills/review"))
    mkdirSync(join(cwd, ".git"))
    mkdirSync(join(cwd, "app"))
    const where = { cwd: join(cwd, "app"), root: dir, env: { HOME: home } }
    const { skills: brought = [] } = (await readSettings({ home: dir, ...where })).settings({ trusted: true })
    const trustedSkills = new Map(brought.map(({ path, text }) => [path, text]))
    const { skills } = await loadSkills(defaultSkillDirectories({ ...where, trustedSkills }))
    expect(skills.map(({ name, isOwn }) => [name, isOwn])).toEqual([
      ["deploy", false],
      ["release", true],
      ["review", true],
    ])
  })

  test("do not open the directory around them, and a rule can deny them", async () => {
    const where = place()
    const around = await resultOf(where, calling("Read", { file_path: join(where.dir, "secret.md") }))
    expect(around.is_error).toBe(true)
    const settings = { permissions: { deny: ["Skill"] } }
    expect((await resultOf(where, calling("Skill", { name: "release" }), settings)).is_error).toBe(true)
  })
})
