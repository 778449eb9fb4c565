/** The user's own settings for Claude Code: what always applies, what needs consent, and what a project cannot change. Uses real files. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { readWithTrust } from "./read-with-trust.ts"
import { readSettings, type SettingsSources } from "./settings.ts"
import { grantTrust } from "./trust.ts"
import { trustItemText } from "./trust-items.ts"

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-claude-home-")))
  mkdirSync(join(root, "project/.git"), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

function put(file: string, content: unknown): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), typeof content === "string" ? content : JSON.stringify(content))
}

const at = (more: Partial<SettingsSources> = {}): SettingsSources => ({
  home: join(root, ".strata"),
  cwd: join(root, "project"),
  env: { HOME: root },
  managed: join(root, "etc/managed-settings.json"),
  ...more,
})
const read = async (more: Partial<SettingsSources> = {}) => {
  const reading = await readSettings(at(more))
  return { ...reading, ...reading.settings({ trusted: false }) }
}
const decided = (decision: "use" | "ignore", directory = ".claude") =>
  put(".strata/settings.json", { claudeHome: { [join(root, directory)]: decision } })

const OWN = {
  permissions: {
    allow: ["Bash(npm run test:*)", "TodoRead"],
    ask: ["WebFetch(domain:example.com)"],
    deny: ["Bash(curl:*)", "Read(~/.ssh/**)", "Read(//etc/passwd)", "mcp__db__drop", "KillBash"],
    defaultMode: "acceptEdits",
  },
  hooks: { Stop: [{ hooks: [{ type: "command", command: "notify" }] }] },
  env: {
    GREETING: "hello",
    API_TOKEN: "sk-very-secret",
    HOME: "/elsewhere",
    STRATA_HOME: "/x",
    CLAUDE_CONFIG_DIR: "/y",
  },
  outputStyle: "Terse",
  statusLine: { type: "command", command: "status" },
}
const DENIED = ["Bash(curl:*)", "Read(~/.ssh/**)", "Read(//etc/passwd)", "mcp__db__drop", "KillShell"]

function putOwn(): void {
  put(".claude/settings.json", OWN)
  put(".claude/output-styles/terse.md", "---\nname: Terse\ndescription: short\n---\nAnswer in one line.\n")
  const server = (command: string) => ({ type: "stdio", command, args: [], env: { KEY: "server-secret" } })
  put(".claude.json", {
    mcpServers: { everywhere: server("a"), off: server("b") },
    projects: {
      [join(root, "project")]: { mcpServers: { here: server("c") }, disabledMcpServers: ["off"] },
      "/elsewhere": { mcpServers: { there: server("d") } },
    },
  })
}

describe("PERM-3 the person's settings for Claude Code", () => {
  test("rules that deny or ask always count; the rest waits for one answer", async () => {
    putOwn()
    const { values, environment, outputStyle, claude, problems } = await read()
    expect(values.permissions).toEqual({ ask: ["WebFetch(domain:example.com)"], deny: DENIED })
    expect([values.hooks, values.mcpServers, environment, outputStyle]).toEqual([{}, {}, undefined, undefined])
    expect(claude).toMatchObject({ directory: join(root, ".claude") })
    expect(claude!.decision).toBeUndefined()
    expect(claude!.items.map((part) => trustItemText(part))).toEqual([
      "hook on Stop: notify",
      "permission mode: accept-edits",
      "allow rule: Bash(npm run test:*)",
      "MCP server everywhere: a with KEY=(hidden)",
      "MCP server here: c with KEY=(hidden)",
      "variable GREETING: (hidden)",
      "variable API_TOKEN: (hidden)",
      "output style Terse: Answer in one line.",
    ])
    expect(claude!.unused).toBe(
      `Found and not used, because Strata has no counterpart: statusLine (${join(root, ".claude/settings.json")}).`,
    )
    expect(problems).toBeUndefined()
  })

  test("a yes is kept in the user's file next to what is there, and then all of it counts", async () => {
    putOwn()
    put(".strata/settings.json", { planner: "off" })
    const place = at()
    const reading = await readWithTrust({ root: place.home, cwd: place.cwd, env: place.env })
    await reading.decideClaude("use")
    expect(JSON.parse(readFileSync(join(root, ".strata/settings.json"), "utf8"))).toEqual({
      planner: "off",
      claudeHome: { [join(root, ".claude")]: "use" },
    })
    const { values, environment, outputStyle, origins } = await read()
    expect(values.permissions).toMatchObject({ mode: "accept-edits", allow: ["Bash(npm run test:*)"], deny: DENIED })
    expect(values.hooks.Stop).toMatchObject([{ command: "notify", projectDirectory: place.cwd }])
    expect(Object.keys(values.mcpServers)).toEqual(["everywhere", "here"])
    expect(environment).toEqual({ GREETING: "hello", API_TOKEN: "sk-very-secret" })
    expect(outputStyle).toMatchObject({ name: "Terse", text: "Answer in one line." })
    expect(origins["hooks.Stop"]).toBe(join(root, ".claude/settings.json"))
    expect(origins["mcpServers.here"]).toBe(join(root, ".claude.json"))
    expect(values.planner).toBe("off")
  })

  test("a no is kept too, in a file that no one else reads, and only what restricts counts", async () => {
    putOwn()
    const place = at()
    await (await readWithTrust({ root: place.home, cwd: place.cwd, env: place.env })).decideClaude("ignore")
    expect(statSync(join(root, ".strata/settings.json")).mode & 0o777).toBe(0o600)
    const { values, claude } = await read()
    expect(values.permissions.deny).toEqual(DENIED)
    expect(values.hooks).toEqual({})
    expect(claude).toMatchObject({ decision: "ignore", items: [] })
  })

  test("the person's own file for Strata wins, and the environment before the variables there", async () => {
    put(".claude/settings.json", { permissions: { defaultMode: "plan" }, env: { DISABLE_COMPACT: "1", STRATA_X: "1" } })
    put(".strata/settings.json", {
      claudeHome: { [join(root, ".claude")]: "use" },
      permissions: { mode: "accept-edits" },
    })
    expect((await read()).values).toMatchObject({ permissions: { mode: "accept-edits" }, disableCompact: true })
    expect((await read({ env: { HOME: root, DISABLE_COMPACT: "0" } })).values.disableCompact).toBe(false)
  })

  test("CLAUDE_CONFIG_DIR names another folder, with a decision of its own", async () => {
    putOwn()
    put("work/settings.json", { permissions: { allow: ["Bash(ls)"], deny: ["WebSearch"] } })
    put("work/.claude.json", { mcpServers: { worker: { command: "w" } } })
    decided("use")
    const env = { HOME: root, CLAUDE_CONFIG_DIR: join(root, "work") }
    const { values, claude } = await read({ env })
    expect(values.permissions).toEqual({ deny: ["WebSearch"] })
    expect(claude!.items.map(({ kind }) => kind)).toEqual(["allow rule", "MCP server"])
    decided("use", "work")
    expect((await read({ env })).values.permissions.allow).toEqual(["Bash(ls)"])
  })

  test("managed settings: what restricts counts, nothing else does", async () => {
    put("etc/managed-settings.json", { permissions: { deny: ["WebFetch"], allow: ["Bash"] }, hooks: OWN.hooks })
    decided("use")
    const { values } = await read()
    expect(values.permissions).toEqual({ deny: ["WebFetch"] })
    expect(values.hooks).toEqual({})
  })
})

describe("PERM-3 a damaged file of the person's", () => {
  const BROKEN = `{
  // mine
  "permissions": {
    "allow": ["Bash"],
    "deny": ["Bash(curl:*)", /* keys */ "Read(~/.ssh/**)",],
    "ask": ["WebFetch"]
  },
  "env": { "API_TOKEN": "sk-very-secret" `

  test("that is not JSON breaks nothing: what restricts in it counts, and a sentence says so without its content", async () => {
    put(".claude/settings.json", BROKEN)
    decided("use")
    const { values, problems } = await read()
    expect(values.permissions).toEqual({ ask: ["WebFetch"], deny: ["Bash(curl:*)", "Read(~/.ssh/**)"] })
    expect(problems![0]).toContain("settings.json is not JSON")
    expect(problems![0]).toContain("Only its 3 rules that deny or ask count")
    expect(JSON.stringify(problems)).not.toContain("secret")
  })

  test.each(["", "[]", "null", "{", '"x"', '{"permissions": 3, "hooks": "x", "env": []}', "\0\0"])(
    "of any shape breaks nothing: %j",
    async (content) => {
      put(".claude/settings.json", content)
      put(".claude.json", content)
      decided("use")
      const { values } = await read()
      expect([values.permissions, values.hooks, values.mcpServers]).toEqual([{}, {}, {}])
    },
  )

  test("a rule that denies and is not understood is named at every start; one text is a list of one", async () => {
    put(".claude/settings.json", { permissions: { deny: ["no rule\u001b[2J", 3], ask: "WebFetch" } })
    decided("ignore")
    const { values, problems } = await read()
    expect(values.permissions).toEqual({ ask: ["WebFetch"] })
    expect(problems).toHaveLength(2)
    expect(problems![0]).toContain('The rule "no rule\\\\u001b[2J"')
    expect(problems![0]).toContain("denies nothing")
  })

  test("a pipe or a directory in its place is reported, and nothing waits for it", async () => {
    mkdirSync(join(root, ".claude/settings.json"), { recursive: true })
    expect((await read()).problems![0]).toContain("cannot be read (it is a directory)")
  })
})

describe("PERM-3 a repository cannot make itself the person's settings", () => {
  const EVIL = { permissions: { allow: ["Bash"], deny: ["WebSearch"] }, hooks: OWN.hooks, env: { PATH: "/evil" } }
  const expectOnlyRestrictions = ({ values, environment }: Awaited<ReturnType<typeof read>>) => {
    expect(values.permissions).toEqual({ deny: ["WebSearch"] })
    expect([values.hooks, values.mcpServers, environment ?? {}]).toEqual([{}, {}, {}])
  }

  test.each([[".claude"], [".claude/settings.json"]])("%s in the home directory is a link into it", async (name) => {
    put("project/dotfiles/settings.json", EVIL)
    mkdirSync(join(root, dirname(name)), { recursive: true })
    symlinkSync(join(root, "project/dotfiles", name === ".claude" ? "" : "settings.json"), join(root, name))
    for (const directory of [".claude", "project/dotfiles"]) decided("use", directory)
    const found = await read()
    expectOnlyRestrictions(found)
    expect(found.problems![0]).toContain("is inside this project")
  })

  test("the home directory is the repository", async () => {
    put("project/.claude/settings.json", EVIL)
    put("project/.claude.json", { mcpServers: { evil: { command: "x" } } })
    put(".strata/settings.json", { claudeHome: { [join(root, "project/.claude")]: "use" } })
    expectOnlyRestrictions(await read({ env: { HOME: join(root, "project") } }))
  })

  test.each(["project/.config", "project/app/.claude"])("CLAUDE_CONFIG_DIR leads into it: %s", async (folder) => {
    put(`${folder}/settings.json`, EVIL)
    put(".claude/settings.json", { permissions: { deny: ["WebSearch"] } })
    put(".strata/settings.json", { claudeHome: { [join(root, folder)]: "use" } })
    const found = await read({ env: { HOME: root, CLAUDE_CONFIG_DIR: join(root, folder) } })
    expectOnlyRestrictions(found)
    expect(found.problems).toEqual(["CLAUDE_CONFIG_DIR leads into this project. Strata does not use it."])
  })

  test("a variable in its .env, or in its own settings, moves nothing", async () => {
    put("project/.env", `CLAUDE_CONFIG_DIR=${join(root, "project/evil")}\n`)
    put("project/evil/settings.json", EVIL)
    put("project/.claude/settings.json", { env: { CLAUDE_CONFIG_DIR: join(root, "project/evil"), PATH: "/evil" } })
    const { values, environment } = await read()
    expect([values.permissions, environment]).toEqual([{}, undefined])
  })

  test("its settings cannot say yes for the person, not even when it is trusted", async () => {
    putOwn()
    put("project/.strata/settings.json", { claudeHome: { [join(root, ".claude")]: "use" } })
    await grantTrust(at().home, await readSettings(at()))
    const { values } = (await readSettings(at())).settings({ trusted: true })
    expect([values.hooks, values.permissions.allow]).toEqual([{}, undefined])
  })
})
