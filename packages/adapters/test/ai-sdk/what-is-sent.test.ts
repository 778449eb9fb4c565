/** The requests that a provider receives: the program's own call until a decision is made, with cache breakpoints for Claude only. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { CallOptions } from "../../../core/src/model/ai-sdk/interface.ts"
import { isWhole, size } from "../../../core/test/size.ts"
import { closeStrata, type StrataOptions, strataMiddleware } from "../../src/ai-sdk.ts"
import { journalsIn, program, VERSIONS, type Version } from "./program.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(5, 15))

let dir: string
/** Adapters with the same options share their conversations and their log. */
let lines: string[]
let count = 0
beforeEach(() => {
  lines = []
  dir = mkdtempSync(join(tmpdir(), "strata-ai-sdk-"))
})
afterEach(async () => {
  await closeStrata()
  rmSync(dir, { recursive: true, force: true })
})

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** Sends calls through the middleware to a model with scripted responses, and records the requests. */
function caller(
  answers: readonly object[][],
  { provider = "test.chat", ...options }: StrataOptions & { provider?: string } = {},
) {
  const sent: CallOptions[] = []
  const model = {
    specificationVersion: "v4",
    provider,
    modelId: "some-model",
    async doGenerate(params: CallOptions) {
      sent.push(params)
      const content = answers[sent.length - 1] ?? [{ type: "text", text: "Done." }]
      const isCalling = content.some((part) => "toolCallId" in part)
      return {
        content,
        finishReason: { unified: isCalling ? "tool-calls" : "stop", raw: "x" },
        usage: USAGE,
        warnings: [],
      }
    },
  }
  const { wrapGenerate } = strataMiddleware({
    dir,
    cwd: "/nowhere",
    recall: false,
    conversation: `c-${count++}`,
    log: (line) => void lines.push(line),
    ...options,
  })
  return { sent, call: (params: object) => wrapGenerate({ params, model }) as Promise<{ content: object[] }> }
}

const tools = [{ type: "function", name: "look", inputSchema: { type: "object" }, strict: true }]
const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== "")
const options = fc.constantFrom(
  {},
  { providerOptions: { google: { thoughtSignature: "t" } } },
  { providerOptions: { openai: { itemId: "i" } } },
)
const text = fc.tuple(word, options).map(([value, more]) => ({ type: "text", text: value, ...more }))
const file = fc.constantFrom(
  { type: "file", mediaType: "audio/mp3", data: { type: "data", data: "AAAA" } },
  { type: "file", mediaType: "text/plain", data: { type: "text", text: "abc" }, filename: "a.txt" },
)
const reasoning = fc.constantFrom(
  { type: "reasoning", text: "hm" },
  { type: "reasoning", text: "hm", providerOptions: { openai: { itemId: "rs", reasoningEncryptedContent: "e" } } },
)
const output = fc.oneof<fc.Arbitrary<object>[]>(
  fc.record({ type: fc.constantFrom("text", "error-text"), value: word }),
  fc.record({ type: fc.constantFrom("json", "error-json"), value: fc.constantFrom(1, null, { a: [1, "b"] }) }),
  fc.constantFrom({ type: "execution-denied", reason: "No." }, { type: "execution-denied" }),
  fc.record({ type: fc.constant("content"), value: fc.array(text, { minLength: 1, maxLength: 2 }) }),
)

/** A turn: user text, a response with calls, and their results. */
const turn = fc
  .record({
    user: fc.array(fc.oneof(text, file), { minLength: 1, maxLength: 3 }),
    thought: fc.option(reasoning, { nil: undefined }),
    texts: fc.array(text, { maxLength: 2 }),
    silent: fc.boolean(),
    outputs: fc.array(fc.tuple(output, options), { minLength: 1, maxLength: 3 }),
  })
  .map(({ user, thought, texts, silent, outputs }) => (at: number) => {
    const ids = outputs.map((_, index) => `functions.look:${count}.${at}.${index}`)
    const calls = ids.map((toolCallId, index) => ({
      ...{ type: "tool-call", toolCallId, toolName: "look", input: { index } },
      ...(index === 0 ? { providerOptions: { google: { thoughtSignature: `s${at}` } } } : {}),
    }))
    const results = outputs.map(([each, more], index) => ({
      ...{ type: "tool-result", toolCallId: ids[index], toolName: "look", output: each },
      ...more,
    }))
    const custom = silent ? [{ type: "custom", kind: "some.note", providerOptions: { some: { a: 1 } } }] : []
    return [
      { role: "user", content: user },
      { role: "assistant", content: [...custom, ...(thought ? [thought] : []), ...texts, ...calls] },
      { role: "tool", content: results },
    ]
  })

