/** Arguments and environment that `strata wrap` passes to each known client. The clients are small programs that print what they get. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { type WrapOptions, wrapping } from "./wrapping.ts"

const SHOW = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require("node:fs")
const args = process.argv.slice(2)
const files = args.filter((arg) => arg.startsWith("/")).map((path) => readFileSync(path, "utf8"))
writeFileSync(process.env.SAYS, JSON.stringify({ args, files, env: process.env }))
`

interface Given {
  readonly args: readonly string[]
  readonly files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

async function given(
  place: WrapOptions,
  [name, ...args]: readonly string[],
  env: Record<string, string> = {},
): Promise<Given> {
  const bin = join(place.project, "bin")
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, name!), SHOW)
  chmodSync(join(bin, name!), 0o755)
  const { stdout, stderr } = await place.here(["wrap", name!, ...args], {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    ...env,
  })
  expect(stdout, stderr).not.toBe("")
  return JSON.parse(stdout) as Given
}

describe("BEY-11 what a wrapped client gets", () => {
  test("claude: its own arguments, the base URL, on-demand tools; nothing else where its settings say nothing", async () => {
    await using place = await wrapping()
    const { args, env } = await given(place, ["claude", "-p", "hello", "--help"])
    expect(args).toEqual(["-p", "hello", "--help"])
    expect(env).toMatchObject({ ANTHROPIC_BASE_URL: expect.stringMatching(/127\.0\.0\.1/), ENABLE_TOOL_SEARCH: "true" })
  })

  test("claude with a base URL in its settings: that is the upstream, and a file for this one process names ours", async () => {
    await using place = await wrapping()
    await using other = await wrapping()
    mkdirSync(join(place.env.HOME!, ".claude"))
    const settings = { env: { ANTHROPIC_BASE_URL: other.sim.url } }
    writeFileSync(join(place.env.HOME!, ".claude", "settings.json"), JSON.stringify(settings))
    const { args, files, env } = await given(place, ["claude", "-p", "hello"])
    expect(args).toEqual(["--settings", expect.any(String), "-p", "hello"])
    expect(JSON.parse(files[0]!)).toEqual({ env: { ANTHROPIC_BASE_URL: env.ANTHROPIC_BASE_URL } })
    expect(existsSync(args[1]!)).toBe(false)
  })

  test("pi: an extension for this one process, which has no secret in it; its own commands get none", async () => {
    await using place = await wrapping()
    const { args, files } = await given(place, ["pi", "-p", "hello"])
    expect(args).toEqual(["--extension", expect.stringMatching(/strata-proxy\.js$/), "-p", "hello"])
    expect(files[0]).toContain("process.env.ANTHROPIC_BASE_URL")
    expect((await given(place, ["pi", "list"])).args).toEqual(["list"])
  })

  test("opencode: its inline settings with our base URL, and what the person has there", async () => {
    await using place = await wrapping()
    const own = { theme: "dark", provider: { anthropic: { options: { apiKey: "{env:KEY}" } }, other: {} } }
    const { env } = await given(place, ["opencode", "run"], { OPENCODE_CONFIG_CONTENT: JSON.stringify(own) })
    expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT!)).toEqual({
      theme: "dark",
      provider: { anthropic: { options: { apiKey: "{env:KEY}", baseURL: `${env.ANTHROPIC_BASE_URL}/v1` } }, other: {} },
    })
  })
})
