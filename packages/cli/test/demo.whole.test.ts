/** The demo as a process, to its end: with several windows, on a store in memory, and in a terminal. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { type InstalledDemo, installDemo } from "./installed-demo.ts"
import { emptyPlace, type Place, type ProcessResult, runProcess } from "./strata-process.ts"

const LAYERS = ["results offloaded", "results cleared", "compaction"]

let place: Place
beforeEach(() => {
  place = emptyPlace()
})
afterEach(() => place.remove())

const leftovers = () => readdirSync(place.cwd).filter((name) => name.startsWith("strata-demo-"))

let demo: InstalledDemo
beforeAll(() => {
  demo = installDemo()
})
afterAll(() => demo.remove())

const runDemo = (options: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ProcessResult> =>
  runProcess([...demo.command, ...options], { cwd: demo.project, env: { ...place.env, ...env } })

const CORRECTION = '"From now on, always write findings to docs/FINDINGS.md."'

/** The correction is saved, recalled with source and age, and followed: only memory names the file in the second conversation. */
function expectNextDay(stdout: string): void {
  const parts = stdout.split(/^A second conversation, the next day$|^What happened$/m)
  const [first, second, summary] = parts.map((part) => part.replace(/\n +/g, " "))
  expect(first).toContain(`${CORRECTION} (you said it)`)
  expect(second).toContain(`recalled: ${CORRECTION} (you said it, yesterday)`)
  expect(second).toMatch(/✓ write docs\/FINDINGS\.md/)
  expect(summary).toMatch(/memories: \d+ requests, \$\d/)
  expect(summary).toMatch(/second conversation: \d+ requests, \$\d/)
  expect(summary).toMatch(
    /memories +[12] kept by the first conversation - ".*" \d used by the second; it wrote .*docs\/FINDINGS\.md/,
  )
}

