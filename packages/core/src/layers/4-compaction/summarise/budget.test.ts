import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createEstimator } from "../../../tokens/estimate.ts"
import { withinBudget } from "./prompts.ts"

const { text: estimate } = createEstimator("claude-5")
const TITLES = [
  ...["Primary Request and Intent", "Key Technical Concepts", "Files and Code Sections", "Errors and Fixes"],
  ...["Problem Solving", "All User Messages", "Pending Tasks", "Current Work", "Optional Next Step"],
]
const summaryOf = (lines: number) =>
  `Summary:\n${TITLES.map((title, at) => `${at + 1}. ${title}:\n${`a line of section ${at + 1}\n`.repeat(lines)}`).join("")}`
const fit = (text: string, budget: number) =>
  withinBudget({ text, budget, estimate, range: ["first00000", "last000000"] })

describe("L4-31 the budget of a summary", () => {
  test("one that fits stays as it is", () => {
    expect(fit(summaryOf(3), 2_000)).toBe(summaryOf(3))
  })

  test("a longer one loses whole sections, the intent and the next step last, and says how to get the rest", () => {
    const cut = fit(summaryOf(20), 1_000)
    expect(estimate(cut)).toBeLessThanOrEqual(1_000)
    for (const title of TITLES) expect(cut).toContain(title)
    for (const section of [1, 9]) expect(cut.split(`a line of section ${section}\n`)).toHaveLength(21)
    expect(cut).not.toContain("a line of section 2\n")
    expect(cut).toMatch(/Key Technical Concepts: \[Left out/)
    expect(cut).toMatch(/Messages first00000 to last000000 have what is missing/)
  })

  test("without sections it is cut at a line end", () => {
    const cut = fit("one line of many\n".repeat(500), 200)
    expect(cut).toMatch(/^(?:one line of many\n)+\n\[The summary was too long/)
    expect(estimate(cut)).toBeLessThanOrEqual(200)
  })

  test("quoted text and lists with numbers are no sections, and a cut closes the fence it is in", () => {
    const message = `~~~\n1. Get the threads\n\n### 2. Answer them\n${"a line of the message\n".repeat(200)}~~~\n`
    const listed = "1. first try\n2. second try\n"
    const cut = fit(`1. Intent:\n   - verbatim:\n${message}2. Concepts:\n${listed}3. Files:\n${listed}`, 300)
    expect(cut).toMatch(/a line of the message\n~~~\n\[Left out/)
    expect(cut).toContain("### 2. Answer them\n")
    expect(cut).toMatch(/\n2\. Concepts: \[Left out.*\n3\. Files: \[Left out.*\n\n\[The summary was too long/)
    const prose = fit(`\`\`\`\n${"a line of code\n".repeat(500)}\`\`\`\n`, 200)
    expect(prose).toMatch(/a line of code\n```\n\n\[The summary was too long/)
  })

  test("property: never over the budget, and every section is whole or left out", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(60), { minLength: 9, maxLength: 9 }),
        fc.integer({ min: 350, max: 2_000 }),
        (sizes, budget) => {
          const text = `Summary:\n${sizes.map((size, at) => `${at + 1}. ${TITLES[at]}:\n${`line ${at}\n`.repeat(size)}`).join("")}`
          const cut = fit(text, budget)
          expect(estimate(cut)).toBeLessThanOrEqual(budget)
          sizes.slice(1).forEach((size, at) => {
            const shown = cut.split(`line ${at + 1}\n`).length - 1
            expect([0, size]).toContain(shown)
          })
        },
      ),
    )
  })
})
