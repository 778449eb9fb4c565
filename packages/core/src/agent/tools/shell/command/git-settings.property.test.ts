import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { size } from "../../../../../test/size.ts"
import { settingsIn } from "./git-settings.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(15, 150))
let directory = ""
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "strata-git-settings-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Settings as git parses them. `undefined`: an error. */
function gitReads(text: string): readonly { key: string; value: string }[] | undefined {
  const file = join(directory, "config")
  writeFileSync(file, text)
  const { status, stdout } = spawnSync("git", ["config", "-f", file, "--list", "-z"], { encoding: "utf8" })
  if (status !== 0) return undefined
  return stdout
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", ...value] = entry.split("\n")
      const parts = name.split(".")
      const key = parts.length > 2 ? `${parts[0]}.*.${parts.at(-1)}` : name
      return { key: key.toLowerCase(), value: entry.includes("\n") ? value.join("\n") : "true" }
    })
}

const piece = fc.constantFrom(
  "[core]",
  '[remote "a b"]',
  '[remote "a\\"]b"]',
  "[core.x]",
  "[ core ]",
  "[core",
  "fsmonitor",
  "bare",
  "url",
  " = ",
  "=",
  "true",
  "./run",
  '"',
  "\\",
  "\\n",
  "\n",
  "\n\t",
  "\r\n",
  "\r",
  "# ",
  ";",
  " ",
  "\t",
  "\u00a0",
  "\v",
  "\ufeff",
  "\0",
  "]",
  "x",
  "-",
  "_",
  "é",
)

test("PERM-4 a configuration is read as git reads it, or not understood", () => {
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""))
  const valued = fc
    .array(piece, { maxLength: 6 })
    .map((pieces) => `[core]\n\tbare = ${pieces.join("")}\n\tfsmonitor = ./run\n`)
  fc.assert(
    fc.property(fc.oneof(text, valued), (config) => {
      const mine = settingsIn(config)
      const its = gitReads(config)
      if (mine !== undefined && its !== undefined) expect(mine).toEqual(its)
    }),
    { numRuns: RUNS },
  )
})
