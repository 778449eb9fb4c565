/** Real commands that wait forever. The test controls the clock that decides. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { everyNth, isWhole } from "../../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import { manualClock } from "../../../base/clock.ts"
import { bashTool } from "./bash.ts"
import { ShellSession } from "./shell-session.ts"

const sessions: ShellSession[] = []
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()))
})

/** Advances the clock until the command ends, or for so many minutes, after it has printed `begins`. */
async function runFor(command: string, { minutes = 60, stepMs = 1_000, unasked = true, begins = "" } = {}) {
  const directory = scratchDirectory()
  execFileSync("mkfifo", [join(directory, "fifo")])
  writeFileSync(join(directory, "log"), "one\n")
  const session = new ShellSession({ graceMs: 20 })
  sessions.push(session)
  const clock = manualClock()
  const start = clock.now().getTime()
  const abort = new AbortController()
  const context = testContext({ at: directory, clock, signal: abort.signal, ...(unasked ? { unapproved: true } : {}) })
  let text: string | undefined
  const done = call(bashTool(session), { command }, context).then((result) => {
    text = textIn(result)
  })
  while (!context.shown.join("").includes(begins)) await wait(1)
  const seconds = () => (clock.now().getTime() - start) / 1_000
  while (text === undefined && seconds() < 60 * minutes) {
    clock.advance(stepMs)
    await wait(1)
  }
  abort.abort()
  await done
  return { text: text!, seconds: seconds() }
}

const WAITED = /^It waited for 10 s without output or work\. To let it wait, set run_in_background: the user is asked\./

for (const command of everyNth(["cat fifo", "tail -f log", "cat log; grep x fifo | wc -l", "sleep infinity"], 4))
  test(`PERM-8 ${command} is ended soon, and says how to let it wait`, async () => {
    expect((await runFor(command)).text).toMatch(WAITED)
  })

test.runIf(isWhole)("PERM-8 what was printed before is kept", async () => {
  expect((await runFor("tail -f log", { begins: "one" })).text).toMatch(/\none$/)
})

test.runIf(isWhole)("PERM-8 a command that works, or sleeps for a time, goes on", async () => {
  expect((await runFor("while :; do :; done", { minutes: 0.4, stepMs: 200 })).text).toMatch(/^Interrupted/)
  expect((await runFor("sleep 0.5; echo done", { stepMs: 100 })).text).toBe("done")
})

test.runIf(isWhole)("PERM-8 a command that someone allowed waits as long as its timeout", async () => {
  expect((await runFor("cat fifo", { minutes: 3, unasked: false })).text).toMatch(/^Interrupted/)
})
