import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import type { Message } from "../../messages/messages.ts"
import { project } from "../projection.ts"
import { workState } from "./open-work.ts"

const frontierOf = ({ messages }: { messages: readonly Message[] }) => project(workState, messages)

describe("L4-29 the frontier view: the last request", () => {
  test("is what the user asked for last, and whether it was answered", () => {
    const builder = conversation()
    expect(frontierOf(builder)).toMatchObject({ answered: true })
    expect(frontierOf(builder).request).toBeUndefined()
    builder.user("first").say("done").user("second")
    expect(frontierOf(builder)).toMatchObject({
      request: { uuid: builder.messages[2]!.uuid, text: "second" },
      answered: false,
    })
    builder.call("Read")
    expect(frontierOf(builder).answered).toBe(false)
    builder.result("text")
    expect(frontierOf(builder)).toMatchObject({ request: { text: "second" }, answered: false })
    builder.say("done")
    expect(frontierOf(builder)).toMatchObject({ request: { text: "second" }, answered: true })
  })

  test("thinking alone is no answer, nor is text next to a call", () => {
    const asked = () => conversation().user("go")
    expect(frontierOf(asked().respond([{ type: "thinking", thinking: "hm", signature: "s" }])).answered).toBe(false)
    const both = asked().respond([
      { type: "text", text: "I look" },
      { type: "tool_use", id: "t", name: "Read", input: {} },
    ])
    expect(frontierOf(both).answered).toBe(false)
  })

  test("meta messages, summaries and sub-agents ask for nothing", () => {
    const builder = conversation()
      .user("mine")
      .user("meta", { isMeta: true })
      .user("summary", { isCompactSummary: true })
      .user("aside", { isSidechain: true })
    expect(frontierOf(builder).request?.text).toBe("mine")
  })
})

describe("L4-29 the frontier view: todos", () => {
  const TODOS = [
    { content: "one", status: "completed" },
    { content: "two", status: "in_progress" },
    { content: "three", status: "pending" },
  ]

  test.each([
    ["TodoWrite", { todos: TODOS }],
    ["todowrite", { todos: TODOS }],
    ["update_plan", { plan: TODOS.map(({ content, status }) => ({ step: content, status })) }],
  ])("as %s wrote them", (tool, input) => {
    expect(frontierOf(conversation().call(tool, input).result("ok")).todos).toEqual(TODOS)
  })

  test("as attached; the newest list counts", () => {
    const builder = conversation()
      .call("TodoWrite", { todos: TODOS })
      .result("ok")
      .attach({ type: "todo_list", todos: [{ content: "new", status: "pending" }] })
    expect(frontierOf(builder).todos).toEqual([{ content: "new", status: "pending" }])
  })

  test("not before the call has succeeded", () => {
    expect(frontierOf(conversation().call("TodoWrite", { todos: TODOS })).todos).toEqual([])
    expect(frontierOf(conversation().call("TodoWrite", { todos: TODOS }).result("no", true)).todos).toEqual([])
  })

  test("anything else in the list is skipped; an unknown state is pending", () => {
    const todos = [null, 7, { status: "done" }, { content: "a", status: "done" }, { content: "b", status: "later" }]
    expect(frontierOf(conversation().call("TodoWrite", { todos }).result("ok")).todos).toEqual([
      { content: "a", status: "completed" },
      { content: "b", status: "pending" },
    ])
    expect(frontierOf(conversation().call("TodoWrite", { todos: "none" }).result("ok")).todos).toEqual([])
  })
})

describe("L4-29 the frontier view: plan", () => {
  test("is entered and left by its tools, or by attachment; its text stays", () => {
    const builder = conversation().call("EnterPlanMode").result("ok")
    expect(frontierOf(builder).plan).toEqual({ active: true })
    builder.attach({ type: "plan_file", path: "plan.md", content: "1. look" })
    expect(frontierOf(builder).plan).toEqual({ active: true, path: "plan.md", text: "1. look" })
    builder.call("ExitPlanMode", { plan: "1. do" }).result("approved")
    expect(frontierOf(builder).plan).toEqual({ active: false, path: "plan.md", text: "1. do" })
    builder.attach({ type: "plan_mode", active: true })
    expect(frontierOf(builder).plan.active).toBe(true)
  })

  test("a plan that was refused leaves plan mode on", () => {
    const builder = conversation().call("EnterPlanMode").result("ok").call("ExitPlanMode", { plan: "x" })
    expect(frontierOf(builder.result("the user says no", true)).plan).toEqual({ active: true })
  })
})

test("L4-29 the frontier view: calls whose results have not come yet", () => {
  const builder = conversation().call("Read", { file_path: "/a" }).call("Bash", { command: "ls" })
  expect([...frontierOf(builder).open.values()].map(({ tool }) => tool)).toEqual(["Read", "Bash"])
  builder.result("text")
  expect([...frontierOf(builder).open.values()]).toEqual([{ id: "toolu_1", tool: "Bash", input: { command: "ls" } }])
})
