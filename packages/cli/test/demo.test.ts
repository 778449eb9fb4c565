/** The demo as a process: in a pipe, in a terminal, interrupted. In each case it removes everything it made. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { strataHere } from "./strata-here.ts"
import { type Ended, emptyPlace, MAIN, type Place, runProcess } from "./strata-process.ts"

const hasPseudoTerminal = spawnSync("script", ["--version"]).status === 0
if (!hasPseudoTerminal) console.warn('There is no "script" command here: the live picture is not tested in a terminal.')

const FILES = 120 // of what the demo works on
const LAYERS = ["results put aside", "results cleared", "compaction"]

let place: Place
beforeEach(() => {
  place = emptyPlace()
})
afterEach(() => place.remove())

const leftovers = () => readdirSync(place.cwd).filter((name) => name.startsWith("strata-demo-"))

/**
 * The demo as it is where strata was installed as a package: it shows the directory it is called in, and that has always the same files.
 * From our own checkout it would show that one, and what comes of it would change with every commit.
 */
let elsewhere: Place
const installed = () => join(elsewhere.cwd, "installed", "packages", "cli")
const demo = () => [process.execPath, join(installed(), "dist", "main.js"), "demo"]
const project = () => join(elsewhere.cwd, "project")
const runDemo = (options: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  runProcess([...demo(), ...options], { cwd: project(), env: { ...place.env, ...env } })

beforeAll(() => {
  elsewhere = emptyPlace()
  const cli = join(MAIN, "..", "..")
  for (const part of ["dist", "package.json"]) cpSync(join(cli, part), join(installed(), part), { recursive: true })
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(elsewhere.cwd, "installed", "node_modules"))
  for (let n = 0; n < FILES; n++) {
    const directory = join(project(), "packages", `part-${n % 7}`, "src")
    mkdirSync(directory, { recursive: true })
    const lines = Array.from(
      { length: 40 + ((n * 53) % 300) },
      (_, line) => `export const value${line} = compute(${(n * 31 + line * 17) % 997}, "module ${n}") // line ${line}`,
    )
    const path = join(directory, `module-${n}.ts`)
    writeFileSync(path, `${lines.join("\n")}\n`)
    utimesSync(path, 1_000 + n, 1_000 + n) // searches list the newest first
  }
})
afterAll(() => elsewhere.remove())

const CORRECTION = '"From now on, always write findings to docs/FINDINGS.md."'

/** The correction is kept, recalled with source and age, and acted on: nothing in the second conversation names the file but memory. */
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
  it.runIf(isWhole).each([{}, { STRATA_STORE: "memory:" }])(
    "L5-7 BEY-12 with %o, goes through several windows: results put aside and cleared, notes, compactions, one bill; then a second conversation knows what the first one learned; in plain lines where there is no terminal, and cleans up",
    async (env) => {
      const acted = new Set<string>()
      // notes are taken beside the work, so the course is not the same every time: one run in many has no use for one of the layers
      for (const seed of ["2", "3", "4"]) {
        const { code, stdout, stderr } = await runDemo(["--seed", seed], env)
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
        expect(stdout).not.toContain("\u001b")
        expect(stdout).toMatch(/^turn 1: .* of 60.0K tokens/m)
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
          /loses .*tool results\. With Strata all \d+ turns fit and nothing is lost\./,
        )
        expect(stdout.split("What to try next")[1]!.match(/^ {2}strata /gm)).toHaveLength(1)
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

  it("keeps the journal where that is asked for, ready to be inspected, and the memories as files", async () => {
    const { stdout } = await runDemo(["--turns", "3", "--keep"])
    const journal = /strata inspect (\S+\.jsonl)/.exec(stdout)?.[1]
    const inspected = await strataHere(["inspect", "--json", journal!], place)
    expect(JSON.parse(inspected.stdout).conversations[0]).toMatchObject({
      format: "strata",
      title: "strata demo",
      report: { notUnderstood: {} },
    })
    const memory = join(dirname(journal!), "memory")
    const kept = readdirSync(memory).filter((name) => name.startsWith("from-now-on"))
    expect(readFileSync(join(memory, kept[0]!), "utf8")).toContain("always write findings to docs/FINDINGS.md")
    expect(readFileSync(join(memory, "MEMORY.md"), "utf8")).toContain(kept[0])
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

  it("stops at Ctrl-C and removes everything", async () => {
    const [program, ...args] = demo()
    const child = spawn(program!, [...args, "--turns", "2000"], {
      cwd: project(),
      env: place.env,
      stdio: ["ignore", "pipe", "ignore"],
    })
    const exit = once(child, "exit")
    await Promise.race([once(child.stdout, "data"), exit])
    child.kill("SIGINT")
    child.stdout.resume()
    expect((await exit)[0]).toBe(130)
    expect(leftovers()).toEqual([])
  })

  it.skipIf(!hasPseudoTerminal)("draws over itself in a terminal, and gives the cursor back", async () => {
    const command = `stty rows 24 cols 80; ${demo()
      .map((part) => JSON.stringify(part))
      .join(" ")} --fast --turns 4`
    const log = join(place.cwd, "typescript")
    const { code, stdout } = await runProcess(["script", "-qec", command, log], { cwd: project(), env: place.env })
    expect(code).toBe(0)
    expect(stdout).toContain("Window")
    expect(stdout).toContain("w warning 7.0K  c compaction 27.0K  b full 37.0K")
    expect(stdout.split("\u001b[H").length).toBeGreaterThan(2) // each picture is drawn over the one before
    expect(stdout.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(stdout.lastIndexOf("\u001b[?1049h"))
    expect(stdout.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stdout.lastIndexOf("\u001b[?25l"))
    expect(stdout).toContain("A second conversation, the next day")
    expect(stdout).toContain("What to try next")
  })
})
