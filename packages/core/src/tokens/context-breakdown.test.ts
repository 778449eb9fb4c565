import { describe, expect, test } from "vitest"
import { listActiveBranch } from "../../../transcripts/src/import/active-branch.ts"
import { conversation } from "../../test/builders.ts"
import { needs } from "../../test/needs.ts"
import { openTestConversation } from "../../test/open.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  SWE_AGENT_FILES,
  WHERE_THEY_ARE,
} from "../../test/real-transcripts.ts"
import { engineOf } from "../conversation/conversation.ts"
import type { Block } from "../messages/blocks.ts"
import { type Message, sinceLastBoundary } from "../messages/messages.ts"
import { breakDownContext, breakdownPercentages, type ContextBreakdown, contextShares } from "./context-breakdown.ts"
import { createEstimator } from "./estimate.ts"
import { findModel } from "./models.ts"

const accountOf = (messages: readonly Message[]) => breakDownContext(messages, createEstimator("unknown"))
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** The sum of all classes. */
const sumOfClasses = (accounting: ContextBreakdown) =>
  sum([
    accounting.human,
    accounting.assistant,
    accounting.thinking,
    accounting.commandOutput,
    accounting.other,
    ...Object.values(accounting.toolRequests),
    ...Object.values(accounting.toolResults),
    ...Object.values(accounting.attachments).map(({ tokens }) => tokens),
  ])

/** 300 characters are 100 tokens of an unknown model: 4 bytes per token plus a third. */
const HUNDRED = "x".repeat(300)

describe("TOK-6 accounting by class", () => {
  test("each block belongs to one class, and the classes sum to the total", () => {
    const { messages } = conversation()
      .user(HUNDRED)
      .user(`<local-command-stdout>${"y".repeat(255)}</local-command-stdout>`)
      .user(HUNDRED, { isMeta: true })
      .respond([
        { type: "thinking", thinking: HUNDRED, signature: "s" },
        { type: "text", text: HUNDRED },
      ])
      .call("Read", { file_path: "a" })
      .result(HUNDRED)
      .attach({ type: "hook_output", hook: "h", content: "c" })
      .attach({ type: "hook_output", hook: "h", content: "d" })
      .attach({ type: "hook_output", hook: "h", content: "e", audience: "person" })
    const accounting = accountOf(messages)
    expect(accounting).toMatchObject({
      human: 100,
      commandOutput: 100,
      other: 100,
      thinking: 100,
      assistant: 100,
      toolResults: { Read: 100 },
      attachments: { hook_output: { count: 3, tokens: expect.any(Number) } },
    })
    expect(accounting.toolRequests.Read).toBeGreaterThan(0)
    expect(accounting.attachments.hook_output!.tokens).toBeGreaterThan(0)
    expect(sumOfClasses(accounting)).toBe(accounting.total)
  })

  test("requests and results are kept apart by tool, and a result without its call has an unknown one", () => {
    const { messages } = conversation()
      .call("Read", {})
      .call("Bash", { command: "ls" })
      .result(HUNDRED)
      .result(HUNDRED + HUNDRED)
      .result(HUNDRED)
    const { toolRequests, toolResults } = accountOf(messages)
    expect(Object.keys(toolRequests)).toEqual(["Read", "Bash"])
    expect(toolResults).toEqual({ Read: 100, Bash: 200, unknown: 100 })
  })

  test("a tool by the name of an object's own parts is a tool like any other", () => {
    const { messages } = conversation().call("__proto__", {}).result(HUNDRED).call("constructor").result(HUNDRED)
    const accounting = accountOf(messages)
    expect(Object.entries(accounting.toolResults)).toEqual([
      ["__proto__", 100],
      ["constructor", 100],
    ])
    expect(sumOfClasses(accounting)).toBe(accounting.total)
  })

  test("what is not sent is not counted", () => {
    const { messages } = conversation()
      .progress()
      .system(HUNDRED)
      .user(HUNDRED, { isSidechain: true })
      .say(HUNDRED, { model: "<synthetic>", isApiErrorMessage: true })
    expect(accountOf(messages).total).toBe(0)
  })

  test("a summary is not the human's", () => {
    const { messages } = conversation().boundary().user(HUNDRED, { isCompactSummary: true }).user(HUNDRED)
    expect(accountOf(messages)).toMatchObject({ other: 100, human: 100, total: 200 })
  })
})