describe("BEY-11 what a provider gets from a program of the AI SDK", () => {
  test.runIf(isWhole)(
    "a prompt without decisions comes out of the journal as it was sent, also in another process",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), fc.boolean(), async (turns, restarts) => {
          const { sent, call } = caller([])
          const prompt: object[] = [{ role: "system", content: "Be kind.", providerOptions: { some: { b: 2 } } }]
          for (const [at, make] of turns.entries()) {
            prompt.push(...make(at))
            const params = {
              prompt: [...prompt],
              tools,
              temperature: 0.5,
              seed: 3,
              providerOptions: { some: { c: 3 } },
            }
            await call(params)
            expect(lines).toEqual([])
            expect(JSON.parse(JSON.stringify(sent.at(-1)))).toEqual(JSON.parse(JSON.stringify(params)))
            prompt.push({ role: "assistant", content: [{ type: "text", text: "Done." }] })
            if (restarts) await closeStrata()
          }
        }),
        { numRuns: RUNS },
      )
    },
  )

  test("notes of a provider on an answer come back with it, even if the program loses them", async () => {
    const content = [
      { type: "reasoning", text: "hm", providerMetadata: { google: { thoughtSignature: "r" } } },
      { type: "text", text: "I look.", providerMetadata: { google: { thoughtSignature: "a" } } },
      {
        type: "tool-call",
        toolCallId: "look:0",
        toolName: "look",
        input: "{}",
        providerMetadata: { google: { thoughtSignature: "b" } },
      },
    ]
    const { sent, call } = caller([content])
    const first = { role: "user", content: [{ type: "text", text: "Look." }] }
    await call({ prompt: [first], tools })
    const answer = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "look:0", toolName: "look", input: {} },
      ],
    }
    const results = {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "look:0", toolName: "look", output: { type: "text", value: "x" } }],
    }
    await call({ prompt: [first, answer, results], tools })
    expect(sent[1]!.prompt).toEqual([
      first,
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { google: { thoughtSignature: "r" } } },
          { type: "text", text: "I look.", providerOptions: { google: { thoughtSignature: "a" } } },
          { ...answer.content[2], providerOptions: { google: { thoughtSignature: "b" } } },
        ],
      },
      results,
    ])
  })

  const countBreakpoints = (call: CallOptions): number => JSON.stringify(call).split('"cacheControl"').length - 1
  const user = (text: string, providerOptions?: object) => ({
    role: "user",
    content: [{ type: "text", text }],
    ...(providerOptions ? { providerOptions } : {}),
  })
  const MARK = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } }

  test("Claude gets cache breakpoints, a program's own breakpoints in its prompt stay, and other providers get none", async () => {
    const system = { role: "system", content: "Be kind." }
    const claude = caller([], { provider: "anthropic.messages" })
    await claude.call({ prompt: [system, user("Hello")], tools })
    expect(countBreakpoints(claude.sent[0]!)).toBe(3)
    const own = caller([], { provider: "anthropic.messages" })
    await own.call({ prompt: [{ ...system, providerOptions: MARK }, user("Hello", MARK)], tools })
    expect(own.sent[0]!.prompt[0]).toEqual({ ...system, providerOptions: MARK })
    expect(own.sent[0]!.prompt[1]).toEqual(user("Hello", MARK))
    expect(own.sent[0]!.tools).toEqual(tools)
    const automatic = caller([], { provider: "anthropic.messages" })
    await automatic.call({ prompt: [system, user("Hello")], tools, providerOptions: MARK })
    expect(countBreakpoints(automatic.sent[0]!)).toBe(1)
    const other = caller([])
    await other.call({ prompt: [system, user("Hello")], tools })
    expect(countBreakpoints(other.sent[0]!)).toBe(0)
  })

  test.each<Version>([7, 6])(
    "AI SDK %i: observing changes nothing, and an answer costs what it would without Strata",
    async (version) => {
      const { ai } = VERSIONS[version]
      const { model, direct, tools, sim, responder, lines } = await program(version, { result: "short " })
      const ask = { tools, stopWhen: ai.stepCountIs(20), maxRetries: 0, prompt: "Task A: 4 steps" }
      await ai.generateText({ ...ask, model: direct })
      const [asked, { dollars }] = [responder.asked.splice(0), sim.stats().total]
      await ai.generateText({ ...ask, model: model({ observe: true }) })
      expect(responder.asked).toEqual(asked)
      expect(sim.stats().total.dollars).toBeCloseTo(2 * dollars, 8)
      expect(lines).toEqual([])
    },
  )

  test.each<Version>([7, 6])(
    "AI SDK %i: what a program asks Claude's server to clear is asked, and noted",
    async (version) => {
      const { ai } = VERSIONS[version]
      const { model, tools, sim, dir } = await program(version)
      const trigger = { type: "input_tokens", value: 5_000 }
      const edits = [{ type: "clear_tool_uses_20250919", trigger, keep: { type: "tool_uses", value: 1 } }]
      const { providerMetadata } = await ai.generateText({
        model: model(),
        tools,
        stopWhen: ai.stepCountIs(20),
        maxRetries: 0,
        prompt: "Task A: 5 steps",
        providerOptions: { anthropic: { contextManagement: { edits } } },
      })
      expect(JSON.stringify(providerMetadata?.anthropic)).toContain("clearedToolUses")
      const [journal] = journalsIn(dir)
      expect(readFileSync(join(dir, journal!), "utf8")).toContain("cleared_tool_uses")
      expect(sim.stats().errors).toEqual({})
    },
  )
})
