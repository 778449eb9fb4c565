import { describe, expect, test } from "vitest"
import { outputFilter } from "./output.ts"
import { progressOn, withProgress } from "./progress.ts"

/** A terminal that records its output, and a manual clock. */
function scene(canRewrite: boolean, columns = 40) {
  let time = 0
  const written: string[] = []
  const shown = outputFilter()
  const terminal = { complain: (text: string) => void written.push(shown(text)), columns, canRewrite }
  return { terminal, written, progress: progressOn(terminal, () => time), move: (ms: number) => (time += ms) }
}

describe("progress on a screen", () => {
  test("is one line that is rewritten with how far it is, and goes at the end", () => {
    const { progress, written, move } = scene(true)
    progress.show("Reading a.jsonl", { done: 0, of: 1_500 })
    move(50)
    progress.show("Reading b.jsonl", { done: 1, of: 1_500 }) // too early for another update
    move(3_000)
    progress.show("Reading c.jsonl", { done: 1_200, of: 1_500 })
    progress.end()
    progress.end()
    expect(written).toEqual([
      "\u001b[1GReading a.jsonl: 0 of 1,500\u001b[K",
      "\u001b[1GReading c.jsonl: 1,200 of 1,500, 3 s\u001b[K",
      "\u001b[1G\u001b[K",
    ])
    expect(written.join("")).not.toContain("\n")
  })

  test("makes way for other output, fits the width, and lets no control character through", () => {
    const { progress, written, move } = scene(true, 12)
    progress.show("Reading\u001b[2J a very long name")
    progress.clear()
    move(10)
    progress.show("next")
    progress.end()
    expect(written).toHaveLength(4)
    const line = written[0]!.slice("\u001b[1G".length, -"\u001b[K".length)
    expect(line).not.toContain("\u001b")
    expect(line.length).toBeLessThanOrEqual(11)
    expect(written[2]).toContain("next")
  })
})

test("progress in a pipe is a plain line now and then, and nothing for short work", () => {
  const { progress, written, move } = scene(false)
  progress.show("Reading", { done: 1, of: 9 })
  move(9_000)
  progress.show("Reading", { done: 2, of: 9 })
  expect(written).toEqual([])
  move(1_500)
  progress.show("Reading", { done: 3, of: 9 })
  progress.clear()
  progress.end()
  expect(written).toEqual(["Reading: 3 of 9, 10 s\n"])
})

test("short work that only waits shows nothing, and its failure comes through", async () => {
  const { terminal, written } = scene(true)
  expect(await withProgress(terminal, "Searching", async () => 7)).toBe(7)
  await expect(withProgress(terminal, "Searching", () => Promise.reject(new Error("no")))).rejects.toThrow("no")
  expect(written).toEqual([])
})
