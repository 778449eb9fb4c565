/** The demo at several sizes of the window, resized while it works, and from its first frame to its last. The captures are in `captures/`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { QueryEvent } from "@strata/core"
import { makeScratch } from "@strata/sim"
import { afterEach, expect, test, vi } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { work } from "../src/demo/command.ts"
import { picture } from "../src/demo/picture.ts"
import { openScreen } from "../src/demo/screen.ts"
import { beginning, type DemoState } from "../src/demo/state.ts"
import { stillThere } from "../src/demo/still-there.ts"
import { turnsBeforeCorrection, turnsPerTask } from "../src/demo/tasks.ts"
import { MODEL, openWorkshop } from "../src/demo/workshop.ts"
import { outputFilter } from "../src/display/output.ts"
import { colourStyle, plainStyle, type Terminal } from "../src/display/terminal.ts"
import { expectFits, expectKept, SIZES, sizeName } from "./captures.ts"
import { ENDING, eventsOfDemo, stateAfter } from "./demo-events.ts"
import { EmulatedScreen, type ScreenSize } from "./emulated-screen.ts"
import { emptyPlace, type Place } from "./strata-process.ts"

afterEach(() => {
  vi.useRealTimers()
})

const MOMENTS = [
  ["before the first request", 1],
  ["parallel calls", 9],
  ["compacting", 15],
  ["at the end", eventsOfDemo.length],
] as const

test("the picture keeps its layout at every size, from before the first request to the end", async () => {
  const captures = SIZES.flatMap((size) =>
    MOMENTS.map(([moment, count]) => {
      const rows = picture(stateAfter(count), { style: plainStyle, ...size, elapsedMs: 61_000 })
      expectFits(rows, size)
      return [`${moment}, ${sizeName(size)}`, rows, size] as const
    }),
  )
  await expectKept("demo", captures)
})

test("more width is used: the bar is as wide as the window, and at 200 columns still readable", () => {
  for (const [columns, wide] of [
    [120, 118],
    [200, 158],
  ] as const) {
    const rows = picture(stateAfter(eventsOfDemo.length), { style: plainStyle, columns, rows: 40, elapsedMs: 0 })
    expect(rows.find((row) => row.startsWith(" SSS"))!.trim()).toHaveLength(wide)
  }
})

test("the ending fits every width, and its comparison about a screen", async () => {
  const captures = SIZES.map((size) => {
    const rows = ENDING(size.columns)
    expectFits(rows, size, false)
    return [sizeName(size), rows, size] as const
  })
  const usual = ENDING(80)
  expect(usual.length - usual.indexOf("The same work, with and without Strata")).toBeLessThanOrEqual(24)
  await expectKept("demo-ending", captures)
})

/** A terminal whose output an emulated screen shows. */
function terminalOn(screen: EmulatedScreen, size: { columns: number; rows: number }): Terminal {
  const filter = outputFilter()
  const print = (text: string) => screen.write(filter(text))
  return { ...{ print, complain: print, isScreen: true, style: colourStyle }, ...onSize(size) }
}

const onSize = (size: { columns: number; rows: number }) => ({
  get columns() {
    return size.columns
  },
  get rows() {
    return size.rows
  },
})

test("resized while it works: each size shows one whole picture, and only the last one is left at the end", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  const [small, usual, large] = SIZES as readonly [ScreenSize, ScreenSize, ScreenSize]
  const size = { ...large }
  const screen = new EmulatedScreen(size)
  const terminal = Object.defineProperties(terminalOn(screen, size), Object.getOwnPropertyDescriptors(onSize(size)))
  const demo = openScreen(terminal, { elapsedMs: () => 61_000 })
  demo.begin(SCRATCH, stateAfter(0))
  const captures = []
  for (const [at, next] of [large, small, usual].entries()) {
    Object.assign(size, next)
    screen.resize(next)
    demo.show(stateAfter(9 + at), eventsOfDemo[9 + at]!)
    vi.advanceTimersByTime(200)
    const rows = screen.rows()
    expectFits(rows, next)
    expect(rows.filter((row) => row.includes("strata demo"))).toHaveLength(1)
    expect(rows.filter((row) => row.startsWith(" Window"))).toHaveLength(1)
    captures.push([sizeName(next), rows, next] as const)
  }
  demo.end()
  const all = screen.everything()
  expect(screen.tooWide).toEqual([])
  expect(all.filter((row) => row.includes("strata demo"))).toHaveLength(1)
  expect(all[0]).toContain("A simulated model works on a scratch copy")
  await expectKept("demo-resized", [...captures, ["at the end", all, usual]])
})

