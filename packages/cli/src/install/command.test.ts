import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { planInstall } from "@strata/plugins"
import { expect, onTestFinished, test } from "vitest"
import { plainStyle } from "../display/terminal.ts"
import { confirmChanges } from "./command.ts"

test("BEY-16 settings that another program changes while the question is open are shown again, and kept", async () => {
  const home = mkdtempSync(join(tmpdir(), "strata-install-"))
  onTestFinished(() => rm(home, { recursive: true }))
  const settings = join(home, ".claude", "settings.json")
  mkdirSync(join(home, ".claude"))
  writeFileSync(settings, "{}")
  const given = { client: "claude-code", mode: "observe", program: ["node", "strata"] } as const
  let plans = 0
  const plan = async () => {
    const made = await planInstall({ ...given, home: join(home, ".strata"), env: { HOME: home, PATH: "/nowhere" } })
    if (++plans === 1) writeFileSync(settings, '{ "theme": "dark" }')
    return made
  }
  let printed = ""
  const print = (text: string) => {
    printed += text
  }
  const terminal = { print, complain: print, columns: 80, rows: 24, isScreen: false, style: plainStyle }
  expect(await confirmChanges(plan, terminal, true)).toBe(true)
  expect(plans).toBe(2)
  expect(printed).toContain("Another program has changed the file in the meantime, so nothing was written.")
  expect(JSON.parse(readFileSync(settings, "utf8"))).toMatchObject({ theme: "dark", pluginConfigs: { strata: {} } })
})