describe("TOK-6 files that were read more than once", () => {
  const reads = (...sizes: number[]) => {
    const builder = conversation()
    for (const size of sizes) builder.call("Read", { file_path: "/a.ts" }).result("x".repeat(size * 3))
    return accountOf(builder.messages).duplicateReads
  }

  test("waste floor(total / n) · (n − 1)", () => {
    expect(reads(100)).toEqual([])
    expect(reads(100, 100)).toEqual([{ path: "/a.ts", reads: 2, tokens: 200, wasted: 100 }])
    expect(reads(100, 50, 21)).toEqual([{ path: "/a.ts", reads: 3, tokens: 171, wasted: 57 * 2 }])
    expect(reads(100, 51, 21)).toEqual([{ path: "/a.ts", reads: 3, tokens: 172, wasted: 57 * 2 }]) // floor(57.33…)
  })

  test("differ by path; other tools and calls without a path do not count", () => {
    const { messages } = conversation()
      .call("Read", { file_path: "/a.ts" })
      .result(HUNDRED)
      .call("read_file", { path: "/a.ts" })
      .result(HUNDRED)
      .call("Read", { file_path: "/b.ts" })
      .result(HUNDRED)
      .call("Edit", { file_path: "/b.ts" })
      .result(HUNDRED)
      .call("Read", {})
      .result(HUNDRED)
      .call("Read", { file_path: 7 })
      .result(HUNDRED)
    expect(accountOf(messages).duplicateReads).toEqual([{ path: "/a.ts", reads: 2, tokens: 200, wasted: 100 }])
  })
})

describe("TOK-8 shares of the whole", () => {
  test("calls and results of all tools together, and what repeats earlier reads", () => {
    const read = { input: { file_path: "a.ts" } }
    const { messages } = conversation()
      .user("x".repeat(600))
      .call("Read", read.input)
      .result(HUNDRED)
      .call("Read", read.input)
      .result(HUNDRED)
      .call("Bash", { command: "ls" })
      .result(HUNDRED)
    const accounting = accountOf(messages)
    const { tools, repeatedReads } = contextShares(accounting)
    expect(tools.tokens).toBe(accounting.total - accounting.human)
    expect(tools.percent).toBe(Math.round((100 * tools.tokens) / accounting.total))
    expect(repeatedReads.tokens).toBe(accounting.duplicateReads[0]!.wasted)
    expect(repeatedReads.percent).toBe(Math.round((100 * repeatedReads.tokens) / accounting.total))
  })

  test("without messages they are nothing", () => {
    expect(contextShares(accountOf([]))).toEqual({
      tools: { tokens: 0, percent: 0 },
      repeatedReads: { tokens: 0, percent: 0 },
    })
  })
})

describe("TOK-6 percentages", () => {
  test("are whole and add up to 100", () => {
    const { messages } = conversation()
      .user("x".repeat(1_200)) // 400
      .say("y".repeat(597)) // 199
      .respond([{ type: "thinking", thinking: "z".repeat(3), signature: "s" }]) // 1
    expect(breakdownPercentages(accountOf(messages))).toEqual({
      human: 67, // 66.7
      assistant: 33, // 33.2
      thinking: 0, // 0.2
      commandOutput: 0,
      other: 0,
    })
  })

  test("name tools and attachments one by one", () => {
    const { messages } = conversation().call("Read").result(HUNDRED).attach({ type: "memory", path: "m", content: "c" })
    expect(Object.keys(breakdownPercentages(accountOf(messages)))).toEqual([
      ...["human", "assistant", "thinking", "commandOutput", "other"],
      ...["toolRequests.Read", "toolResults.Read", "attachments.memory"],
    ])
  })

  test("without messages there are no parts", () => {
    expect(breakdownPercentages(accountOf([]))).toEqual({})
  })
})