const SCRATCH = { source: "/home/ada/nightly-builds", project: "", home: "", files: 1_200, remove: () => undefined }

const FILES = 40
const TURNS = 12

function project(place: Place): string {
  for (let n = 0; n < FILES; n++) {
    const directory = join(place.cwd, "project", `part-${n % 5}`)
    mkdirSync(directory, { recursive: true })
    const lines = Array.from({ length: 40 + ((n * 53) % 200) }, (_, line) => `export const value${line} = ${n * line}`)
    writeFileSync(join(directory, `module-${n}.ts`), `${lines.join("\n")}\n`)
  }
  return join(place.cwd, "project")
}

test.runIf(isWhole)(
  "from the first frame to the last: shares add up, turns and work never go back, each result has its own call",
  async () => {
    await using opened = new AsyncDisposableStack()
    const place = emptyPlace()
    opened.defer(() => place.remove())
    const scratch = makeScratch(project(place))
    opened.defer(() => scratch.remove())
    const workshop = await openWorkshop({ scratch, turns: turnsPerTask(TURNS), seed: 2, window: 60_000, env: {} })
    opened.defer(() => workshop.close())
    const agent = await workshop.open("frames")
    const first = beginning({ model: MODEL, thresholds: agent.conversation.thresholds, planned: TURNS })
    const seen: { state: DemoState; event: QueryEvent }[] = []
    const { state: last } = await work({
      ...{ agent, first, workshop, isPaced: false, task: undefined, most: turnsBeforeCorrection(TURNS) },
      signal: new AbortController().signal,
      screen: { show: (state, event) => void seen.push({ state, event }) },
    })
    const summaries = new Map<string, string>()
    let before = first
    for (const { state, event } of seen) {
      expectSound(state, before)
      if (event.type === "tool-start") summaries.set(event.id, event.summary)
      if (event.type === "tool-result" && summaries.has(event.id)) {
        const line = state.happenings.find(({ id }) => id === event.id)!
        expect(line.text).toContain(summaries.get(event.id)!.slice(0, 20))
        expect(["done", "failed"]).toContain(line.kind)
      }
      before = state
    }
    for (const { state } of seen.slice(0, 30))
      for (const size of SIZES) expectFits(picture(state, { style: plainStyle, ...size, elapsedMs: 0 }), size)
    expect(seen.length).toBeGreaterThan(40)
    const facts = await stillThere(agent.conversation, { project: workshop.project, promptTokens: last.promptTokens! })
    for (const { kind, all, inView, recalled, inLastWindow } of facts) {
      expect(all, kind).toBeGreaterThan(0)
      expect(inView + recalled, kind).toBe(all)
      expect(inLastWindow, kind).toBeLessThanOrEqual(all)
    }
  },
)

function expectSound(state: DemoState, before: DemoState): void {
  const { parts, size, thresholds, turn, work: done, happenings } = state
  const sum = parts.reduce((all, { tokens }) => all + tokens, 0)
  expect(size).toBeLessThanOrEqual(thresholds.window)
  expect(Math.abs(sum - size)).toBeLessThanOrEqual(parts.length)
  if (parts.length > 0) expect(parts[0]!.kind).toBe("prompt") // until it is known, no shares are shown
  for (const { tokens } of parts) expect(tokens).toBeLessThan(size)
  expect(turn).toBeGreaterThanOrEqual(before.turn)
  expect(done).toBeGreaterThanOrEqual(before.work)
  expect(state.requests.length).toBeGreaterThanOrEqual(before.requests.length)
  expect(happenings.map((one) => one.turn)).toEqual(happenings.map((one) => one.turn).toSorted((a, b) => a - b))
}
