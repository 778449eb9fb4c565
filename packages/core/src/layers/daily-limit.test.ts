import { expect, test } from "vitest"
import { isWhole } from "../../test/size.ts"
import { scratchDirectory } from "../../test/tool-context.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { type DailyBudget, dailyBudgetIn } from "../journal/store.ts"
import { type DailyReservation, reserveDailyBudget, withReservation } from "./budget.ts"

const DAY = "2026-11-17"
const wanted = { limit: 1, expected: 0.25, day: DAY }

const budgetsOn = (root: string, count: number): readonly DailyBudget[] =>
  Array.from({ length: count }, () => dailyBudgetIn(fileStore({ root }).memories({ project: "app" })))

test.runIf(isWhole)(
  "BEY-12 the limit of a day holds for many that begin at the same moment, and their shares end as what they did cost",
  async () => {
    const budgets = budgetsOn(scratchDirectory(), 12)
    const shares = await Promise.all(budgets.map((daily) => reserveDailyBudget(daily, wanted)))
    const taken = shares.filter((share): share is DailyReservation => share.state === "taken")
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.length).toBeLessThanOrEqual(4)
    expect(await budgets[0]!.spentOn(DAY)).toBe(0.25 * taken.length)
    await Promise.all(taken.map((share) => withReservation(share, { work: async () => 0.5, cost: (done) => done })))
    expect(await budgets[0]!.spentOn(DAY)).toBe(0.5 * taken.length)
  },
)

test("BEY-12 work that fails gives its share back, and a used-up day says what was spent", async () => {
  const [daily] = budgetsOn(scratchDirectory(), 1)
  const share = (await reserveDailyBudget(daily!, wanted)) as DailyReservation
  const work = () => Promise.reject(new Error("the model is away"))
  await expect(withReservation(share, { work, cost: () => 1 })).rejects.toThrow("the model is away")
  expect(await daily!.spentOn(DAY)).toBe(0)
  await daily!.add(1, DAY)
  expect(await reserveDailyBudget(daily!, wanted)).toEqual({
    state: "used-up",
    sentence: "memory work of this project has cost $1.00 today, and the limit is $1 a day (memory-daily-limit).",
  })
})
