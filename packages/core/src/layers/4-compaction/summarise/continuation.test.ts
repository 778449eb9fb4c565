import { describe, expect, test } from "vitest"
import { type Continuation, continuationText } from "./prompts.ts"

const text = (more: Partial<Continuation> = {}) =>
  continuationText({
    summary: "Summary:\n1. $& of it",
    transcriptPath: "/t/a$&.jsonl",
    mode: "by-hand",
    keptMessages: false,
    ...more,
  })
const GOES_ON = /Go on with the last task/
const NOT_FIRST = /not a first start/

describe("L4-19 the text that carries on", () => {
  test("says that a conversation continues, holds the summary, and names the transcript", () => {
    expect(text()).toMatch(/^This conversation continues an earlier one/)
    expect(text()).toContain("\n\nSummary:\n1. $& of it\n\n")
    expect(text()).toContain("/t/a$&.jsonl")
  })

  test("by hand: nothing about how to go on", () => {
    expect(text()).not.toMatch(GOES_ON)
    expect(text()).not.toMatch(NOT_FIRST)
  })

  test("automatic: on with the last task, without asking, recapping or greeting", () => {
    expect(text({ mode: "automatic" })).toMatch(GOES_ON)
    expect(text({ mode: "automatic" })).toMatch(/not ask[^.]*not recap[^.]*not greet/)
    expect(text({ mode: "automatic" })).not.toMatch(NOT_FIRST)
  })

  test("autonomous: stronger, this is not a first start", () => {
    expect(text({ mode: "autonomous" })).toMatch(NOT_FIRST)
  })

  test("tells of kept messages only where there are any, and of a transcript only where there is one", () => {
    expect(text({ keptMessages: true })).toMatch(/newest messages[^.]*follow/)
    expect(text()).not.toMatch(/newest messages/)
    expect(text({ transcriptPath: undefined })).not.toMatch(/transcript/)
  })
})
