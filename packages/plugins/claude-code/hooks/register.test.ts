/** Run by `claude plugin test`, in the environment of a hooks module. The simulated program answers as `strata compact-messages` does. */

import type { On, SessionMessage } from "claude-code"
import { expect, test } from "claude-code/testing"

const userMessage = (text: string, handle: string): SessionMessage => ({ role: "user", text, toolUses: [], handle })
const MESSAGES = [userMessage("one", "h1"), userMessage("two", "h2"), userMessage("three", "h3")]
const OWN = { messages: [userMessage("Claude Code's summary", "s1"), MESSAGES[2]!] }
const CARRIED = { text: "the text", facts: "the record", kept: [2], tokens: { before: 1_000, after: 200, facts: 50 } }

/** Simulates the program with this answer, and records its requests. */
function program(on: On, answer: object | Error, asked: string[] = []) {
  on("session.id", async () => ({ value: "session-1" }))
  on("session.root", async () => ({ value: "/project" }))
  on("ui.log", async () => ({ value: undefined }))
  on("ui.status", async () => ({ value: undefined }))
  on("session.compact", async () => OWN)
  on("process.run", async (_$, e) => {
    asked.push(JSON.stringify(e))
    if (answer instanceof Error) throw answer
    return {
      value: {
        exitCode: 0,
        stdout: JSON.stringify(answer),
        stderr: "",
        isStdoutTruncated: false,
        isStderrTruncated: false,
      },
    }
  })
}

test("replace: the text, then the messages in the tail", { options: { mode: "replace" } }, async ($, on) => {
  program(on, CARRIED)
  const { messages } = await $.session.compact({ trigger: "manual", messages: MESSAGES } as never)
  expect(messages?.map(({ text }) => text)).toEqual(["the text", "three"])
})

const CALLED: readonly SessionMessage[] = [
  { role: "assistant", text: "", toolUses: [{ tool_use_id: "t1", tool: "Read", input: {} }], handle: "h4" },
  {
    role: "user",
    text: "",
    toolUses: [],
    toolResults: [{ tool_use_id: "t1", text: "long", isError: false }],
    handle: "h5",
  },
] as never
const PRUNES = { options: { mode: "replace", replace: "prune" } }

test("replace with prune: every message, with results cut inside", PRUNES, async ($, on) => {
  program(on, {
    ...CARRIED,
    text: "",
    pruned: [{ toolUseId: "t1", text: "cut" }],
    tokens: { before: 1_000, after: 500 },
  })
  const { messages } = await $.session.compact({ trigger: "auto", messages: [...MESSAGES, ...CALLED] } as never)
  expect(messages?.map(({ text }) => text)).toEqual(["one", "two", "three", "", ""])
  expect(messages?.at(-1)?.toolResults?.map(({ text }) => text)).toEqual(["cut"])
})

test("replace with prune: the text, where pruning makes too little room", PRUNES, async ($, on) => {
  program(on, { ...CARRIED, pruned: [], tokens: { before: 1_000, after: 800, facts: 50 } })
  const { messages } = await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)
  expect(messages?.map(({ text }) => text)).toEqual(["the text", "three"])
})

test("record: the record after its own summary", { options: { mode: "record" } }, async ($, on) => {
  program(on, CARRIED)
  const { messages } = await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)
  expect(messages?.map(({ text }) => text)).toEqual(["Claude Code's summary", "the record", "three"])
})

test("observe: nothing is changed", async ($, on) => {
  const asked: string[] = []
  program(on, CARRIED, asked)
  expect(await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)).toEqual(OWN)
  expect(asked).toEqual([])
})

test("a program that fails leaves its own compaction in place", { options: { mode: "replace" } }, async ($, on) => {
  program(on, new Error("no such program"))
  expect(await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)).toEqual(OWN)
})

test("each fallback is reported and recorded", { options: { mode: "replace" } }, async ($, on) => {
  const asked: string[] = []
  const logged: string[] = []
  program(on, new Error("no answer within 10 s"), asked)
  on("ui.log", async (_$, e) => {
    logged.push(JSON.stringify(e))
    return { value: undefined }
  })
  await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)
  await $.session.compact({ trigger: "auto", messages: MESSAGES } as never)
  expect(logged.filter((line) => line.includes("no answer within 10 s")).length).toBe(2)
  expect(asked.filter((line) => line.includes("fell-back")).length).toBe(2)
})
