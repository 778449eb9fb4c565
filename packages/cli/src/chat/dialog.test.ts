import { expect, test } from "vitest"
import { type Dialog, type DialogStep, pressInDialog } from "./dialog.ts"
import type { Intent } from "./keys.ts"

const question: Dialog = {
  id: "1",
  from: "agent",
  title: "Really?",
  options: [{ label: "Yes", letter: "y" }, { label: "Maybe" }, { label: "No", letter: "n", asksReply: "optional" }],
  selected: 0,
}

/** The result of pressing keys in sequence. */
function press(dialog: Dialog, ...intents: readonly Intent[]): DialogStep {
  let step: DialogStep = { type: "open", dialog }
  for (const intent of intents) if (step.type === "open") step = pressInDialog(step.dialog, intent)
  return step
}
const type = (text: string): Intent => ({ type: "insert", text })
const enter: Intent = { type: "submit" }
const chosen = (index: number, reply?: string) => ({
  type: "answered",
  answer: { type: "chosen", index, ...(reply ? { reply } : {}) },
})

test("a letter, a number, or arrows and Enter choose", () => {
  expect(press(question, type("y"))).toEqual(chosen(0))
  expect(press(question, type("2"))).toEqual(chosen(1))
  expect(press(question, { type: "down" }, enter)).toEqual(chosen(1))
  expect(press(question, { type: "up" }, { type: "up" }, enter)).toEqual(chosen(1))
  expect(press(question, type("x"))).toEqual({ type: "open", dialog: question })
})

test("a choice can come with a reply, or without", () => {
  expect(press(question, type("n"), type("not now"), enter)).toEqual(chosen(2, "not now"))
  expect(press(question, type("n"), enter)).toEqual(chosen(2))
})

test("a required reply is waited for", () => {
  const open: Dialog = { ...question, options: [{ label: "Answer", asksReply: "required" }] }
  expect(press(open, enter, enter).type).toBe("open")
  expect(press(open, enter, type("blue"), enter)).toEqual(chosen(0, "blue"))
})

test("Esc closes the reply first, then the question", () => {
  expect(press(question, type("n"), type("hm"), { type: "escape" })).toEqual({
    type: "open",
    dialog: { ...question, selected: 2 },
  })
  expect(press(question, { type: "escape" })).toEqual({ type: "answered", answer: { type: "dismissed" } })
})
