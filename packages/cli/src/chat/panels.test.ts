import { expect, test } from "vitest"
import { bar, helpLines, panelColumns, todoLines } from "./panels.ts"

const LOOK = { columns: 76 }

test("todos by their state", () => {
  expect(
    todoLines(
      [
        { content: "Look", status: "completed" },
        { content: "Fix", status: "in_progress" },
        { content: "Test", status: "pending" },
      ],
      LOOK,
    ),
  ).toEqual(["[x] Look", "[>] Fix", "[ ] Test"])
  expect(todoLines([], LOOK)).toEqual(["The agent has no todos."])
})

test("a bar shows what is there at all, and never more than everything", () => {
  expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(2, 4)]).toEqual(["░░░░", "█░░░", "██░░", "████"])
})

test("of many todos the open ones are shown first, and how to see the others", () => {
  const todos = Array.from({ length: 50 }, (_, i) => ({
    content: `Step ${i} ${"and more ".repeat(9)}`,
    status: i < 25 ? ("completed" as const) : ("pending" as const),
  }))
  const lines = todoLines(todos, LOOK)
  expect(lines[0]).toMatch(/^\[ \] Step 25 /)
  expect(lines[1]).toMatch(/^ {4}and more/)
  expect(lines.at(-1)).toBe("… and 20 more. To see all: /todos all")
  expect(todoLines(todos, { ...LOOK, isWhole: true }).filter((line) => line.startsWith("["))).toHaveLength(50)
})

test("with many own commands /help says how many more there are, and fits a narrow window", () => {
  const builtIn = [{ usage: "/help", about: "show this list" }]
  const own = Array.from({ length: 45 }, (_, i) => ({ usage: `/own-${i}`, about: `does ${"a lot ".repeat(20)}` }))
  const lines = helpLines({ builtIn, own }, { columns: 56 })
  expect(lines.some((line) => line.includes("… and 25 more. To see all: /help"))).toBe(true)
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(56)
  expect(helpLines({ builtIn, own }, { columns: 56, isWhole: true }).join("\n")).toContain("/own-44")
})

test("a panel uses the width of the window, up to a limit", () => {
  expect([10, 60, 80, 120, 300].map(panelColumns)).toEqual([20, 56, 76, 116, 160])
})
