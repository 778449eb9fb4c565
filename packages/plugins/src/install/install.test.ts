import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { planArchiveHook, planArchiveHookRemoval, planInstall, planUninstall } from "./install.ts"

let home: string
let settings: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "strata-install-"))
  settings = join(home, ".claude", "settings.json")
  mkdirSync(join(home, ".claude"))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Installs a fake `claude` on the search path that prints this version. */
function claudeSays(version: string): void {
  mkdirSync(join(home, "bin"), { recursive: true })
  writeFileSync(join(home, "bin", "claude"), `#!/bin/sh\necho "${version} (Claude Code)"\n`, { mode: 0o755 })
}
const order = () => ({
  client: "claude-code" as const,
  env: { HOME: home, PATH: `${join(home, "bin")}:/usr/bin:/bin` },
  home: join(home, ".strata"),
  program: ["/usr/bin/node", "/opt/strata/main.js"],
  mode: "record" as const,
})
const install = async () => (await planInstall(order())).apply()
const uninstall = async () => (await planUninstall(order())).apply()
const read = () => JSON.parse(readFileSync(settings, "utf8"))

describe("an installation in Claude Code", () => {
  it("adds a plugin directory and its options, and restores the exact bytes (BEY-16)", async () => {
    const before = '{\n\t"theme" : "dark",  "env": {"A": "ü"}}\n\n'
    writeFileSync(settings, before)
    await install()
    expect(read()).toMatchObject({
      theme: "dark",
      env: { A: "ü", CLAUDE_CODE_PLUGIN_DIRS: expect.stringMatching(/claude-code$/) },
    })
    expect(read().pluginConfigs.strata.options).toEqual({
      mode: "record",
      command: "/usr/bin/node",
      script: "/opt/strata/main.js",
    })
    expect(existsSync(join(read().env.CLAUDE_CODE_PLUGIN_DIRS, ".claude-plugin", "plugin.json"))).toBe(true)
    await uninstall()
    expect(readFileSync(settings, "utf8")).toBe(before)
  })

  it("creates missing settings, and removes them again (BEY-16)", async () => {
    await install()
    expect(statSync(settings).mode & 0o777).toBe(0o600)
    await uninstall()
    expect(existsSync(settings)).toBe(false)
  })

  it("keeps other plugin directories, and what the user changes in the meantime (BEY-16)", async () => {
    writeFileSync(settings, JSON.stringify({ env: { CLAUDE_CODE_PLUGIN_DIRS: "/mine" } }))
    await install()
    expect(read().env.CLAUDE_CODE_PLUGIN_DIRS).toMatch(/^\/mine:.*claude-code$/)
    writeFileSync(settings, JSON.stringify({ ...read(), theme: "light" }))
    const plan = await planUninstall(order())
    expect(plan.notes.join()).toContain("Only what Strata added is removed")
    await plan.apply()
    expect(read()).toEqual({ env: { CLAUDE_CODE_PLUGIN_DIRS: "/mine" }, theme: "light" })
  })

  it("writes through a link, and leaves permissions as they are (BEY-16)", async () => {
    writeFileSync(join(home, "dotfile.json"), "{}")
    chmodSync(join(home, "dotfile.json"), 0o640)
    symlinkSync(join(home, "dotfile.json"), settings)
    await install()
    expect(JSON.parse(readFileSync(join(home, "dotfile.json"), "utf8")).pluginConfigs).toBeDefined()
    expect(statSync(join(home, "dotfile.json")).mode & 0o777).toBe(0o640)
    await uninstall()
    expect(readFileSync(join(home, "dotfile.json"), "utf8")).toBe("{}")
  })

  it("gives versions without mods a hook (BEY-16)", async () => {
    claudeSays("2.1.200")
    writeFileSync(settings, JSON.stringify({ hooks: { SessionStart: [{ hooks: [] }] } }))
    const plan = await planInstall(order())
    expect(plan.notes.join()).toContain("Claude Code 2.1.200 does not let plugins compact")
    await plan.apply()
    expect(read().hooks.SessionStart).toHaveLength(2)
    expect(read().hooks.SessionStart[1]).toEqual({
      matcher: "compact",
      hooks: [{ type: "command", command: '"/usr/bin/node" "/opt/strata/main.js" compact-messages --hook' }],
    })
    await uninstall()
    expect(read()).toEqual({ hooks: { SessionStart: [{ hooks: [] }] } })
  })

  it("changes nothing in settings that it cannot read, or twice (BEY-16)", async () => {
    writeFileSync(settings, "{ // comment\n}")
    await expect(install()).rejects.toThrow("cannot be read as JSON")
    expect(readFileSync(settings, "utf8")).toBe("{ // comment\n}")
    writeFileSync(settings, "{}")
    await install()
    await expect(install()).rejects.toThrow("is installed in claude-code already")
    await uninstall()
    await expect(uninstall()).rejects.toThrow("is not installed in claude-code")
  })
})

