/** Runs tests whose requirements are missing. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { needs } from "../../packages/core/test/needs.ts"
import { isWhole } from "../../packages/core/test/size.ts"

const ROOT = resolve(import.meta.dirname, "../..")
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs")

const CONFIG = `
import { LeftOutReporter } from ${JSON.stringify(join(ROOT, "dev/tests/left-out.ts"))}
export default {
  test: { include: ["*.sample.ts"], reporters: ["default", new LeftOutReporter()], experimental: { viteModuleRunner: false, nodeLoader: false } },
}
`
const SAMPLE = `
import { describe, test } from "vitest"
import { needs } from ${JSON.stringify(join(ROOT, "packages/core/test/needs.ts"))}
test("needs nothing", () => {})
test("alone", needs("openssl"), () => { throw new Error("it ran") })
describe("a group", needs("openssl"), () => {
  test.each([1, 2])("%i", () => { throw new Error("it ran") })
})
test("another", needs("linux", "tmux"), () => { throw new Error("it ran") })
`

/** Runs vitest with a path without programs. */
function run(env: NodeJS.ProcessEnv) {
  const place = join(ROOT, ".test-build")
  mkdirSync(place, { recursive: true })
  const directory = mkdtempSync(join(place, "left-out-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, "vitest.config.ts"), CONFIG)
  writeFileSync(join(directory, "a.sample.ts"), SAMPLE)
  const ended = spawnSync(process.execPath, [VITEST, "run", "--root", directory], {
    cwd: directory,
    encoding: "utf8",
    env: { PATH: directory, NO_COLOR: "1", ...env },
  })
  return { code: ended.status, printed: `${ended.stdout}${ended.stderr}` }
}

test("what was left out is reported at the end, with how much and why", needs("linux"), () => {
  const { code, printed } = run({})
  expect({ code, printed }).toMatchObject({ code: 0 })
  expect(printed.split("\n").filter((line) => line.includes("left out"))).toEqual([
    "3 tests of secure upstreams were left out: openssl is not installed",
    "1 test of the chat in tmux was left out: tmux is not installed",
  ])
})

test.runIf(isWhole)("with CI set, nothing that can be installed is left out", () => {
  const { code, printed } = run({ CI: "true" })
  expect(code).toBe(1)
  expect(printed).toContain("Tests of secure upstreams cannot run: openssl is not installed")
  expect(printed).not.toContain("it ran")
})
