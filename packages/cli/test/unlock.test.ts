/** `strata unlock`: listing lock owners, and breaking the locks of machines that no longer exist. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { acquireLock } from "../../core/src/journal/file/lock.ts"
import { workbench } from "./workbench.ts"

const GONE = {
  pid: 7,
  host: "gone",
  since: "2026-01-01T00:00:00.000Z",
  started: "1",
  token: "t-of-gone",
  boot: "other",
}

async function withConversation() {
  const bench = await workbench({ turns: ["Hello.", "Again."] })
  await bench.here(["run", "Hi."])
  const [project] = readdirSync(join(bench.home, "projects"))
  const directory = join(bench.home, "projects", project!)
  const id = readdirSync(directory)
    .find((name) => name.endsWith(".jsonl"))!
    .slice(0, -".jsonl".length)
  const memory = join(directory, "memory")
  mkdirSync(memory, { recursive: true })
  return { bench, id, lock: join(directory, `${id}.lock`), memory }
}

test("JRN-3 the error of a locked conversation names the command, which names the holder and breaks the lock", async () => {
  const { bench, id, lock } = await withConversation()
  await using _ = bench
  writeFileSync(lock, JSON.stringify(GONE))
  const refused = await bench.here(["run", "--continue", "Go on."])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`process 7 on gone, since ${GONE.since}`)
  expect(refused.stderr).toContain(`strata unlock ${id}`)
  const asked = await bench.here(["unlock", id.slice(0, 8)])
  expect(asked.stdout).toContain(`Conversation ${id}: process 7 on gone`)
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
  expect(existsSync(lock)).toBe(true)
  expect(await bench.here(["unlock", id.slice(0, 8), "--yes"])).toMatchObject({ code: 0 })
  expect(await bench.here(["run", "--continue", "Go on."])).toMatchObject({ code: 0, stdout: "Again.\n" })
  expect((await bench.here(["unlock"])).stdout).toBe("Nothing of this project is locked.\n")
})

test("JRN-3 L6-2 it finds the locks of the memory and of a dream, and leaves those of a living process alone", async () => {
  const { bench, lock, memory } = await withConversation()
  await using _ = bench
  const own = await acquireLock(lock, "now")
  if (own.state !== "acquired") throw new Error("the lock is held")
  for (const file of ["a.md", "b.md"]) writeFileSync(join(memory, file), "The server is in Frankfurt.\n") // gives the dream something to do
  writeFileSync(join(memory, ".consolidate-lock.guard"), JSON.stringify(GONE))
  const dream = await bench.here(["dream"])
  expect(dream).toMatchObject({ code: 1, stderr: expect.stringContaining("strata unlock") })
  expect(dream.stderr).toContain("Process 7 on gone is consolidating this memory already")
  writeFileSync(join(memory, ".lock"), JSON.stringify(GONE))
  const { code, stdout } = await bench.here(["unlock", "--yes"])
  expect(code).toBe(0)
  expect(stdout).toContain("A change of the memory: process 7 on gone")
  expect(stdout).toContain("Unlocked: A dream.")
  expect(stdout).toContain("The process is running and keeps the lock.")
  expect(own.lock.isHeld()).toBe(true)
  expect(await bench.here(["unlock", "--yes"])).toMatchObject({ code: 1 })
  await own.lock.release()
  expect((await bench.here(["unlock"])).stdout).toBe("Nothing of this project is locked.\n")
})

test("BEY-12 of a store that cannot be opened here it does not say that nothing is locked", async () => {
  await using bench = await workbench({ turns: [] })
  const { code, stdout, stderr } = await bench.here(["unlock"], { env: { STRATA_STORE: "mysql://me:secret@db/x" } })
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
  expect(stderr).toContain("cannot be opened here (mysql:). Nothing was opened. Use postgres://")
  expect(stderr).not.toContain("secret")
})
