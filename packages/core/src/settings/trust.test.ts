/** What a project's settings may decide without trust, and how trust is stored. Uses real files. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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
import { SettingsError } from "../base/errors.ts"
import { PROJECT_RULES } from "./project-settings.ts"
import { DEFAULT_SETTINGS, loadSettings, readSettings, type SettingsInput } from "./settings.ts"
import { settingsSchema } from "./settings-schema.ts"
import { grantTrust, readTrustState, revokeTrust } from "./trust.ts"
import { trustItemText } from "./trust-items.ts"
import { listTrust } from "./trust-store.ts"

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-trust-")))
  mkdirSync(cwd(), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

const home = () => join(root, "home")
const cwd = () => join(root, "project")

function put(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
}
const user = (settings: SettingsInput) => put(join(home(), "settings.json"), settings)
const project = (settings: unknown) => put(join(cwd(), ".strata/settings.json"), settings)
const local = (settings: SettingsInput) => put(join(cwd(), ".strata/settings.local.json"), settings)

const sources = () => ({ home: home(), cwd: cwd(), env: {} })
const load = () => loadSettings(sources())
const read = () => readSettings(sources())
const stateNow = async () => (await readTrustState(home(), await read())).state
const grant = async () => grantTrust(home(), await read())
const leftOut = async () => ((await load()).untrusted ?? []).map((part) => trustItemText(part))
const trustFile = () => join(home(), "trust", readdirSync(join(home(), "trust"))[0]!)

const PRICE = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 }
const EVERYTHING = {
  hooks: { PreToolUse: [{ command: "./check", matcher: "Bash" }], Stop: [{ command: "x", passEnv: ["API_KEY"] }] },
  mcpServers: {
    db: { command: "db-mcp", args: ["a b"], env: { KEY: "k" } },
    web: { url: `https://x.test/\${API_KEY:-none}` },
  },
  permissions: { mode: "bypass", allow: ["Bash"] },
  models: { "claude-x": { price: PRICE } },
  figures: { "instructions-limit": 1_000_000 },
  compactInstructions: "Keep the password.",
  summariserModel: "other/model",
  exportContent: true,
} as const satisfies SettingsInput

describe("PERM-3 what a project's settings may decide", () => {
  test("every setting has a rule", () => {
    expect(Object.keys(PROJECT_RULES).sort()).toEqual(Object.keys(settingsSchema.shape).sort())
  })

  test("what runs, widens or sends elsewhere is left out, and each part is named verbatim", async () => {
    project(EVERYTHING)
    const { values, origins } = await load()
    expect(values).toEqual(DEFAULT_SETTINGS)
    expect(origins).toEqual({})
    expect(await leftOut()).toEqual([
      "hook on PreToolUse for Bash: ./check",
      "hook on Stop: x with your API_KEY",
      'MCP server db: db-mcp "a b" with KEY=(hidden)',
      `MCP server web: https://x.test/\${API_KEY:-none} with your API_KEY`,
      "permission mode: bypass",
      "allow rule: Bash",
      `setting models.claude-x: ${JSON.stringify({ price: PRICE })}`,
      "setting figures.instructions-limit: 1000000",
      'setting compactInstructions: "Keep the password."',
      'setting summariserModel: "other/model"',
      "setting exportContent: true",
    ])
  })

  test("what restricts or harms no one counts, in the same file", async () => {
    project({
      ...EVERYTHING,
      permissions: { ...EVERYTHING.permissions, deny: ["Read(.env)"], ask: ["Edit"] },
      exportContent: false,
      flush: "always",
      figures: { "idle-gap": 5, "background-share": 100 },
      models: { "claude-y": { window: 50_000 } },
    })
    const { values } = await load()
    expect(values).toEqual({
      ...DEFAULT_SETTINGS,
      permissions: { deny: ["Read(.env)"], ask: ["Edit"] },
      flush: "always",
      figures: { "idle-gap": 5 },
      models: { "claude-y": { window: 50_000 } },
    })
  })

  test("a project cannot replace the person's own prices, servers or rules", async () => {
    const own: SettingsInput = {
      models: { "my-model": { window: 9_000, price: { ...PRICE, input: 5 } } },
      mcpServers: { db: { command: "my-db" } },
      permissions: { deny: ["Bash(rm:*)"], allow: ["Edit"] },
    }
    user(own)
    project({ ...EVERYTHING, models: { "my-model": {} } })
    expect((await load()).values).toMatchObject(own)
  })

  test.each([
    [undefined, "plan", "plan"],
    [undefined, "ask", "ask"],
    [undefined, "accept-edits", undefined],
    [undefined, "bypass", undefined],
    ["plan", "ask", "plan"],
    ["accept-edits", "ask", "ask"],
    ["accept-edits", "accept-edits", "accept-edits"],
    ["accept-edits", "bypass", "accept-edits"],
    ["bypass", "accept-edits", "accept-edits"],
  ] as const)(
    "a mode counts if it is not wider than the person's: %s and %s give %s",
    async (own, asked, effective) => {
      if (own) user({ permissions: { mode: own } })
      project({ permissions: { mode: asked } })
      expect((await load()).values.permissions.mode).toBe(effective)
    },
  )

  test.each([
    [undefined, "ask", "ask"],
    [undefined, "off", "off"],
    ["read-only", "auto", "read-only"],
    ["off", "ask", "off"],
    ["ask", "read-only", "read-only"],
  ] as const)("a project may only restrict the memory: %s and %s give %s", async (own, asked, effective) => {
    if (own) user({ memory: own })
    project({ memory: asked })
    expect((await load()).values.memory).toBe(effective)
  })

  test.each([
    [undefined, "off", "unasked"],
    [undefined, "all", "all"],
    ["off", "unasked", "unasked"],
    ["all", "unasked", "all"],
  ] as const)(
    "PERM-8 a project may only make the sandbox stricter: %s and %s give %s",
    async (own, asked, effective) => {
      if (own) user({ sandbox: own })
      project({ sandbox: asked, figures: { "instructions-limit": 600 } })
      expect((await load()).values).toMatchObject({ sandbox: effective, figures: {} })
    },
  )

  test("the settings of the home directory are the person's, also through a link and in the local file", async () => {
    put(join(cwd(), ".strata/settings.json"), EVERYTHING)
    local({ permissions: { allow: ["Write"] } })
    symlinkSync(join(cwd(), ".strata"), home())
    const { values, untrusted: missing } = await load()
    expect(missing).toBeUndefined()
    expect(values.hooks).toEqual(EVERYTHING.hooks)
    expect(values.permissions.allow).toEqual(["Bash", "Write"])
  })

  test("a root directory inside the project is the person's; the project's own files are not", async () => {
    put(join(cwd(), "state/settings.json"), { permissions: { allow: ["Edit"] } })
    project({ permissions: { allow: ["Bash"] } })
    const { values } = await loadSettings({ home: join(cwd(), "state"), cwd: cwd(), env: {} })
    expect(values.permissions).toEqual({ allow: ["Edit"] })
  })

  test("a user file that is a link or that others may write is used", async () => {
    put(join(root, "dotfiles/settings.json"), { flush: "never" })
    chmodSync(join(root, "dotfiles/settings.json"), 0o666)
    mkdirSync(home())
    symlinkSync(join(root, "dotfiles/settings.json"), join(home(), "settings.json"))
    expect((await load()).values.flush).toBe("never")
  })
})

describe("PERM-3 trust is for exactly these contents", () => {
  test("granted, everything counts and has its origin", async () => {
    project(EVERYTHING)
    await grant()
    const { values, origins, untrusted: missing } = await load()
    expect(values).toMatchObject(EVERYTHING)
    expect(origins["hooks.PreToolUse"]).toBe(join(cwd(), ".strata/settings.json"))
    expect(missing).toBeUndefined()
  })

  test.each<[string, () => void, "trusted" | "untrusted"]>([
    ["the order of the keys", () => project(Object.fromEntries(Object.entries(EVERYTHING).reverse())), "trusted"],
    ["a harmless setting", () => project({ ...EVERYTHING, flush: "never" }), "trusted"],
    [
      "a rule that denies",
      () => project({ ...EVERYTHING, permissions: { ...EVERYTHING.permissions, deny: ["A"] } }),
      "trusted",
    ],
    [
      "a byte of a command",
      () => project({ ...EVERYTHING, hooks: { PreToolUse: [{ command: "./checK", matcher: "Bash" }] } }),
      "untrusted",
    ],
    [
      "the tools of a hook",
      () => project({ ...EVERYTHING, hooks: { PreToolUse: [{ command: "./check" }] } }),
      "untrusted",
    ],
    [
      "a timeout",
      () =>
        project({ ...EVERYTHING, hooks: { PreToolUse: [{ command: "./check", matcher: "Bash", timeoutSeconds: 9 }] } }),
      "untrusted",
    ],
    [
      "a variable",
      () => project({ ...EVERYTHING, mcpServers: { db: { command: "db-mcp", args: ["a b"], env: { KEY: "l" } } } }),
      "untrusted",
    ],
    ["something more in the local file", () => local({ permissions: { allow: ["Write"] } }), "untrusted"],
    ["something less", () => project({ ...EVERYTHING, exportContent: false }), "untrusted"],
  ])("after a change of %s", async (_, change, state) => {
    project(EVERYTHING)
    await grant()
    change()
    expect(await stateNow()).toBe(state)
  })

  test("after a change, only new parts are marked", async () => {
    project(EVERYTHING)
    await grant()
    project({ ...EVERYTHING, permissions: { mode: "bypass", allow: ["Bash", "Write"] } })
    const trust = await readTrustState(home(), await read())
    expect(trust).toMatchObject({ state: "untrusted", earlier: expect.stringMatching(/^\d{4}-/) })
    expect(trust.state === "untrusted" && trust.fresh.map(({ what }) => what)).toEqual(["Write"])
  })

  test("it belongs to the real directory: links lead to it, copies do not have it", async () => {
    project(EVERYTHING)
    await grant()
    symlinkSync(cwd(), join(root, "link"))
    expect((await loadSettings({ ...sources(), cwd: join(root, "link") })).untrusted).toBeUndefined()
    put(join(root, "copy/.strata/settings.json"), EVERYTHING)
    expect((await loadSettings({ ...sources(), cwd: join(root, "copy") })).untrusted).toHaveLength(11)
  })

  test("it can be listed and taken back", async () => {
    project(EVERYTHING)
    await grant()
    expect(await listTrust(home())).toEqual([expect.objectContaining({ state: "kept", directory: cwd() })])
    expect(await revokeTrust(home(), cwd())).toBe(true)
    expect(await revokeTrust(home(), cwd())).toBe(false)
    expect(await stateNow()).toBe("untrusted")
    expect(await listTrust(home())).toEqual([])
  })

  test("only the owner can read what is kept, and no secret is in it", async () => {
    project(EVERYTHING)
    await grant()
    expect(statSync(trustFile()).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(trustFile())).mode & 0o777).toBe(0o700)
    for (const text of ["db-mcp", "password", "KEY"]) expect(readFileSync(trustFile(), "utf8")).not.toContain(text)
  })
})

describe("PERM-3 a trust file that cannot be relied on trusts nothing, and it says so", () => {
  const changed = (change: (record: Record<string, unknown>) => object) =>
    writeFileSync(trustFile(), JSON.stringify(change(JSON.parse(readFileSync(trustFile(), "utf8")))))

  test.each<[string, () => void, RegExp]>([
    ["torn", () => writeFileSync(trustFile(), readFileSync(trustFile(), "utf8").slice(0, 60)), /not JSON/],
    ["empty", () => writeFileSync(trustFile(), ""), /not JSON/],
    ["null", () => writeFileSync(trustFile(), "null"), /not an object/],
    ["a list", () => writeFileSync(trustFile(), "[]"), /another version/],
    ["of another version", () => changed((record) => ({ ...record, version: 2 })), /another version/],
    ["edited by hand", () => changed((record) => ({ ...record, trusted: "2020-01-01" })), /changed or damaged/],
    ["with something added", () => changed((record) => ({ ...record, more: 1 })), /changed or damaged/],
    ["with the parts replaced", () => changed((record) => ({ ...record, parts: null })), /changed or damaged/],
    [
      "a directory",
      () => {
        const file = trustFile()
        rmSync(file)
        mkdirSync(file)
      },
      /cannot be read/,
    ],
  ])("%s", async (_, damage, why) => {
    project(EVERYTHING)
    await grant()
    damage()
    const trust = await readTrustState(home(), await read())
    expect(trust).toMatchObject({ state: "untrusted", problem: expect.stringMatching(why) })
    expect((await load()).values).toEqual(DEFAULT_SETTINGS)
    expect((await listTrust(home()))[0]).toMatchObject({ state: "unusable" })
  })

  test("the file of another directory", async () => {
    project(EVERYTHING)
    await grant()
    const stolen = readFileSync(trustFile(), "utf8")
    await revokeTrust(home(), cwd())
    const copy = join(root, "copy")
    put(join(copy, ".strata/settings.json"), EVERYTHING)
    const reading = await readSettings({ ...sources(), cwd: copy })
    await grantTrust(home(), reading)
    writeFileSync(trustFile(), stolen)
    expect(await readTrustState(home(), reading)).toMatchObject({
      problem: expect.stringContaining("another directory"),
    })
  })

  test("granting again repairs it", async () => {
    project(EVERYTHING)
    await grant()
    writeFileSync(trustFile(), "{")
    await grant()
    expect(await stateNow()).toBe("trusted")
  })
})

test("PERM-3 processes that grant at the same time lose nothing", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `p${i % 20}`)
  for (const name of names) put(join(root, name, ".strata/settings.json"), EVERYTHING)
  await Promise.all(
    names.map(async (name) => grantTrust(home(), await readSettings({ ...sources(), cwd: join(root, name) }))),
  )
  const stored = await listTrust(home())
  expect(stored.map(({ state }) => state)).toEqual(Array(20).fill("kept"))
  expect(readdirSync(join(home(), "trust"))).toHaveLength(20) // no drafts remain
})

describe("PERM-3 a settings file that is not one", () => {
  const reasonFor = async () => {
    const error = await load().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SettingsError)
    return (error as SettingsError).problems[0]!.reason
  }
  const linkTo = (target: string) => {
    mkdirSync(join(cwd(), ".strata"))
    symlinkSync(target, join(cwd(), ".strata/settings.json"))
  }

  test("a link to a device or a pipe is not read", async () => {
    linkTo("/dev/zero")
    expect(await reasonFor()).toBe("cannot be read (it is not a regular file)")
    rmSync(join(cwd(), ".strata"), { recursive: true })
    execFileSync("mkfifo", [join(root, "pipe")])
    linkTo(join(root, "pipe"))
    expect(await reasonFor()).toBe("cannot be read (it is not a regular file)")
  })

  test("a file that is too large or nested too deeply is refused", async () => {
    project(" ".repeat(1_000_001))
    expect(await reasonFor()).toBe("cannot be read (it has more than 1000000 bytes)")
    project(`${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}`)
    expect(await reasonFor()).toBe("is nested more than 50 levels deep")
  })

  test("its words cannot control a terminal", async () => {
    project({ "a\u001b[2Jb": 1, models: { "x\u202e": { y: 1 } } })
    const error = (await load().catch((thrown: unknown) => thrown)) as SettingsError
    expect(error.message).toContain("a\\u001b[2Jb is not a known setting")
    expect(error.message).toContain("models.x\\u202e.y is not a known setting")
    project("{ \u001b[31m")
    expect(await reasonFor()).not.toContain("\u001b")
  })
})
