import type { CompactionProgress, QueryEvent } from "@strata/core"
import { describe, expect, test } from "vitest"
import { breakDownContext } from "../../../core/src/tokens/context-breakdown.ts"
import { createEstimator } from "../../../core/src/tokens/estimate.ts"
import { historyOf } from "./input-history.ts"
import { type ChatAction, reduce } from "./reduce.ts"
import { type ChatState, type Item, initialState, settledItems } from "./state.ts"

const STATUS = {
  model: "claude-opus-5-5",
  mode: "ask",
  percentLeft: 100,
  fill: "fine",
  dollars: 0,
  isPriceIncomplete: false,
  turns: 0,
} as const

const start = initialState(STATUS, historyOf([]))
const after = (...actions: readonly ChatAction[]): ChatState => actions.reduce(reduce, start)
const at = 1_000
const event = (event: QueryEvent): ChatAction => ({ type: "event", event, at })
const text = (text: string) => event({ type: "text", text })
const response = event({ type: "response", uuid: "r", response: {} as never, cost: { known: true, dollars: 0 } })
const toolStart = (id: string) => event({ type: "tool-start", id, name: "Read", input: {}, summary: `file ${id}` })
const toolResult = (id: string, is_error = false) =>
  event({
    type: "tool-result",
    id,
    name: "Read",
    ms: 5,
    result: { type: "tool_result", tool_use_id: id, content: "first\nsecond", ...(is_error ? { is_error } : {}) },
  })
const done = (end: Extract<QueryEvent, { type: "done" }>) => event(end)
const answer = done({ type: "done", turns: 1, reason: "answer", text: "" })

/** Items as short texts. */
const drawn = (items: readonly Item[]) =>
  items.map((item) => {
    if (item.kind === "tool") return `tool ${item.id} ${item.outcome?.state ?? "running"}`
    if (item.kind === "panel") return `panel ${item.title}`
    if (item.kind === "compaction") return "compaction"
    if (item.kind === "shell") return `shell ${item.command} ${item.output ?? "running"}`
    return `${item.kind} ${item.text}`
  })

describe("streaming", () => {
  test("pieces of an answer are one item, settled when the response is whole", () => {
    const streaming = after(text("Hel"), text("lo"))
    expect(drawn(streaming.items)).toEqual(["answer Hello"])
    expect(settledItems(streaming.items)).toBe(0)
    expect(settledItems(reduce(streaming, response).items)).toBe(1)
  })

  test("LOOP-5: a retry voids what was streamed, and says until when it waits", () => {
    const retry = event({ type: "retry", attempt: 1, delayMs: 3_000, reason: "overloaded (529)" })
    const state = after(text("half"), event({ type: "thinking", text: "hm" }), retry)
    expect(state.items).toEqual([])
    expect(state.work).toEqual({
      type: "retrying",
      since: at,
      until: at + 3_000,
      attempt: 1,
      reason: "overloaded (529)",
    })
    expect(reduce(state, text("again")).work).toEqual({ type: "working", since: at })
  })

  test("thinking and answer are items of their own; an empty one is not shown", () => {
    expect(drawn(after(event({ type: "thinking", text: "hm" }), text("Yes."), response).items)).toEqual([
      "thinking hm",
      "answer Yes.",
    ])
    expect(after(text(" \n"), response).items).toEqual([])
  })
})

describe("tools", () => {
  test("calls that run side by side settle from the first on", () => {
    const oneDone = after(toolStart("a"), toolStart("b"), toolResult("b"))
    expect(drawn(oneDone.items)).toEqual(["tool a running", "tool b ok"])
    expect(settledItems(oneDone.items)).toBe(0)
    expect(settledItems(reduce(oneDone, toolResult("a")).items)).toBe(2)
  })

  test("a denied call stays denied though it has a result", () => {
    const denied = event({
      type: "tool-denied",
      id: "a",
      name: "Read",
      why: "the user said no",
      question: { kind: "read", summary: "" },
    })
    expect(drawn(after(toolStart("a"), denied, toolResult("a", true)).items)).toEqual(["tool a denied"])
  })

  test("a call of an unknown tool has a result only", () => {
    expect(drawn(after(toolResult("a", true)).items)).toEqual(["tool a failed"])
  })
})

