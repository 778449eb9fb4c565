import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { size } from "../../../test/size.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { manualClock, systemClock } from "../../base/clock.ts"
import {
  acquireConsolidationLock,
  type ConsolidationLockOptions,
  GUARD_FILE,
  LOCK_FILE,
  machineProcesses,
  readConsolidationLock,
} from "./consolidate-lock.ts"

const RACER = fileURLToPath(new URL("../../../test/lock-racer.ts", import.meta.url))
const RACERS = size(4, 8)
const ATTEMPTS = process.env.FUZZ_RUNS ? 1_000 : size(3, 60)
const WHOLE_SECONDS = 2_000 // the OS reports start times in seconds, rounded
const HOUR = 60 * 60_000
const EARLIER = new Date("2026-01-01T08:00:00.000Z")

const fileIn = (directory: string) => join(directory, LOCK_FILE)
const contentOf = (directory: string) => readFileSync(fileIn(directory), "utf8")
const timeOf = (directory: string) => statSync(fileIn(directory)).mtime

async function acquired(place: ConsolidationLockOptions) {
  const attempt = await acquireConsolidationLock(place)
  if (attempt.state === "held") throw new Error(`held by ${attempt.by.pid}`)
  return attempt.lock
}

/** A memory directory that was consolidated at this time. */
function consolidated(at = EARLIER, pid = "") {
  const directory = scratchDirectory()
  writeFileSync(fileIn(directory), pid)
  utimesSync(fileIn(directory), at, at)
  return directory
}

