import { expect, test } from "vitest"
import { maxAfter } from "./choose.ts"
import type { CompactionContext } from "./compaction-context.ts"
import type { Route } from "./summarise/route.ts"

/** A compaction context with only the fields that the evaluation needs. `autoCompact` is the threshold. */
const situation = ({ tokens, autoCompact }: { readonly tokens: number; readonly autoCompact: number }) =>
  ({
    context: { size: { tokens } },
    order: { trigger: "auto" },
    budgets: { progress: 0.1 },
    limits: { autoCompact },
  }) as CompactionContext

const asked = { mustReachThreshold: false } as Route
const prepared = { mustReachThreshold: true } as Route

test("L4-27 a summary must shrink the context by a tenth, also one that was prepared and stays below the threshold", () => {
  const justOver = situation({ tokens: 100_000, autoCompact: 99_000 })
  expect(maxAfter(justOver, asked)).toBe(90_000)
  expect(maxAfter(justOver, prepared)).toBe(90_000)
})

test("L2-15 one that only saves money must gain 20,000 tokens, with all that it keeps", () => {
  const { order, ...rest } = situation({ tokens: 100_000, autoCompact: 167_000 })
  expect(maxAfter({ ...rest, order: { ...order, planned: "It pays." } }, prepared)).toBe(80_000)
})

test("L4-27 a prepared summary must also come out below the threshold, however much it shrinks", () => {
  const farOver = situation({ tokens: 200_000, autoCompact: 99_000 })
  expect(maxAfter(farOver, asked)).toBe(180_000)
  expect(maxAfter(farOver, prepared)).toBe(98_999)
})