describe("strata demo", () => {
  it.each([{}, { STRATA_STORE: "memory:" }])(
    "L5-7 BEY-12 with %o, goes through several windows: results offloaded and cleared, notes, compactions, one bill; then a second conversation knows what the first one learned; in plain lines where there is no terminal, and cleans up",
    async (env) => {
      const acted = new Set<string>()
      // notes are written in parallel, so runs differ: one run in many does not need one of the layers
      for (const seed of ["2", "3", "4"]) {
        const { code, stdout, stderr } = await runDemo(["--seed", seed], env)
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
        expect(stdout).not.toContain("\u001b")
        expect(stdout).toMatch(/^turn 1: .* of 60.0K tokens/m)
        const states = [...stdout.matchAll(/^turn \d+: .*, (past warning|below warning|compaction is due|full)$/gm)]
        expect(states.every(([, state], i) => state !== states[i - 1]?.[1])).toBe(true)
        expect(stdout).not.toContain("--max-turns")
        expect(stdout).toContain("What happened")
        expect(stdout).toMatch(/files +\d+ read/)
        expect(stdout.match(/^ *\d+ ≡ Compacted: [\d,]+ to [\d,]+ tokens, .*\.$/gm)!.length).toBeGreaterThanOrEqual(1)
        expect(Number(/tokens, ([\d.]+) windows of 60,000/.exec(stdout)![1])).toBeGreaterThan(1.5)
        expect(stdout).toMatch(
          /^ +turn \d+: [\d.]+K to [\d.]+K, \d+ messages\s+summarised[^;]*;\s+then\s+added:[^;]*?facts\s+from\s+the\s+journal/m,
        )
        const turns = /^ +turns +(\d+) in /m.exec(stdout)![1]!
        expect(Number(turns)).toBeGreaterThan(70)
        expect(stdout).toMatch(new RegExp(`^ +conversation: ${turns} requests, \\$\\d`, "m"))
        expect(stdout).toMatch(/^ +notes: \d+ requests, \$\d/m)
        expect(stdout).toMatch(/Strata reserves 20\.0K of them[\s\S]*compacts at\s+27\.0K/)
        expect(stdout).toMatch(new RegExp(`^ +turns that fit +all ${turns} +\\d+$`, "m"))
        expect(stdout).toMatch(/Without Strata the window of 60\.0K is full at turn \d+\./)
        expect(stdout).toMatch(/^ +your messages +\d+ in view(?:, \d+ by recall)? +\d+ of \d+$/m)
        expect(stdout.replace(/\s+/g, " ")).toMatch(
          /loses .*tool results\. With Strata all \d+ turns fit, and everything is in view or found by recall\./,
        )
        expect(stdout.split("What to try next")[1]!.match(/^ {2}strata (?:usage|chat|demo) /gm)).toHaveLength(3)
        expectNextDay(stdout)
        expect(leftovers()).toEqual([])
        for (const layer of LAYERS)
          if (new RegExp(`^ +(?:layers +)?${layer}: \\d+ times?, [\\d.]+K tokens removed`, "m").test(stdout))
            acted.add(layer)
        if (acted.size === LAYERS.length) break
      }
      expect([...acted].toSorted()).toEqual(LAYERS.toSorted())
    },
  )

  it("compacts at least twice within 150 turns in a window of 200,000 tokens", async () => {
    const { code, stdout, stderr } = await runDemo(["--window", "200000", "--turns", "150", "--fast"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const [first, second] = stdout.split(/^A second conversation, the next day$/m) as [string, string]
    expect(first).toMatch(/^turn 1: .* of 200K tokens/m)
    const compactions = first.match(/^ *\d+ ≡ Compacted: [\d,]+ to [\d,]+ tokens, .*\.$/gm) ?? []
    expect(compactions.length).toBeGreaterThanOrEqual(2)
    expect(second).toContain(`compacted  ${compactions.length} times`)
    expect(Number(/^ +turns +(\d+) in /m.exec(second)![1])).toBeLessThanOrEqual(150)
    expect(second).toMatch(/Without Strata the window of 200K is full at turn \d+\./)
  })

  it("BEY-12 runs on the store that STRATA_STORE names: in memory, no journal, notes or memory is written to disk", async () => {
    const { code, stdout, stderr } = await runDemo(["--turns", "3", "--keep"], { STRATA_STORE: "memory:" })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout.replace(/\n +/g, " ")).toContain(`recalled: ${CORRECTION} (you said it, yesterday)`)
    expect(stdout).toMatch(/^ +journal +was kept in memory/m)
    expect(stdout).not.toContain("strata inspect memory:")
    const written = leftovers().flatMap((name) => readdirSync(join(place.cwd, name), { recursive: true }).map(String))
    expect(written).toContainEqual(expect.stringContaining("module-1.ts"))
    expect(written.filter((path) => /\.jsonl|MEMORY\.md|session-memory/.test(path))).toEqual([])
  })

  it("suggests commands that work in a checkout, after npm start", async () => {
    const at = {
      cwd: join(import.meta.dirname, "..", "..", ".."),
      env: { ...place.env, npm_config_update_notifier: "false" },
    }
    const demo = await runProcess(["npm", "start", "--", "--fast", "--turns", "20", "--keep"], at)
    expect(demo.code).toBe(0)
    const commands = demo.stdout.split("What to try next\n")[1]!.match(/^ {2}\S.*?(?= {2,}|$)/gm)!
    expect(commands.map((line) => /^ {2}npx --no-install strata (\w+)/.exec(line)?.[1])).toEqual([
      ...["inspect", "usage", "chat", "demo"],
    ])
    const more: Partial<Record<string, string>> = { chat: "--help", demo: "--turns 3" } // needs a key; takes long
    for (const line of commands) {
      const name = / strata (\w+)/.exec(line)![1]!
      const { code, stdout, stderr } = await runProcess(["sh", "-c", `${line} ${more[name] ?? ""}`], at)
      expect({ line, code, stderr }).toMatchObject({ code: 0 })
      expect(stdout).not.toBe("")
    }
  })

  it("draws over itself in a terminal, and gives the cursor back", needs("script"), async () => {
    const command = `stty rows 24 cols 80; ${demo.command
      .map((part) => JSON.stringify(part))
      .join(" ")} --fast --turns 4`
    const log = join(place.cwd, "typescript")
    const { code, stdout } = await runProcess(["script", "-qec", command, log], { cwd: demo.project, env: place.env })
    expect(code).toBe(0)
    expect(stdout).toContain("Window")
    expect(stdout).toContain("w warning 7.0K  c compaction 27.0K  b full 37.0K")
    expect(stdout.split("\u001b[1A").length).toBeGreaterThan(2) // each frame is drawn over the previous one
    expect(stdout.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stdout.lastIndexOf("\u001b[?25l"))
    expect(stdout).toContain("A second conversation, the next day")
    expect(stdout).toContain("What to try next")
  })
})
