/** One small file of each format, damaged in realistic ways: at most the damaged line or entry is lost, and the report lists it. */
import { describe, expect, test } from "vitest"
import { isFromUser, type Message, userText } from "../../../core/src/messages/messages.ts"
import { listActiveBranch } from "./active-branch.ts"
import { importTranscript } from "./import-file.ts"

const TURNS = ["One.", "Two.", "Three.", "Four."]
const AT = "2026-01-01T00:00:00.000Z"

const asLines = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("")
const asDocument = (document: object) => `${JSON.stringify(document, null, 2)}\n`

/** Lines that name the previous one by id. */
const linked = (names: readonly [id: string, parent: string], lines: readonly object[]) =>
  lines.map((line, at) => ({ [names[0]]: `e${at}`, [names[1]]: at === 0 ? null : `e${at - 1}`, ...line }))

const claudeCode = asLines(
  linked(
    ["uuid", "parentUuid"],
    TURNS.flatMap((text, at) => [
      { type: "user", timestamp: AT, message: { role: "user", content: text } },
      {
        type: "assistant",
        timestamp: AT,
        message: { id: `r${at}`, role: "assistant", content: [{ type: "text", text: "ok" }] },
      },
    ]),
  ),
)
const codex = asLines(
  TURNS.flatMap((text, at) => [
    { timestamp: `${at}a`, type: "turn_context", payload: { model: "gpt-x" } },
    {
      timestamp: `${at}b`,
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    },
    { timestamp: `${at}c`, type: "event_msg", payload: { type: "user_message", message: text } },
    {
      timestamp: `${at}d`,
      type: "response_item",
      payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
    },
  ]),
)
const pi = asLines([
  { type: "session", version: 2, id: "s", timestamp: AT, cwd: "/repo" },
  ...linked(
    ["id", "parentId"],
    TURNS.flatMap((text) => [
      { type: "message", timestamp: AT, message: { role: "user", content: text } },
      { type: "message", timestamp: AT, message: { role: "assistant", content: [{ type: "text", text: "ok" }] } },
    ]),
  ),
])
const copilot = asLines(
  linked(
    ["id", "parentId"],
    [
      { type: "session.start", timestamp: AT, data: { sessionId: "s" } },
      ...TURNS.flatMap((content, at) => [
        { type: "user.message", timestamp: AT, data: { content } },
        { type: "assistant.message", timestamp: AT, data: { messageId: `m${at}`, content: "ok" } },
      ]),
    ],
  ),
)
const chat = TURNS.flatMap((content, at) => [
  { id: `u${at}`, timestamp: AT, type: "user", content },
  { id: `a${at}`, timestamp: AT, type: "gemini", content: "ok" },
])
const header = { sessionId: "s", projectHash: "h" }
const openCode = asDocument({
  info: { id: "s", directory: "/repo" },
  messages: TURNS.flatMap((text, at) => [
    { info: { id: `u${at}`, role: "user" }, parts: [{ type: "text", text }] },
    { info: { id: `a${at}`, role: "assistant" }, parts: [{ type: "text", text: "ok" }] },
  ]),
})

const FORMATS = {
  "claude-code": claudeCode,
  codex,
  pi,
  copilot,
  "gemini, lines": asLines([header, ...chat]),
  "gemini, a document": asDocument({ ...header, messages: chat }),
  opencode: openCode,
}
const LINKED = ["claude-code", "pi", "copilot"] as const

function read(text: string) {
  const { messages, report } = importTranscript({ name: "talk", text })[0]!
  const path: readonly Message[] = listActiveBranch(messages)
  const userTexts = path.filter(isFromUser).map(userText)
  return {
    userTexts,
    messages: path.length,
    problems: [...Object.keys(report.notUnderstood), ...report.notes].join("\n"),
  }
}

describe("JRN-6: damaged files", () => {
  test.each(Object.entries(FORMATS))("%s", (_, text) => {
    const whole = read(text)
    expect(whole.userTexts).toEqual(TURNS)
    expect(read(text.replaceAll("\n", "\r\n"))).toEqual(whole)
    expect(read(`\uFEFF${text}`)).toEqual(whole)

    const cut = read(text.slice(0, Math.floor(text.length * 0.77)))
    expect(cut.userTexts).toEqual(TURNS.slice(0, cut.userTexts.length))
    expect(cut.userTexts.length).toBeGreaterThanOrEqual(2)
    expect(cut.problems).toContain("not JSON")
    expect(cut.problems).toMatch(/the last line is incomplete|the file ends early/)

    const lines = text.split("\n")
    const twice = read(lines.flatMap((line, at) => (at % 3 === 1 ? [line, line] : [line])).join("\n"))
    expect(twice).toMatchObject({ userTexts: whole.userTexts, messages: whole.messages })
    expect(twice.problems).toMatch(/again|read once/)

    for (let at = Math.floor(lines.length / 3); at < (lines.length * 2) / 3; at++) {
      const dropped = read(lines.toSpliced(at, 1).join("\n"))
      expect(dropped.userTexts.length, `without line ${at}: ${lines[at]}`).toBeGreaterThanOrEqual(TURNS.length - 1)
      expect(dropped.messages).toBeGreaterThanOrEqual(whole.messages - 1)
      const broken = read(lines.with(at, lines[at]!.slice(0, lines[at]!.length / 2)).join("\n"))
      expect(broken.userTexts.length, `with half of line ${at}: ${lines[at]}`).toBeGreaterThanOrEqual(TURNS.length - 1)
      expect(broken.messages).toBeGreaterThanOrEqual(whole.messages - 1)
    }
  })

  test.each(LINKED)("%s: the parent of the last line is missing", (format) => {
    const lines = FORMATS[format].trimEnd().split("\n")
    const { userTexts, problems } = read(lines.toSpliced(-2, 1).join("\n"))
    expect(userTexts).toEqual(TURNS.slice(0, -1))
    expect(problems).toMatch(/parent/)
  })
})