describe("the end", () => {
  test("an interruption settles everything and says so", () => {
    const state = after(text("half"), toolStart("a"), done({ type: "done", turns: 1, reason: "aborted" }))
    expect(drawn(state.items)).toEqual([
      "answer half",
      "tool a failed",
      "notice Interrupted. Everything so far is saved.",
    ])
    expect(settledItems(state.items)).toBe(3)
    expect(state.work).toEqual({ type: "idle" })
  })

  test("an answer needs no further words", () => {
    expect(drawn(after(text("Yes."), response, answer).items)).toEqual(["answer Yes."])
  })
})

describe("LOOP-7: a queued input", () => {
  const [first, second] = [
    { uuid: "q1", text: "and this" },
    { uuid: "q2", text: "and that" },
  ]
  const queued = after({ type: "status", status: STATUS, queued: [first, second] })

  test("waits until it is delivered", () => {
    const delivered = reduce(queued, event({ type: "user", uuid: "q1", text: "and this", queued: true }))
    expect(delivered.queued).toEqual([second])
    expect(drawn(delivered.items)).toEqual(["user and this"])
    expect(reduce(delivered, { type: "status", status: STATUS, queued: [second] }).items).toEqual(delivered.items)
  })

  test("is on the screen once, also where new figures say it was delivered before its event does", () => {
    const noticed = reduce(queued, { type: "status", status: STATUS, queued: [second] })
    const delivered = reduce(noticed, event({ type: "user", uuid: "q1", text: "and this", queued: true }))
    expect(drawn(delivered.items)).toEqual(["user and this"])
  })

  test("does not vanish from the screen if no event says that it was delivered", () => {
    expect(drawn(reduce(queued, { type: "status", status: STATUS, queued: [second] }).items)).toEqual(["user and this"])
  })
})

describe("L4-14 while it compacts", () => {
  const progress = (progress: CompactionProgress) => event({ type: "compaction", progress })
  const writing = after(
    { type: "work", work: { type: "working", since: 500 } },
    progress({ phase: "summarising", route: "shared", characters: 2_300 }),
  )

  test("shows the step and how much is written, also while others speak", () => {
    const expected = { type: "compacting", since: 500, step: "writing a summary, 2,300 characters" }
    expect(writing.work).toEqual(expected)
    for (const meanwhile of [
      progress({ phase: "alive", seconds: 30 }),
      progress({ phase: "message", message: "A hook says so." }),
      event({ type: "notice", message: "The notes were updated.", quiet: true }),
    ])
      expect(reduce(writing, meanwhile).work).toEqual(expected)
  })

  test("it is work again when it is done, and when it failed", () => {
    const done = {
      phase: "done",
      route: "shared",
      tokensBefore: 2,
      tokensAfter: 1,
      content: breakDownContext([], createEstimator("unknown")),
    } as const
    for (const end of [done, { phase: "failed", message: "It failed." } as const])
      expect(reduce(writing, progress(end)).work).toEqual({ type: "working", since: 500 })
  })
})

test("while it is being interrupted, late events do not look like work", () => {
  expect(after({ type: "work", work: { type: "interrupting" } }, text("late")).work).toEqual({ type: "interrupting" })
})

describe("HOOK-1 a message that a hook blocked while the agent works", () => {
  const blocked: ChatAction = { type: "returned", text: "the key is 123" }

  test("is in the input again", () => {
    const state = after({ type: "submitted", text: "the key is 123" }, blocked)
    expect(state.editor).toEqual({ text: "the key is 123", cursor: 14 })
    expect(state.queued).toEqual([])
  })

  test("comes before what was typed since then", () => {
    const typing: ChatAction = { type: "edited", editor: { text: "and", cursor: 3 } }
    expect(after(typing, blocked).editor.text).toBe("the key is 123\nand")
  })
})

test("another conversation takes the place of the one that is shown", () => {
  const state = after(text("old"), {
    type: "opened",
    status: STATUS,
    items: [{ kind: "user", text: "new" }],
    queued: [],
  })
  expect(drawn(state.items)).toEqual(["user new"])
  expect(state.showing).toBe(1)
})
