import { execFileSync } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { openJournal, temporaryRoot } from "../../../test/journal-files.ts"
import { isWhole } from "../../../test/size.ts"
import { ConversationLockedError } from "../../base/errors.ts"
import { acquireLock } from "./lock.ts"

const DEAD = {
  pid: 2 ** 22 - 3,
  host: (await import("node:os")).hostname(),
  since: "yesterday",
  started: "1",
  token: "dead",
}

test("JRN-3 a second writer gets an error that says who holds the conversation", async () => {
  const { root, remove } = await temporaryRoot()
  const first = await openJournal(root)
  const error = await openJournal(root).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConversationLockedError)
  expect(String(error)).toContain("already open in this process")
  await first.close()
  await (await openJournal(root)).close()
  await remove()
})

test.runIf(isWhole)("JRN-3 of many who find a dead owner exactly one takes the lock over", async () => {
  const { root, remove } = await temporaryRoot()
  for (let round = 0; round < 50; round++) {
    const path = join(root, `lock-${round}`)
    await writeFile(path, JSON.stringify(DEAD))
    const attempts = await Promise.all(Array.from({ length: 8 }, () => acquireLock(path, "now")))
    const winners = attempts.filter((attempt) => attempt.state === "acquired")
    expect(winners).toHaveLength(1)
  }
  await remove()
})

test("JRN-3 an owner that died while taking over is taken over in turn", async () => {
  const { root, remove } = await temporaryRoot()
  const path = join(root, "lock")
  await writeFile(path, JSON.stringify(DEAD))
  await writeFile(`${path}.takeover`, JSON.stringify({ ...DEAD, token: "also dead" }))
  const attempt = await acquireLock(path, "now")
  expect(attempt.state).toBe("acquired")
  expect((await acquireLock(path, "now")).state).toBe("held")
  if (attempt.state === "acquired") await attempt.lock.release()
  expect((await acquireLock(path, "now")).state).toBe("acquired")
  await remove()
})

test("JRN-3 a lock of another machine, or one reused pid, is judged rightly", async () => {
  const { root, remove } = await temporaryRoot()
  const elsewhere = join(root, "elsewhere")
  await writeFile(elsewhere, JSON.stringify({ ...DEAD, host: "another-machine" }))
  expect((await acquireLock(elsewhere, "now")).state).toBe("held")
  const reused = join(root, "reused")
  await writeFile(reused, JSON.stringify({ ...DEAD, pid: process.pid, started: "another start" }))
  expect((await acquireLock(reused, "now")).state).toBe(process.platform === "linux" ? "acquired" : "held")
  const garbage = join(root, "garbage")
  await writeFile(garbage, "not a lock")
  expect((await acquireLock(garbage, "now")).state).toBe("acquired")
  await remove()
})

test("JRN-3 BEY-12 a process that is paused right before it gets a lock has a larger number than those before it all the same", async () => {
  const { root, remove } = await temporaryRoot()
  const path = join(root, "lock")
  const inAnotherProcess = `
    import { acquireLock } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)}
    const { lock } = await acquireLock(${JSON.stringify(path)}, "now")
    process.stdout.write(String(lock.fence))
    await lock.release()`
  const now = performance.now.bind(performance)
  const STAMPS_BEFORE = 2 // one stamp for the new owner file, one for the attempt
  let readings = 0
  let other = 0
  vi.spyOn(performance, "now").mockImplementation(() => {
    const time = now()
    if (++readings === STAMPS_BEFORE)
      other = Number(execFileSync(process.execPath, ["--input-type=module", "-e", inAnotherProcess]))
    return time
  })
  const attempt = await acquireLock(path, "now").finally(() => vi.restoreAllMocks())
  if (attempt.state !== "acquired") throw new Error("the lock is held")
  expect(other).toBeGreaterThan(0)
  expect(attempt.lock.fence).toBeGreaterThan(other)
  expect(attempt.lock.isHeld()).toBe(true)
  await attempt.lock.release()
  await remove()
})
