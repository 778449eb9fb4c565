/** Permission rules in the user's settings file. */
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { changeRules } from "./change-settings.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "strata-settings-"))
})
afterEach(() => rmSync(root, { recursive: true }))

const file = () => join(root, "settings.json")
const content = () => JSON.parse(readFileSync(file(), "utf8"))

test("PERM-1 a rule is added once, the rest of the file stays, and only the person can read a new file", async () => {
  const rule = { list: "deny", rule: "Bash(rm:*)" } as const
  await changeRules(root, { ...rule, change: "add" })
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  writeFileSync(
    file(),
    JSON.stringify({ planner: "off", permissions: { mode: "plan", deny: ["Read(.env)", "Bash(rm:*)"] } }),
  )
  await changeRules(root, { ...rule, change: "add" })
  expect(content().permissions.deny).toEqual(["Read(.env)", "Bash(rm:*)"])
  await changeRules(root, { list: "allow", rule: "Read", change: "add" })
  await changeRules(root, { ...rule, change: "remove" })
  expect(content()).toEqual({ planner: "off", permissions: { mode: "plan", deny: ["Read(.env)"], allow: ["Read"] } })
  expect(readdirSync(root)).toEqual(["settings.json"])
})

test("PERM-1 a file that is not JSON is not touched, and a link stays a link", async () => {
  writeFileSync(file(), "{ // mine")
  const change = { list: "allow", rule: "Read", change: "add" } as const
  await expect(changeRules(root, change)).rejects.toThrow("is not JSON")
  expect(readFileSync(file(), "utf8")).toBe("{ // mine")
  rmSync(file())
  writeFileSync(join(root, "dotfiles.json"), "{}")
  symlinkSync(join(root, "dotfiles.json"), file())
  await changeRules(root, change)
  expect(lstatSync(file()).isSymbolicLink()).toBe(true)
  expect(content()).toEqual({ permissions: { allow: ["Read"] } })
})
