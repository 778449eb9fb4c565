/** The demo as a process: in a pipe, and interrupted. In each case it removes all its files. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { type InstalledDemo, installDemo } from "./installed-demo.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, type Place, runProcess } from "./strata-process.ts"

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

describe("strata demo", () => {
  it.runIf(isWhole)(
    "keeps the journal where that is asked for, ready to be inspected, and the memories as files",
    async () => {
      const { stdout } = await runProcess([...demo.command, "--turns", "3", "--keep"], {
        cwd: demo.project,
        env: place.env,
      })
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
    },
  )

  it("stops at Ctrl-C and removes everything", async () => {
    const [program, ...args] = demo.command
    const child = spawn(program!, [...args, "--turns", "2000"], {
      cwd: demo.project,
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
})
