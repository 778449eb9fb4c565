import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { isWhole } from "../../../test/size.ts"
import { CONSOLIDATE } from "../permit.ts"
import { dailyBudgetIn } from "../store.ts"
import { fileStore } from "./file-store.ts"
import { findLocks } from "./find-locks.ts"
import { acquireLock } from "./lock.ts"

const TAKER = fileURLToPath(new URL("../../../test/permit-taker.ts", import.meta.url))
const MAX = 3

interface Taker {
  readonly process: ChildProcess
  readonly states: readonly string[]
}

async function taker(root: string, count: number): Promise<Taker> {
  const child = spawn(process.execPath, [TAKER, root, "app", String(MAX), String(count)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const states: string[] = []
  for await (const line of createInterface({ input: child.stdout })) if (states.push(line) === count) break
  return { process: child, states }
}

async function killed({ process: child }: Taker): Promise<void> {
  child.kill("SIGKILL")
  await once(child, "exit")
}

async function place() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const take = (id: string) => fileStore({ root }).permit({ project: "app", name: "agents" }).take({ id, max: MAX })
  return { root, take }
}

const statesOf = (takers: readonly Taker[]) => takers.flatMap(({ states }) => states).sort()

test.runIf(isWhole)(
  "BEY-12 processes that want permits at once get as many as there are, and a killed process's are free",
  async () => {
    const { root, take } = await place()
    const takers = await Promise.all([2, 2, 2].map((count) => taker(root, count)))
    expect(statesOf(takers)).toEqual([...Array(3).fill("acquired"), ...Array(3).fill("full")])
    expect(await take("here")).toMatchObject({ state: "full", taken: MAX, by: { pid: expect.any(Number) } })

    const loser = takers.find(({ states }) => states.includes("acquired"))!
    const lost = loser.states.filter((state) => state === "acquired").length
    await killed(loser)
    const again = await Promise.all(["a", "b", "c", "d"].map(take))
    expect(again.filter(({ state }) => state === "acquired")).toHaveLength(lost)

    for (const one of takers) if (one !== loser) await killed(one)
    for (const one of again) if (one.state === "acquired") await one.permit.release()
    for (const one of await Promise.all(["e", "f", "g"].map(take))) expect(one.state).toBe("acquired")
  },
)

test("BEY-12 permits are locks that can be seen, and nothing is left of those that were given back", async () => {
  const { root, take } = await place()
  const taken = await Promise.all(["a", "b"].map(take))
  const locks = await findLocks([root])
  expect(locks.map(({ path, pid }) => [path.slice(root.length), pid])).toEqual([
    ["/projects/app/seats/agents/seat-0.lock", process.pid],
    ["/projects/app/seats/agents/seat-1.lock", process.pid],
  ])
  for (const one of taken) if (one.state === "acquired") await one.permit.release()
  expect(await findLocks([root])).toEqual([])
})

test("BEY-12 L6-2 a directory of an earlier version opens: its sums, the time of its last consolidation, and its agents' places", async () => {
  const { root, take } = await place()
  const project = join(root, "projects", "app")
  const memory = join(project, "memory")
  await mkdir(memory, { recursive: true })
  await writeFile(join(memory, ".spent.json"), '{"day":"2026-11-17","dollars":1.5,"earlier":{"2026-11-16":0.25}}\n')
  const consolidated = new Date("2026-01-02T12:00:00.000Z")
  await writeFile(join(memory, ".consolidate-lock"), "")
  await utimes(join(memory, ".consolidate-lock"), consolidated, consolidated)
  const permits = join(project, "seats", "agents")
  await mkdir(permits, { recursive: true })
  const here = await acquireLock(join(permits, "seat-0.lock"), "2026-11-17T12:00:00.000Z")
  if (here.state === "held") throw new Error("It is held.")

  const store = fileStore({ root })
  const budget = dailyBudgetIn(store.memories({ project: "app" }))
  expect(await budget.spentOn("2026-11-16")).toBe(0.25)
  expect(await budget.add(1, "2026-11-17")).toBe(2.5)
  expect(await readFile(join(memory, ".spent.json"), "utf8")).toBe(
    '{"day":"2026-11-17","dollars":2.5,"earlier":{"2026-11-16":0.25}}\n',
  )
  expect(await store.permit({ project: "app", name: CONSOLIDATE }).state()).toEqual({ taken: 0, last: consolidated })
  expect(await store.permit({ project: "app", name: "agents" }).state()).toEqual({ taken: 1 })
  const others = await Promise.all(["a", "b", "c"].map(take))
  expect(others.map(({ state }) => state).sort()).toEqual(["acquired", "acquired", "full"])
  await here.lock.release()
})
