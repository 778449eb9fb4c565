import { expect, test } from "vitest"
import { eventsOfDemo, stateAfter } from "../../test/demo-events.ts"
import { plainStyle as style } from "../display/terminal.ts"
import { itemsOf, plainScreen } from "./screen.ts"

test("in plain lines, the state of the window is in a turn's line only if it has changed", () => {
  const lines: string[] = []
  const print = (text: string) => void lines.push(text.trimEnd())
  const screen = plainScreen({ print, style, columns: 100 })
  const response = eventsOfDemo.find(({ type }) => type === "response")!
  const state = stateAfter(eventsOfDemo.length)
  for (const fill of ["fine", "warning", "warning", "compact", "fine", "fine"] as const)
    screen.show({ ...state, fill }, { ...response })
  expect(lines.filter((line) => line.startsWith("turn ")).map((line) => line.split(", ").slice(3).join())).toEqual([
    ...["", "past warning", "", "compaction is due", "below warning", ""],
  ])
})

test("the limit that the demo itself sets for a task is not shown as an option of the user", () => {
  expect(itemsOf([], { type: "done", reason: "max-turns", limit: 12, turns: 12 })).toEqual([
    { kind: "notice", tone: "plain", text: "The demo ends this task here, after 12 turns." },
  ])
})
