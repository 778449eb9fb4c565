import { describe, expect, it } from "vitest"
import { call, testContext, textIn } from "../../../test/tool-context.ts"
import { checkToolInput } from "../../messages/tool-input.ts"
import { isReadOnly } from "../defaults.ts"
import type { PlanState, UserQuestion } from "../tool.ts"
import { askUser } from "./ask-user.ts"
import { enterPlanMode, exitPlanMode } from "./plan-mode.ts"
import { todoWrite } from "./todo-write.ts"

describe("TodoWrite", () => {
  const todo = (content: string, status: string) => ({ content, status, activeForm: `${content}…` })

  it("replaces the list and answers shortly", async () => {
    const context = testContext()
    await call(todoWrite, { todos: [todo("old", "pending")] }, context)
    const result = await call(todoWrite, { todos: [todo("a", "completed"), todo("b", "in_progress")] }, context)
    expect(result).toEqual({ content: "Noted: 1 completed, 1 in progress, 0 pending." })
    expect(context.todos.get()).toEqual([
      { content: "a", status: "completed" },
      { content: "b", status: "in_progress" },
    ])
    expect(textIn(await call(todoWrite, { todos: [] }, context))).toBe("The todo list is empty.")
  })

  it("says so when more than one is in progress, and notes them all the same", async () => {
    const context = testContext()
    const result = await call(todoWrite, { todos: [todo("a", "in_progress"), todo("b", "in_progress")] }, context)
    expect(textIn(result)).toContain("one at a time")
    expect(result.isError).toBeUndefined()
    expect(context.todos.get()).toHaveLength(2)
  })

  it("LOOP-3: an unknown status is refused by the schema", async () => {
    const checked = await checkToolInput(todoWrite.inputSchema, { todos: [{ content: "a", status: "done" }] })
    expect(checked.state).toBe("invalid")
  })
})

describe("plan mode", () => {
  const planning = (answer: Awaited<ReturnType<PlanState["leave"]>>): PlanState => ({
    isActive: () => true,
    enter: () => undefined,
    leave: async () => answer,
  })

  it("PERM-1: is entered once, and left with the person's approval", async () => {
    const context = testContext()
    expect(textIn(await call(enterPlanMode, {}, context))).toContain("Plan mode is on: read and plan")
    expect(context.plan.isActive()).toBe(true)
    expect(textIn(await call(enterPlanMode, {}, context))).toBe("Plan mode is on already.")
    expect(await call(exitPlanMode, { plan: "1. do it" }, context)).toEqual({
      content: "The plan is approved and plan mode is off: carry it out.",
    })
    expect((await call(exitPlanMode, { plan: "again" }, context)).isError).toBe(true)
  })

  it("PERM-1: a plan that is not approved is an error result, with what the user wrote", async () => {
    const context = testContext({ plan: planning({ approved: false, remark: "tests first" }) })
    const result = await call(exitPlanMode, { plan: "1. do it" }, context)
    expect(result).toEqual({
      content: "The plan is not approved, and plan mode stays on. The person says: tests first",
      isError: true,
    })
  })

  it("LOOP-3: an abort while the person thinks ends the call", async () => {
    const abort = new AbortController()
    const plan = { ...planning({ approved: true }), leave: () => new Promise<never>(() => undefined) }
    const result = call(exitPlanMode, { plan: "x" }, testContext({ plan, signal: abort.signal }))
    abort.abort()
    expect(textIn(await result)).toContain("Plan mode stays on")
  })

  it("can be called in plan mode, and asks with the plan", () => {
    expect(isReadOnly(exitPlanMode, { plan: "x" })).toBe(true)
    expect(exitPlanMode.question!({ plan: "First line\nmore" }, testContext())).toEqual({
      kind: "ask",
      summary: "approve: First line",
      preview: "First line\nmore",
    })
  })
})

describe("AskUser", () => {
  it("asks the person and returns the answer", async () => {
    const asked: UserQuestion[] = []
    const promptUser = async (question: UserQuestion) => {
      asked.push(question)
      return "blue"
    }
    const result = await call(askUser, { question: "Which?", options: ["red", "blue"] }, testContext({ promptUser }))
    expect(result).toEqual({ content: "The person answers: blue" })
    expect(asked).toEqual([{ text: "Which?", options: ["red", "blue"] }])
  })

  it("PERM-1: without a person it says so and what to do", async () => {
    const nobody = await call(askUser, { question: "Which?" })
    expect(nobody.isError).toBe(true)
    expect(textIn(nobody)).toMatch(/^There is no one to ask\. Decide/)
    const silent = await call(askUser, { question: "Which?" }, testContext({ promptUser: async () => undefined }))
    expect(textIn(silent)).toMatch(/^No answer came\. Decide/)
  })

  it("LOOP-3: an abort ends the waiting", async () => {
    const promptUser = () => new Promise<never>(() => undefined)
    const result = await call(askUser, { question: "?" }, testContext({ promptUser, signal: AbortSignal.abort() }))
    expect(result).toEqual({ content: "Interrupted before an answer came.", isError: true })
  })
})
