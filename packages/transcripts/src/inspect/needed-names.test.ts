import { expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../core/test/builders.ts"
import { inspectTranscript } from "./inspection.ts"

const SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

const neededIn = ({ messages }: ConversationBuilder) =>
  inspectTranscript({
    ...{ file: "t.jsonl", format: "strata", id: "t", model: "claude-opus-4-6", entries: messages, aside: [] },
    report: { lines: 0, understood: {}, notUnderstood: {}, notes: [] },
  }).growth.boundaries.map(({ needed }) => needed)

const before = () =>
  conversation()
    .user("Look at /work/src/parser.ts and at parseTokens. The port is 8443.")
    .call("Read", { file_path: "/work/src/lexer.ts" })
    .result(`function readToken() {}\nlet unusedName = 1\nconst key = "${SECRET}"`)
    .say("It is in src/parser.ts.")
    .boundary()

test("BEY-10 names used after a compaction that came before it: how many were still in view, and which were lost", () => {
  const talk = before()
    .user("A summary: src/parser.ts was read, and parseTokens is the place.", { isCompactSummary: true })
    .call("Edit", { file_path: "/work/src/lexer.ts", old_string: "readToken", new_string: "newName" })
    .result("ok")
    .say("parseTokens in src/parser.ts now listens on 8443.")
  expect(neededIn(talk)).toEqual([{ names: 5, inView: 2, lost: ["src/lexer.ts", "readToken", "8443"] }])
})

test("BEY-10 what first occurs after the boundary, or only before it, is not needed", () => {
  const talk = before().user("Summary.", { isCompactSummary: true }).say("freshName is in src/fresh.ts.")
  expect(neededIn(talk)).toEqual([{ names: 0, inView: 0, lost: [] }])
})

test("BEY-10 each boundary counts up to the next; one without an answer after it has no figures", () => {
  const talk = before()
    .user("Summary of parseTokens.", { isCompactSummary: true })
    .say("parseTokens.")
    .boundary()
    .user("Summary.", { isCompactSummary: true })
    .say("parseTokens again.")
    .boundary()
  expect(neededIn(talk)).toEqual([
    { names: 1, inView: 1, lost: [] },
    { names: 1, inView: 0, lost: ["parseTokens"] },
    undefined,
  ])
})

test("BEY-10 a secret that was lost is not shown", () => {
  const talk = before().user("Summary.", { isCompactSummary: true }).say(`The key is ${SECRET} for readToken.`)
  expect(neededIn(talk)).toEqual([{ names: 1, inView: 0, lost: ["readToken"] }])
})

test("BEY-10 words of a tool's schema are no names", () => {
  const talk = conversation()
    .call("TodoWrite", { todos: [{ content: "Fix parseTokens", status: "in_progress" }] })
    .result("in_progress, files_with_matches, 120000")
    .boundary()
    .user("Summary.", { isCompactSummary: true })
    .call("TodoWrite", { todos: [{ content: "Fix parseTokens", status: "in_progress" }] })
    .result("ok")
    .call("Grep", { pattern: "x", output_mode: "files_with_matches", timeout: 120000 })
  expect(neededIn(talk)).toEqual([{ names: 1, inView: 0, lost: ["parseTokens"] }])
})

test("BEY-10 what a compaction lost is unknown where the file begins with it, and known again for the next one", () => {
  const talk = conversation()
    .boundary()
    .user("Summary of parseTokens.", { isCompactSummary: true })
    .say("parseTokens is in src/parser.ts.")
    .boundary()
    .user("Summary.", { isCompactSummary: true })
    .say("parseTokens again.")
  expect(neededIn(talk)).toEqual(["unrecorded", { names: 1, inView: 0, lost: ["parseTokens"] }])
})
