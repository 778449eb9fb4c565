import { describe, expect, it } from "vitest"
import { bar, columnChart, signsBelow, sparkline, stackedRuns } from "./bars.ts"
import { plainStyle as style } from "./terminal.ts"

describe("bars", () => {
  it("draws eighths, and something for the smallest value", () => {
    expect(bar({ value: 5, max: 10, width: 3 })).toBe("█▌")
    expect(bar({ value: 1, max: 1_000_000, width: 10 })).toBe("▏")
    expect(bar({ value: 0, max: 10, width: 3 })).toBe("")
  })

  it("stacks parts, and leaves the rest of the width free", () => {
    const parts = [
      { kind: "prompt" as const, tokens: 20 },
      { kind: "files" as const, tokens: 30 },
    ]
    const runs = [
      { kind: "prompt", count: 4 },
      { kind: "files", count: 6 },
    ]
    expect(stackedRuns({ parts, capacity: 100, width: 20 })).toEqual({ runs, free: 10 })
  })

  it("never goes beyond its width, however much there is", () => {
    const parts = [{ kind: "files" as const, tokens: 500 }]
    expect(stackedRuns({ parts, capacity: 100, width: 10 })).toEqual({ runs: [{ kind: "files", count: 10 }], free: 0 })
  })

  it("puts markers under their places", () => {
    const signs = [
      { at: 50, sign: "w" },
      { at: 51, sign: "c" },
      { at: 100, sign: "b" },
    ]
    expect(signsBelow(signs, { capacity: 100, width: 10 })).toBe("    wc   b")
  })

  it("squeezes many values into few columns, keeping the peaks", () => {
    expect(sparkline([1, 8, 1, 1, 4, 1], { max: 8, width: 3 })).toBe("█▁▄")
  })
})

it("charts growth with a scale and marks where it was cut", () => {
  const values = [10, 20, 40, 80, 160, 30, 60, 90]
  const chart = columnChart({ values, marked: [5], width: 32, height: 4, style })
  expect(`\n${chart.join("\n")}\n`).toMatchInlineSnapshot(`
    "
       160 ┤            ███
           ┤            ███      ▂▂▂
        80 ┤         ██████   ▄▄▄███
           ┤▂▂▂▄▄▄█████████▆▆▆██████
         0 └────────────────────────
                           ▲
    "
  `)
})