describe("what another program writes while the user is asked", () => {
  const latin1 = Buffer.from('{"name": "J\u00fcrgen"}', "latin1")
  const plans = {
    install: () => planInstall(order()),
    "archive --install": () => planArchiveHook(order()),
  }

  it.each(["install", "archive --install"] as const)("is not overwritten by strata %s (BEY-16)", async (command) => {
    writeFileSync(settings, "{}")
    const plan = await plans[command]()
    writeFileSync(settings, '{"theme":"dark"}')
    expect(await plan.apply()).toBe("changed")
    expect(readFileSync(settings, "utf8")).toBe('{"theme":"dark"}')
    expect(readdirSync(dirname(settings))).toEqual(["settings.json"])
    expect(await (await plans[command]()).apply()).toBe("applied")
    expect(read().theme).toBe("dark")
  })

  it("is not overwritten where there were no settings (BEY-16)", async () => {
    const plan = await planInstall(order())
    writeFileSync(settings, '{"theme":"dark"}')
    expect(await plan.apply()).toBe("changed")
    expect(read()).toEqual({ theme: "dark" })
  })

  it("is not overwritten, and not removed, when Strata is taken out (BEY-16)", async () => {
    await install()
    const plan = await planUninstall(order())
    writeFileSync(settings, JSON.stringify({ ...read(), theme: "dark" }))
    expect(await plan.apply()).toBe("changed")
    expect(read().pluginConfigs).toBeDefined()
    expect(await (await planUninstall(order())).apply()).toBe("applied")
    expect(read()).toEqual({ theme: "dark" })
  })

  it("keeps the digits of its numbers (BEY-16)", async () => {
    writeFileSync(settings, '{\n  "id": 1234567890123456789,\n  "price": 1.10\n}\n')
    await install()
    expect(readFileSync(settings, "utf8")).toContain('"id": 1234567890123456789,\n  "price": 1.10')
    writeFileSync(settings, `${readFileSync(settings, "utf8")}\n`) // a manual change: only Strata's parts are removed
    await uninstall()
    expect(readFileSync(settings, "utf8")).toBe('{\n  "id": 1234567890123456789,\n  "price": 1.10\n}\n')
  })

  it("stays as it is where it is not UTF-8, before and after an installation (BEY-16)", async () => {
    writeFileSync(settings, latin1)
    for (const plan of Object.values(plans)) await expect(plan()).rejects.toThrow(/not encoded in UTF-8.*Nothing was/)
    expect(readFileSync(settings)).toEqual(latin1)
    writeFileSync(settings, "{}")
    await install()
    const plan = await planUninstall(order())
    writeFileSync(settings, latin1)
    await expect(plan.apply()).rejects.toThrow("not encoded in UTF-8")
    await expect(uninstall()).rejects.toThrow("not encoded in UTF-8")
    expect(readFileSync(settings)).toEqual(latin1)
  })
})

describe.each([
  ["pi", ".pi/agent/extensions/strata.ts"],
  ["opencode", ".config/opencode/plugin/strata.ts"],
] as const)("an installation in %s", (client, file) => {
  const orderFor = () => ({ ...order(), client })

  it("adds one file that names our code and its options, and removes it again (BEY-16)", async () => {
    await (await planInstall(orderFor())).apply()
    const text = readFileSync(join(home, file), "utf8")
    expect(text).toContain('{"mode":"record","program":["/usr/bin/node","/opt/strata/main.js"]}')
    expect(existsSync(JSON.parse(/from (".*")/.exec(text)![1]!))).toBe(true)
    writeFileSync(join(home, file), text.replace("record", "replace"))
    await (await planUninstall(orderFor())).apply()
    expect(existsSync(join(home, file))).toBe(false)
  })

  it("leaves a file of the same name alone (BEY-16)", async () => {
    mkdirSync(dirname(join(home, file)), { recursive: true })
    writeFileSync(join(home, file), "export default () => {}")
    await expect(planInstall(orderFor())).rejects.toThrow("not written by Strata")
  })
})

describe("BEY-17: the hook that keeps sessions", () => {
  const keep = async () => (await planArchiveHook(order())).apply()
  const unkeep = async () => (await planArchiveHookRemoval(order()))!.apply()

  it("runs at the start and the end of a session, in addition to the user's own hooks, and leaves the exact bytes", async () => {
    const before = '{ "hooks": {"SessionEnd":[{"hooks":[{"type":"command","command":"mine"}]}]} }'
    writeFileSync(settings, before)
    await keep()
    const command = '"/usr/bin/node" "/opt/strata/main.js" archive --hook'
    expect(read().hooks).toEqual({
      SessionEnd: [{ hooks: [{ type: "command", command: "mine" }] }, { hooks: [{ type: "command", command }] }],
      SessionStart: [{ hooks: [{ type: "command", command }] }],
    })
    await expect(keep()).rejects.toThrow(/already/)
    await unkeep()
    expect(readFileSync(settings, "utf8")).toBe(before)
    expect(await planArchiveHookRemoval(order())).toBeUndefined()
  })

  it.each(["2.1.325", "2.0.76"])("comes and goes without the rest of Strata, in any order (%s)", async (version) => {
    claudeSays(version)
    const before = JSON.stringify({ theme: "dark", hooks: { SessionStart: [{ hooks: [] }] } })
    for (const steps of [
      [install, keep, uninstall, unkeep],
      [install, keep, unkeep, uninstall],
      [keep, install, unkeep, uninstall],
      [keep, install, uninstall, unkeep],
    ]) {
      writeFileSync(settings, before)
      for (const step of steps.slice(0, 3)) await step()
      expect(JSON.stringify(read()).includes("archive --hook")).toBe(steps[3] === unkeep)
      await steps[3]!()
      expect(read()).toEqual(JSON.parse(before))
    }
  })

  it("does not touch settings that it cannot read", async () => {
    writeFileSync(settings, "{ // mine\n}")
    await expect(keep()).rejects.toThrow(/Nothing was changed/)
    expect(readFileSync(settings, "utf8")).toBe("{ // mine\n}")
  })
})
