/** The demo at several sizes of the window, resized while it works, and from its first frame to its last. The captures are in `captures/`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { QueryEvent } from "@strata/core"
import { makeScratch } from "@strata/sim"
import { expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import type { Item, ToolItem } from "../src/chat/state.ts"
import { runTasks } from "../src/demo/command.ts"
import { MODEL, openDemoEnvironment } from "../src/demo/environment.ts"
import { picture } from "../src/demo/picture.ts"
import { checkRetention } from "../src/demo/retention-check.ts"
import { introduction, itemsOf, shownItem } from "../src/demo/screen.ts"
import { type DemoState, initialState } from "../src/demo/state.ts"
import { turnsBeforeCorrection, turnsPerTask } from "../src/demo/tasks.ts"
import type { DemoFrame } from "../src/demo/view.ts"
import { expectFits, expectKept, SIZES, sizeName } from "./captures.ts"
import { ENDING, eventsOfDemo, stateAfter } from "./demo-events.ts"
import { drawDemo } from "./drawn-chat.ts"
import type { ScreenSize } from "./emulated-screen.ts"
import { emptyPlace, type Place } from "./strata-process.ts"

const SCRATCH = { source: "/home/ada/nightly-builds", project: "", home: "", files: 1_200, remove: () => undefined }

const MOMENTS = [
  ["before the first request", 1],
  ["parallel calls", 10],
  ["compacting", 17],
  ["at the end", eventsOfDemo.length],
] as const

/** The frame after a number of events. */
const frameAt = (count: number): DemoFrame => ({
  items: itemsAt(count),
  ...{ state: stateAfter(count), hasColours: false, elapsedMs: () => 61_000 },
})
const itemsAt = (count: number): readonly Item[] =>
  eventsOfDemo
    .slice(0, count)
    .reduce(itemsOf, [introduction(SCRATCH, stateAfter(0))])
    .map(shownItem)
const windowAt = (count: number, size: ScreenSize) =>
  picture(stateAfter(count), { ...size, elapsedMs: 61_000, hasColours: false })

test("the demo keeps its layout at every size, from before the first request to the end", async () => {
  const captures = []
  for (const size of SIZES)
    for (const [moment, count] of MOMENTS) {
      using demo = await drawDemo(size, frameAt(count))
      const rows = demo.screen.rows()
      expectFits(rows, size)
      expect(rows.filter((row) => row.includes("strata demo ·"))).toHaveLength(1)
      captures.push([`${moment}, ${sizeName(size)}`, rows, size] as const)
    }
  await expectKept("demo", captures)
})

test("more width is used: the bar is as wide as the window, and at 200 columns still readable", () => {
  for (const [columns, wide] of [
    [120, 118],
    [200, 158],
  ] as const) {
    const [, bar] = windowAt(eventsOfDemo.length, { columns, rows: 40 })
    expect(bar!.map(({ text }) => text).join("")).toHaveLength(wide)
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

test("resized while it works: each size shows one whole window, and all of the conversation is left at the end", async () => {
  const [small, usual, large] = SIZES as readonly [ScreenSize, ScreenSize, ScreenSize]
  using demo = await drawDemo(large, frameAt(0))
  const captures = []
  for (const [at, next] of [large, small, usual].entries()) {
    await demo.resize(next)
    await demo.show(frameAt(10 + at))
    const rows = demo.screen.rows()
    expectFits(rows, next)
    expect(rows.filter((row) => row.includes("strata demo ·"))).toHaveLength(1)
    expect(rows.filter((row) => row.startsWith(" Window"))).toHaveLength(1)
    captures.push([sizeName(next), rows, next] as const)
  }
  await demo.show(frameAt(eventsOfDemo.length))
  const all = demo.screen.everything()
  expect(demo.screen.tooWide).toEqual([])
  expect(all.filter((row) => row.includes("strata demo ·"))).toHaveLength(1)
  expect(all.join(" ").replace(/\s+/g, " ")).toContain("A simulated model works on a scratch copy")
  await expectKept("demo-resized", [...captures, ["at the end", all, usual]])
})

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
    const workshop = await openDemoEnvironment({
      scratch,
      turns: turnsPerTask(TURNS),
      seed: 2,
      window: 60_000,
      env: {},
    })
    opened.defer(() => workshop.close())
    const agent = await workshop.open("frames")
    const first = initialState({ model: MODEL, thresholds: agent.conversation.thresholds, planned: TURNS })
    const seen: { state: DemoState; event: QueryEvent }[] = []
    const { state: last } = await runTasks({
      ...{ agent, first, workshop, isPaced: false, task: undefined, max: turnsBeforeCorrection(TURNS) },
      signal: new AbortController().signal,
      screen: { show: (state, event) => void seen.push({ state, event }) },
    })
    const summaries = new Map<string, string>()
    let before = first
    let items: readonly Item[] = []
    for (const { state, event } of seen) {
      items = itemsOf(items, event)
      expectSound(state, before)
      if (event.type === "tool-start") summaries.set(event.id, event.summary)
      if (event.type === "tool-result" && summaries.has(event.id)) {
        const call = items.find((item) => item.kind === "tool" && item.id === event.id) as ToolItem
        expect(call.summary).toBe(summaries.get(event.id))
        expect(["ok", "failed"]).toContain(call.outcome!.state)
      }
      before = state
    }
    for (const { state } of seen.slice(0, 30))
      for (const size of SIZES) {
        const lines = picture(state, { ...size, elapsedMs: 0, hasColours: false })
        expectFits(
          lines.map((line) => line.map(({ text }) => text).join("")),
          size,
        )
      }
    expect(seen.length).toBeGreaterThan(40)
    const facts = await checkRetention(agent.conversation, {
      project: workshop.project,
      promptTokens: last.promptTokens!,
    })
    for (const { kind, all, inView, recalled, inLastWindow } of facts) {
      expect(all, kind).toBeGreaterThan(0)
      expect(inView + recalled, kind).toBe(all)
      expect(inLastWindow, kind).toBeLessThanOrEqual(all)
    }
  },
)

function expectSound(state: DemoState, before: DemoState): void {
  const { parts, size, thresholds, turn, work: done } = state
  const sum = parts.reduce((all, { tokens }) => all + tokens, 0)
  expect(size).toBeLessThanOrEqual(thresholds.window)
  expect(Math.abs(sum - size)).toBeLessThanOrEqual(parts.length)
  if (parts.length > 0) expect(parts[0]!.kind).toBe("prompt") // shares are shown only once the prompt's size is known
  for (const { tokens } of parts) expect(tokens).toBeLessThan(size)
  expect(turn).toBeGreaterThanOrEqual(before.turn)
  expect(done).toBeGreaterThanOrEqual(before.work)
  expect(state.requests.length).toBeGreaterThanOrEqual(before.requests.length)
}