describe("TOK-6 of a conversation", () => {
  test("counts what is shown: a cleared result costs what its marker does", async () => {
    const clear = {
      name: "clearing",
      beforeRequest: async () => ({
        drafts: [{ type: "strata", subtype: "tool-results-cleared", toolUseIds: ["toolu_1"], why: "size" } as const],
      }),
    }
    const chat = await openTestConversation({ layers: [clear], model: "someone-else" })
    await chat.add({ role: "user", content: HUNDRED })
    await chat.record({
      id: "msg_1",
      model: "someone-else",
      content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: {} }],
      stop_reason: "tool_use",
      usage: { input_tokens: 0, output_tokens: 0 },
    })
    const result: Block = { type: "tool_result", tool_use_id: "toolu_1", content: HUNDRED.repeat(50) }
    await chat.add({ role: "user", content: [result] })
    expect(chat.accounting()).toMatchObject({ human: 100, toolResults: { Read: 5_000 } })
    await chat.prepare()
    expect(chat.accounting().toolResults.Read).toBeLessThan(50)
    expect(sumOfClasses(chat.accounting())).toBe(chat.accounting().total)
  })
})

describe("TOK-6 on the flattened view", () => {
  const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} }) as const
  const result = (id: string): Block => ({ type: "tool_result", tool_use_id: id, content: HUNDRED })
  const respond = (content: readonly Block[]) => ({
    id: `msg_${content.length}`,
    model: "someone-else",
    content: content as Block[],
    stop_reason: "tool_use",
    usage: { input_tokens: 0, output_tokens: 0 },
  })

  test("what flattening leaves out is not counted: a second result, one without a call, empty text, unsigned thinking", async () => {
    const chat = await openTestConversation({ model: "someone-else" })
    await chat.add({ role: "user", content: HUNDRED })
    await chat.record(respond([{ type: "thinking", thinking: HUNDRED, signature: "" }, call("toolu_1")]))
    await chat.add({ role: "user", content: [result("toolu_1")] })
    await chat.syncMessages([
      ...(await chat.prepare()).messages.slice(0, -1),
      { role: "user", content: [result("toolu_1"), result("toolu_1"), result("toolu_none")] },
    ] as never)
    expect(chat.accounting()).toMatchObject({ human: 100, thinking: 0, toolResults: { Read: 100 } })
    const sent = await chat.prepare()
    expect(chat.accounting().total).toBe(
      sum(
        sent.messages.flatMap(({ content }) =>
          (content as Block[]).map((block) => Math.round(engineOf(chat).views.estimator.block(block))),
        ),
      ),
    )
  })

  test("what flattening adds is: the answer to a call that was interrupted, which a late result does not replace", async () => {
    const chat = await openTestConversation({ model: "someone-else" })
    await chat.add({ role: "user", content: HUNDRED })
    await chat.record(respond([call("toolu_1")]))
    await chat.add({ role: "user", content: "go on" })
    const madeUp = chat.accounting().toolResults.Read!
    expect(madeUp).toBeGreaterThan(0)
    expect(madeUp).toBeLessThan(50)
    await chat.prepare()
    await chat.add({ role: "user", content: [result("toolu_1")] })
    expect(chat.accounting().toolResults.Read).toBe(madeUp)
    expect(sumOfClasses(chat.accounting())).toBe(chat.accounting().total)
  })

  test("attachments are counted once, by number as well", async () => {
    const chat = await openTestConversation({ model: "someone-else" })
    await chat.attach({ type: "hook_output", hook: "h", content: HUNDRED })
    await chat.add({ role: "user", content: HUNDRED })
    const { attachments, other, total, human } = chat.accounting()
    expect(attachments.hook_output!.count).toBe(1)
    expect(other).toBe(0)
    expect(total).toBe(human + attachments.hook_output!.tokens)
  })
})

const ALL_FILES = [...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES, ...SWE_AGENT_FILES, ...OPENHANDS_FILES]

describe(`TOK-6 ${WHERE_THEY_ARE}`, needs("transcripts"), () => {
  test.each(ALL_FILES)("%s: the classes sum to the total, and shares to a hundred", (name) => {
    for (const { messages, model } of importReal(name)) {
      const estimator = createEstimator(findModel(model ?? "unknown").facts.family)
      const accounting = breakDownContext(sinceLastBoundary(listActiveBranch(messages)), estimator)
      expect(accounting.total).toBeGreaterThan(0)
      expect(sumOfClasses(accounting)).toBe(accounting.total)
      const shares = Object.values(breakdownPercentages(accounting))
      expect(Math.abs(sum(shares) - 100)).toBeLessThanOrEqual(shares.length / 2) // each is rounded by at most a half
      for (const { reads, tokens, wasted } of accounting.duplicateReads) {
        expect(reads).toBeGreaterThan(1)
        expect(wasted).toBeLessThan(tokens)
      }
    }
  })
})
