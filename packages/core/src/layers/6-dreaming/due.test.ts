import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { manualClock } from "../../base/clock.ts"
import { fileStore } from "../../journal/file/file-store.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { CONSOLIDATE } from "../../journal/permit.ts"
import type { Store } from "../../journal/store.ts"
import { checkGates, type GateFigures } from "./due.ts"
import { DREAM_FILES } from "./state-files.ts"
import { pastConversations } from "./transcripts.ts"

const HOUR = 3_600_000
const START = "2026-05-01T12:00:00.000Z"
const FIGURES: GateFigures = { isOn: true, gapHours: 24, rescanMinutes: 10, conversations: 5 }

type Talk = (id: string, time: Date) => Promise<void>

const STORES = {
  files: () => {
    const root = scratchDirectory()
    const talk: Talk = async (id, time) => {
      const path = join(root, "projects", "code", `${id}.jsonl`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, "{}\n")
      utimesSync(path, time, time)
    }
    return { store: fileStore({ root, clock: manualClock("2030-01-01T00:00:00.000Z") }), talk }
  },
  memory: () => {
    let now = new Date(START)
    const store = memoryStore({ clock: { now: () => now } })
    const talk: Talk = async (id, time) => {
      now = time
      const journal = await store.open({ project: "code", id }, { access: "write", create: true })
      await journal.append(conversation().user("Hello").messages)
      await journal.close()
    }
    return { store, talk }
  },
} satisfies Record<string, () => { store: Store; talk: Talk }>

function place({ store, talk }: { readonly store: Store; readonly talk: Talk }) {
  const clock = manualClock(START)
  const hoursAgo = (count: number) => new Date(clock.now().getTime() - count * HOUR)
  const files = store.memories({ project: "code" })
  const stateFiles = store.memories({ project: "code", collection: "dreams" })
  const permit = store.permit({ project: "code", name: CONSOLIDATE })
  const { list } = pastConversations(store, async () => ["code"])
  return {
    gates: { files, stateFiles, permit, conversations: list, conversation: "mine", clock },
    clock,
    async dreamed(count: number) {
      const attempt = await permit.take({ id: "dream", max: 1 })
      if (attempt.state === "acquired") await attempt.permit.release(hoursAgo(count))
    },
    talked: (id: string, count: number) => talk(id, hoursAgo(count)),
  }
}

describe.each(Object.entries(STORES))("L6-1, BEY-12 the gates, with %s", (_, open) => {
  test("L6-1 each gate leaves early, the cheapest first", async () => {
    const { gates, dreamed, talked, clock } = place(open())
    const check = (figures: Partial<GateFigures> = {}) => checkGates(gates, { ...FIGURES, ...figures })
    expect(await check({ isOn: false })).toMatchObject({ open: false, gate: "switched-off" })
    await dreamed(23.5)
    expect(await check()).toEqual({
      open: false,
      gate: "too-soon",
      reason: expect.stringContaining("possible in 30 minutes"),
    })
    expect(await gates.stateFiles.read(DREAM_FILES.scanned)).toBeUndefined() // nothing was counted yet
    clock.advance(HOUR)
    expect(await check()).toMatchObject({ open: false, gate: "too-few-conversations" })
    for (const id of ["a", "b", "c", "d", "e", "mine"]) await talked(id, 1)
    clock.advance(9 * 60_000)
    expect(await check()).toMatchObject({ open: false, gate: "scanned-lately" })
    clock.advance(60_000)
    expect(await check()).toMatchObject({ open: true, conversations: 5, last: expect.any(Date) })
    expect(await check()).toMatchObject({ open: false, gate: "scanned-lately" })
  })

  test("L6-1 only other conversations count, and only those touched since the last dream", async () => {
    const { gates, dreamed, talked } = place(open())
    await dreamed(48)
    for (const id of ["a", "b", "c"]) await talked(id, 1)
    for (const id of ["old-1", "old-2", "old-3"]) await talked(id, 60)
    await talked("mine", 0)
    expect(await checkGates(gates, FIGURES)).toEqual({
      open: false,
      gate: "too-few-conversations",
      reason: "3 other conversations were active since the last dream. It takes 5 (dream-conversations).",
    })
  })

  test("L6-1 without an earlier dream every conversation counts, and a look is no scan", async () => {
    const { gates, talked } = place(open())
    for (const id of ["a", "b", "c", "d", "e"]) await talked(id, 24 * 300)
    for (let look = 0; look < 2; look++)
      expect(await checkGates(gates, FIGURES, { look: true })).toEqual({ open: true, conversations: 5 })
    expect(await checkGates(gates, FIGURES)).toMatchObject({ open: true })
  })
})

test("L6-1 the time of a scan that an earlier version noted counts", async () => {
  const { gates, clock } = place(STORES.files())
  const file = join(gates.stateFiles.directory!, "scanned")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, "")
  utimesSync(file, clock.now(), clock.now())
  clock.advance(9 * 60_000)
  expect(await checkGates(gates, FIGURES)).toMatchObject({ open: false, gate: "scanned-lately" })
  clock.advance(60_000)
  expect(await checkGates(gates, FIGURES)).toMatchObject({ gate: "too-few-conversations" })
})
