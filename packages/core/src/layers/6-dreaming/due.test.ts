import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { manualClock } from "../../base/clock.ts"
import { LOCK_FILE } from "../../journal/file/consolidate-lock.ts"
import { checkGates, type GateFigures } from "./due.ts"

const HOUR = 3_600_000
const FIGURES: GateFigures = { isOn: true, gapHours: 24, rescanMinutes: 10, conversations: 5 }

function place() {
  const top = scratchDirectory()
  const directory = join(top, "memory")
  const clock = manualClock("2026-05-01T12:00:00.000Z")
  mkdirSync(directory)
  const at = (path: string, time: Date, text = "") => {
    writeFileSync(path, text)
    utimesSync(path, time, time)
  }
  const hoursAgo = (count: number) => new Date(clock.now().getTime() - count * HOUR)
  return {
    gates: { directory, journals: [top, top], conversation: "mine", scanned: join(top, "dreams", "scanned"), clock },
    clock,
    dreamed: (count: number) => at(join(directory, LOCK_FILE), hoursAgo(count)),
    talked: (id: string, count: number) => at(join(top, `${id}.jsonl`), hoursAgo(count), "{}\n"),
  }
}

describe("L6-1 the gates", () => {
  test("L6-1 each gate leaves early, the cheapest first", async () => {
    const { gates, dreamed, talked, clock } = place()
    const check = (figures: Partial<GateFigures> = {}) => checkGates(gates, { ...FIGURES, ...figures })
    expect(await check({ isOn: false })).toMatchObject({ open: false, gate: "switched-off" })
    dreamed(23.5)
    expect(await check()).toEqual({
      open: false,
      gate: "too-soon",
      reason: expect.stringContaining("possible in 30 minutes"),
    })
    expect(() => statSync(gates.scanned)).toThrow() // nothing was counted yet
    clock.advance(HOUR)
    expect(await check()).toMatchObject({ open: false, gate: "too-few-conversations" })
    for (const id of ["a", "b", "c", "d", "e", "mine"]) talked(id, 1)
    clock.advance(9 * 60_000)
    expect(await check()).toMatchObject({ open: false, gate: "scanned-lately" })
    clock.advance(60_000)
    expect(await check()).toMatchObject({ open: true, conversations: 5, last: expect.any(Date) })
    expect(await check()).toMatchObject({ open: false, gate: "scanned-lately" })
  })

  test("L6-1 only other conversations count, and only those touched since the last dream", async () => {
    const { gates, dreamed, talked } = place()
    dreamed(48)
    for (const id of ["a", "b", "c"]) talked(id, 1)
    for (const id of ["old-1", "old-2", "old-3"]) talked(id, 60)
    talked("mine", 0)
    expect(await checkGates(gates, FIGURES)).toEqual({
      open: false,
      gate: "too-few-conversations",
      reason: "3 other conversations were active since the last dream. It takes 5 (dream-conversations).",
    })
  })

  test("L6-1 without an earlier dream every conversation counts, and a look is no scan", async () => {
    const { gates, talked } = place()
    for (const id of ["a", "b", "c", "d", "e"]) talked(id, 24 * 300)
    for (let look = 0; look < 2; look++)
      expect(await checkGates(gates, FIGURES, { look: true })).toEqual({ open: true, conversations: 5 })
    expect(await checkGates(gates, FIGURES)).toMatchObject({ open: true })
  })
})
