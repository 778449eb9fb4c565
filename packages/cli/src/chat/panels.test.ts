import { expect, test } from "vitest"
import { bar, todoLines } from "./panels.ts"

test("todos by their state", () => {
  expect(
    todoLines([
      { content: "Look", status: "completed" },
      { content: "Fix", status: "in_progress" },
      { content: "Test", status: "pending" },
    ]),
  ).toEqual(["[x] Look", "[>] Fix", "[ ] Test"])
  expect(todoLines([])).toEqual(["The agent has no todos."])
})

test("a bar shows what is there at all, and never more than everything", () => {
  expect([bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(2, 4)]).toEqual(["░░░░", "█░░░", "██░░", "████"])
})
