/** The demo as a process: in a pipe, in a terminal, interrupted. Whatever happens, nothing is left behind. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { emptyPlace, MAIN, type Place, runProcess, strata } from "./strata-process.ts"

const hasPseudoTerminal = spawnSync("script", ["--version"]).status === 0
if (!hasPseudoTerminal) console.warn('There is no "script" command here: the live picture is not tested in a terminal.')

let place: Place
beforeEach(() => {
  place = emptyPlace()
})
afterEach(() => place.remove())

const leftovers = () => readdirSync(place.cwd).filter((name) => name.startsWith("strata-demo-"))

describe("strata demo", () => {
  it("prints plain lines where there is no terminal, and cleans up", async () => {
    const { code, stdout, stderr } = await strata(["demo", "--turns", "4"], place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).not.toContain("\u001b")
    expect(stdout).toMatch(/^turn 1, .* of 60.0K tokens/m)
    expect(stdout).toContain("What happened")
    expect(stdout).toMatch(/files +\d+ read/)
    expect(leftovers()).toEqual([])
  })

  it("goes through several windows: results put aside and cleared, notes, compactions, one bill", async () => {
    const { code, stdout, stderr } = await strata(["demo"], place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout.match(/^ *\d+ ≡ Compacted: [\d,]+ to [\d,]+ tokens, .*\.$/gm)!.length).toBeGreaterThanOrEqual(2)
    expect(Number(/came in: ([\d.]+) windows of 60,000/.exec(stdout)![1])).toBeGreaterThan(1.5)
    expect(stdout).toMatch(/^ +turn \d+: [\d.]+K to [\d.]+K (?:by the model|from the notes): \d+ told, .*facts/m)
    for (const layer of ["results put aside", "results cleared", "compaction"])
      expect(stdout).toMatch(new RegExp(`^ +${layer}: \\d+ times?, [\\d.]+K tokens removed`, "m"))
    expect(stdout).toMatch(/^ +conversation: 70 requests, \$\d/m)
    expect(stdout).toMatch(/^ +notes: \d+ requests, \$\d/m)
    expect(leftovers()).toEqual([])
  })

  it("keeps the journal where that is asked for, ready to be inspected", async () => {
    const { stdout } = await strata(["demo", "--turns", "3", "--keep"], place)
    const journal = /strata inspect (\S+\.jsonl)/.exec(stdout)?.[1]
    const inspected = await strata(["inspect", "--json", journal!], place)
    expect(JSON.parse(inspected.stdout).conversations[0]).toMatchObject({
      format: "strata",
      title: "strata demo",
      report: { notUnderstood: {} },
    })
  })

  it("stops at Ctrl-C and removes everything", async () => {
    const child = spawn(process.execPath, [MAIN, "demo", "--turns", "2000"], {
      cwd: place.cwd,
      env: place.env,
      stdio: ["ignore", "pipe", "ignore"],
    })
    await once(child.stdout, "data")
    child.kill("SIGINT")
    child.stdout.resume()
    const [code] = await once(child, "exit")
    expect(code).toBe(130)
    expect(leftovers()).toEqual([])
  })

  it.skipIf(!hasPseudoTerminal)("draws over itself in a terminal, and gives the cursor back", async () => {
    const command = `stty rows 24 cols 80; ${JSON.stringify(process.execPath)} ${JSON.stringify(MAIN)} demo --fast --turns 4`
    const log = join(place.cwd, "typescript")
    const { code, stdout } = await runProcess(["script", "-qec", command, log], { cwd: place.cwd, env: place.env })
    expect(code).toBe(0)
    expect(stdout).toContain("The window")
    expect(stdout).toContain("w warning 7.0K  c compact 27.0K  b blocked 37.0K")
    expect(stdout).toContain("\u001b[22A") // up by a whole picture, to draw over it
    expect(stdout.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stdout.lastIndexOf("\u001b[?25l"))
    expect(stdout).toContain("What to try next")
  })
})
