/** Settings for Claude Code: what applies, what needs trust, and what is reported as unused. Uses real files. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { SettingsError } from "../base/errors.ts"
import { loadSettings, readSettings } from "./settings.ts"
import { grantTrust, readTrustState } from "./trust.ts"
import { trustItemText } from "./trust-items.ts"

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-claude-")))
  mkdirSync(join(root, "project/.git"), { recursive: true })
  mkdirSync(join(root, "project/app"))
})
afterEach(() => rmSync(root, { recursive: true }))

function put(file: string, content: unknown): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), typeof content === "string" ? content : JSON.stringify(content))
}
const sources = (cwd = "project") => ({ home: join(root, "home"), cwd: join(root, cwd), env: { HOME: root } })
const hook = (command: string, more: object = {}) => ({ type: "command", command, ...more })
const SHARED = {
  permissions: { allow: ["Bash(npm test:*)"], ask: ["WebFetch"], deny: ["Read(./.env)"], defaultMode: "acceptEdits" },
  hooks: {
    PreToolUse: [{ matcher: "Edit|Write", hooks: [hook("./check.sh", { timeout: 5 })] }],
    Notification: [{ hooks: [hook("beep")] }],
  },
}

describe("PERM-3 settings for Claude Code", () => {
  test("restrict without a question; what runs or widens waits for trust", async () => {
    put("project/.claude/settings.json", SHARED)
    put("project/.claude/settings.local.json", { permissions: { deny: ["Bash(rm:*)"] } })
    const untrusted = await loadSettings(sources())
    expect(untrusted.values.permissions).toEqual({ ask: ["WebFetch"], deny: ["Read(./.env)", "Bash(rm:*)"] })
    expect(untrusted.values.hooks).toEqual({})
    expect(untrusted.untrusted!.map((part) => trustItemText(part))).toEqual([
      "hook on PreToolUse for Edit|Write: ./check.sh",
      "hook on Notification: beep",
      "permission mode: accept-edits",
      "allow rule: Bash(npm test:*)",
    ])
    await grantTrust(sources().home, await readSettings(sources()))
    const { permissions, hooks } = (await loadSettings(sources())).values
    expect(permissions).toMatchObject({ mode: "accept-edits", allow: ["Bash(npm test:*)"] })
    const projectDirectory = sources().cwd
    expect(hooks.PreToolUse).toEqual([
      { command: "./check.sh", matcher: "Edit|Write", timeoutSeconds: 5, projectDirectory },
    ])
    put("project/.claude/settings.json", { ...SHARED, hooks: { Stop: [{ hooks: [hook("evil")] }] } })
    expect((await loadSettings(sources())).values.hooks).toEqual({})
  })

  test("of the repository's root count in a subdirectory, and those of the subdirectory too", async () => {
    put("project/.claude/settings.json", { permissions: { deny: ["Bash"] }, hooks: SHARED.hooks })
    put("project/app/.claude/settings.json", { permissions: { deny: ["WebFetch"] } })
    const reading = await readSettings(sources("project/app"))
    const { permissions, hooks } = reading.settings({ trusted: true }).values
    expect(permissions.deny).toEqual(["Bash", "WebFetch"])
    expect(hooks.PreToolUse![0]!.projectDirectory).toBe(join(root, "project"))
  })

  test("that only restrict do not take back what was trusted before", async () => {
    put("project/.strata/settings.json", { permissions: { allow: ["Bash(ls)"] } })
    await grantTrust(sources().home, await readSettings(sources()))
    put("project/.claude/settings.json", { permissions: { deny: ["WebFetch"] } })
    expect((await readTrustState(sources().home, await readSettings(sources()))).state).toBe("trusted")
  })

  test("paths with one slash begin at the project; rules that deny count for the disk too", async () => {
    const rules = ["Edit(/src/**)", "Read(//etc/hosts)", "Read(~/.ssh/**)", "Bash(/bin/ls)"]
    put("project/.claude/settings.json", { permissions: { allow: rules, deny: ["Read(/secrets)"] } })
    const { permissions } = (await readSettings(sources())).settings({ trusted: true }).values
    expect(permissions.allow).toEqual([`Edit(${root}/project/src/**)`, ...rules.slice(1)])
    expect(permissions.deny).toEqual(["Read(/secrets)", `Read(${root}/project/secrets)`])
  })

  test("without a counterpart are named in one sentence", async () => {
    const odd = { PreToolUse: [{ hooks: [hook("a", { if: "Bash(git *)" }), { type: "prompt", prompt: "?" }] }] }
    put("project/.claude/settings.json", {
      ...{ env: { A: "1" }, statusLine: {}, autoCompactEnabled: false, autoMemoryEnabled: false },
      permissions: { additionalDirectories: [".."], deny: ["not a rule", 3], defaultMode: "dontAsk" },
      hooks: { ...odd, TaskCreated: [{ hooks: [hook("b")] }] },
    })
    put("project/.claude/settings.local.json", { model: "opus" })
    const { values, problems } = await loadSettings(sources())
    expect(values).toMatchObject({ autoCompactEnabled: false, memory: "off", hooks: {} })
    const file = join(root, "project/.claude/settings")
    expect(problems).toEqual([
      `Found and not used, because Strata has no counterpart: env, statusLine, permissions.additionalDirectories, permissions.defaultMode, permissions.deny rules that are not "Tool" or "Tool(pattern)", hooks.PreToolUse, hooks.TaskCreated (${file}.json); model (${file}.local.json).`,
    ])
  })

  test("a stranger's names neither draw on the screen nor fill it", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`\u001b[2J${at}${"x".repeat(500)}`, 1]))
    put("project/.claude/settings.json", many)
    const [problem = ""] = (await loadSettings(sources())).problems ?? []
    expect(problem).toContain("490 more")
    expect(problem).not.toContain("\u001b")
    expect(problem.length).toBeLessThan(2_000)
  })

  test.each([[], null, "x", { hooks: [], permissions: 3 }, { hooks: { Stop: { hooks: "x" } } }])(
    "of another shape do no harm: %j",
    async (content) => {
      put("project/.claude/settings.json", JSON.stringify(content))
      expect((await readSettings(sources())).items).toEqual([])
    },
  )

  test("that are not JSON stop the opening: a rule that denies must not get lost", async () => {
    put("project/.claude/settings.json", "{")
    await expect(loadSettings(sources())).rejects.toThrow(SettingsError)
  })

  test("hooks can be switched off, and those in the home directory belong to that program", async () => {
    put(".claude/settings.json", SHARED)
    put("project/.claude/settings.json", SHARED)
    put("project/.claude/settings.local.json", { disableAllHooks: true })
    expect((await readSettings(sources())).settings({ trusted: true }).values.hooks).toEqual({})
    expect((await readSettings(sources("."))).items).toEqual([])
  })

  test("matchers: names are exact, a regular expression may match a part", async () => {
    const groups = ["Bash", "Edit|Write", "*", "^Notebook", "mcp__db__.*"].map((matcher) => ({
      matcher,
      hooks: [hook("a")],
    }))
    put("project/.claude/settings.json", { hooks: { PreToolUse: groups } })
    const { hooks } = (await readSettings(sources())).settings({ trusted: true }).values
    const matchers = hooks.PreToolUse!.map(({ matcher }) => matcher)
    expect(matchers).toEqual(["Bash", "Edit|Write", "*", ".*(?:^Notebook).*", ".*(?:mcp__db__.*).*"])
    expect(new RegExp(`^(?:${matchers[3]})$`).test("NotebookEdit")).toBe(true)
  })
})