describe("L6-2 the lock of a consolidation", () => {
  test("L6-2 its text is the pid while it is held, and its mtime is always the time of the last consolidation", async () => {
    const directory = scratchDirectory()
    const clock = manualClock("2026-03-01T00:00:00.000Z")
    const first = await acquired({ directory, clock })
    expect(contentOf(directory)).toBe(String(process.pid))
    expect(first.last).toBeUndefined()
    expect(await readConsolidationLock({ directory, clock })).toEqual({ heldBy: process.pid })
    await first.release(clock.now())
    expect(contentOf(directory)).toBe("")
    expect(timeOf(directory)).toEqual(clock.now())

    const done = clock.now()
    clock.advance(25 * HOUR)
    const second = await acquired({ directory, clock })
    expect(second.last).toEqual(done)
    expect(timeOf(directory)).toEqual(done)
    await second.release()
    expect(contentOf(directory)).toBe("")
    expect(timeOf(directory)).toEqual(done)
  })

  test("L6-2 a second one in the same process does not get it, and a late release changes nothing", async () => {
    const directory = scratchDirectory()
    const lock = await acquired({ directory, clock: systemClock })
    expect(await acquireConsolidationLock({ directory, clock: systemClock })).toMatchObject({
      state: "held",
      by: { pid: process.pid, isSelf: true },
    })
    await lock.release()
    const next = await acquired({ directory, clock: systemClock })
    await lock.release(systemClock.now())
    expect(contentOf(directory)).toBe(String(process.pid))
    await next.release()
  })

  test.each([
    ["an empty file", ""],
    ["a dead process", String(2 ** 22 - 3)],
    ["text that names no process", "not a pid"],
    ["a pid of this process that it did not write", String(process.pid)],
    ["a long text", "9".repeat(5_000)],
  ])("L6-2 %s does not hold it", async (_, content) => {
    const directory = consolidated(EARLIER, content)
    const lock = await acquired({ directory, clock: systemClock })
    expect(lock.last).toEqual(EARLIER)
    await lock.release()
    expect(timeOf(directory)).toEqual(EARLIER)
  })

  test("L6-2 a live process holds it; after 60 minutes only if it is the one that wrote its pid", async () => {
    const sleeper = spawn("sleep", ["60"])
    const exit = once(sleeper, "exit")
    const directory = consolidated(EARLIER, String(sleeper.pid))
    const written = Math.ceil(statSync(fileIn(directory)).ctimeMs)
    const at = (ms: number, began: number) =>
      readConsolidationLock({
        directory,
        clock: manualClock(new Date(written + ms)),
        processes: { ...machineProcesses, startedAt: async () => new Date(began) },
      })
    expect(await at(59 * 60_000, written + HOUR)).toMatchObject({ heldBy: sleeper.pid })
    expect(await at(HOUR, written - 1_000)).toMatchObject({ heldBy: sleeper.pid })
    expect(await at(HOUR, written + 10_000)).toEqual({ last: EARLIER })
    sleeper.kill()
    await exit
    expect(await at(0, written)).toEqual({ last: EARLIER })
  })

  test("L6-2 a time in the future, from a clock that was wrong once, counts as none", async () => {
    const directory = consolidated(new Date("2099-01-01T00:00:00.000Z"))
    const clock = manualClock("2026-05-01T00:00:00.000Z")
    expect(await readConsolidationLock({ directory, clock })).toEqual({})
    const lock = await acquired({ directory, clock })
    expect(lock.last).toBeUndefined()
    await lock.release(clock.now())
    expect(await readConsolidationLock({ directory, clock })).toEqual({ last: clock.now() })
  })

  test("L6-2 drafts of killed processes do not pile up", async () => {
    const directory = consolidated()
    for (const name of ["0a1b2c3d.draft", "draft"]) writeFileSync(join(directory, `${LOCK_FILE}.${name}`), "7")
    await (await acquired({ directory, clock: systemClock })).release()
    expect(readdirSync(directory)).toEqual([LOCK_FILE])
  })

  test("L6-2 a holder on another machine keeps it, and is named with its host and the file", async () => {
    const directory = consolidated(EARLIER, String(2 ** 22 - 3))
    const guard = join(directory, GUARD_FILE)
    const owner = { pid: 2 ** 22 - 3, host: "another", since: "yesterday", started: "1", token: "t", boot: "other" }
    writeFileSync(guard, JSON.stringify(owner))
    expect(await readConsolidationLock({ directory, clock: systemClock })).toMatchObject({ heldBy: owner.pid })
    expect(await acquireConsolidationLock({ directory, clock: systemClock })).toMatchObject({
      state: "held",
      by: { ...owner, path: guard, status: "unknown" },
    })
  })

  test("L6-2 the OS says when a process began", async () => {
    const before = Date.now()
    const child = spawn("cat")
    await once(child, "spawn")
    const began = (await machineProcesses.startedAt(child.pid!))!.getTime()
    const after = Date.now()
    child.kill()
    expect(began).toBeGreaterThan(before - WHOLE_SECONDS)
    expect(began).toBeLessThan(after + WHOLE_SECONDS)
    expect(await machineProcesses.isAlive(process.pid)).toBe(true)
    expect(await machineProcesses.isAlive(0)).toBe(false)
  })

  test(`L6-2 ${RACERS} processes race ${ATTEMPTS} times each: there are never two holders`, async () => {
    const directory = join(scratchDirectory(), "memory")
    await mkdir(directory)
    const racers = Array.from({ length: RACERS }, () =>
      spawn(process.execPath, [RACER, "race", directory, String(ATTEMPTS)], { stdio: ["ignore", "pipe", "inherit"] }),
    )
    const outputs = await Promise.all(racers.map((racer) => text(racer.stdout)))
    expect(outputs.join("")).not.toContain("two holders")
    const wins = outputs.map((output) => Number(/won (\d+)/.exec(output)?.[1]))
    expect(Math.min(...wins)).toBeGreaterThanOrEqual(0)
    expect(wins.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(RACERS)
    expect(contentOf(directory)).toBe("")
  })

  test.each(["guarded", "drafted", "written", "acquired", "released"])(
    "L6-2 a holder killed at the step %s is taken over, and the earlier mtime is there",
    async (step) => {
      const directory = consolidated()
      const victim = spawn(process.execPath, [RACER, "stop", directory, step], { stdio: ["ignore", "pipe", "inherit"] })
      const exit = once(victim, "exit")
      await once(victim.stdout, "data")
      if (step === "written" || step === "acquired") {
        expect(contentOf(directory)).toBe(String(victim.pid))
        expect((await acquireConsolidationLock({ directory, clock: systemClock })).state).toBe("held")
      }
      victim.kill("SIGKILL")
      expect(await exit).toEqual([null, "SIGKILL"])
      expect(timeOf(directory)).toEqual(EARLIER)
      const lock = await acquired({ directory, clock: systemClock })
      expect(lock.last).toEqual(EARLIER)
      await lock.release()
      expect(timeOf(directory)).toEqual(EARLIER)
      expect(contentOf(directory)).toBe("")
    },
  )
})
