/** Recall at every position of a response: the program never sees it, and its SDK never throws. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import { closeStrata, strataMiddleware } from "../../src/ai-sdk.ts"
import { type End, type Kind, partsOf, played, type Round } from "./played-model.ts"
import { VERSIONS, type Version } from "./program.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(6, 25))

let dir: string
let count = 0
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "strata-ai-sdk-"))
})
afterEach(async () => {
  await closeStrata()
  rmSync(dir, { recursive: true, force: true })
})

interface Asked {
  readonly rounds: readonly Round[]
  readonly end?: End
  readonly failsFrom?: number
  readonly busyAt?: number
}

function agent(version: Version, { rounds, ...how }: Asked) {
  const { ai } = VERSIONS[version]
  const { model, calls } = played(rounds, { version: version === 7 ? "v4" : "v3", ...how })
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const middleware = strataMiddleware({
    dir,
    cwd: "/nowhere",
    recall: "always",
    conversation: `conversation-${count++}`,
    log,
  })
  const look = ai.tool({ inputSchema: ai.jsonSchema({ type: "object" }), execute: () => "nothing there" })
  return {
    calls,
    lines,
    ask: {
      model: ai.wrapLanguageModel({ model, middleware }),
      tools: { look },
      stopWhen: ai.stepCountIs(4),
      maxRetries: 0,
      prompt: "Where is the port set?",
    },
  }
}

async function streamed(version: Version, asked: Asked) {
  const { ask, calls, lines } = agent(version, asked)
  const answer = VERSIONS[version].ai.streamText({ ...ask, onError: () => undefined, includeRawChunks: true })
  const parts: { readonly type: string; readonly id?: string }[] = []
  for await (const part of answer.fullStream) parts.push(part as never)
  return { parts, calls, answer, ask, lines }
}

const kind = fc.constantFrom<Kind>("text", "reasoning", "Recall", "look")
const round = fc.array(kind, { minLength: 1, maxLength: 4 })
const isAlone = (kinds: Round) => kinds.includes("Recall") && !kinds.includes("look")

describe.each<Version>(size([7], [7, 6]))("BEY-11 Recall in streams of AI SDK %i", (version) => {
  const { ai } = VERSIONS[version]

  test("any order of calls, words and thoughts, cut or failing at any part", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(round.filter(isAlone), { maxLength: 2 }),
        round,
        fc.constantFrom("whole", "closed", "error-part", "thrown"),
        fc.nat(),
        async (before, last, how, at) => {
          const rounds = [...before, last]
          const length = partsOf(last, 1).length
          const end = how === "whole" ? { how } : { how, after: at % length }
          const { parts, calls, ask, lines } = await streamed(version, { rounds, end: end as End })
          expect(JSON.stringify(parts)).not.toContain("Recall")
          const starts = parts
            .filter(({ type }) => /^(text|reasoning)-start$/.test(type))
            .map(({ type, id }) => `${type} ${id}`)
          const steps = parts.filter(({ type }) => type === "finish-step").length
          if (steps <= 1) expect(new Set(starts).size).toBe(starts.length)
          const failed = parts.some(({ type }) => type === "error")
          if (how === "whole") expect(failed).toBe(false)
          if (how === "error-part" || how === "thrown") expect(failed).toBe(true)
          if (how === "whole") expect(calls.length).toBeGreaterThanOrEqual(rounds.length)
          // the plan has ended, so the next request need not wait
          await ai.generateText(ask)
          expect(lines).toEqual([])
        },
      ),
      { numRuns: RUNS },
    )
  })

  test("one answer out of three rounds: metadata once, ids in a row, output added up, input of the last", async () => {
    const rounds: Round[] = [["reasoning", "text", "Recall"], ["text", "Recall", "Recall"], ["text"]]
    const { parts, calls, answer } = await streamed(version, { rounds })
    expect(calls).toHaveLength(3)
    expect(await answer.text).toBe("said 1.1said 2.0said 3.0")
    expect(await answer.finishReason).toBe("stop")
    expect(await answer.usage).toMatchObject({ inputTokens: 103, outputTokens: 30 })
    expect(parts.filter(({ type }) => type === "finish-step")).toHaveLength(1)
    expect((await answer.response).id).toBe("msg_1")
    const last = JSON.stringify(calls[2]!.prompt)
    expect(last).toContain("call_1_2_")
    expect(last).toContain("call_2_2_")
    const whole = await ai.generateText(agent(version, { rounds }).ask)
    expect(whole.text).toBe("said 1.1said 2.0said 3.0")
    expect(whole.usage).toMatchObject({ inputTokens: 103, outputTokens: 30 })
    expect(whole.finishReason).toBe("stop")
    expect(JSON.stringify(whole.steps.map(({ content }) => content))).not.toContain("Recall")
  })

  test("Recall and a tool of the program in one answer: the program sees its own, and both have results in the next request", async () => {
    const { calls, answer } = await streamed(version, { rounds: [["Recall", "look"], ["text"]] })
    const [first] = await answer.steps
    expect(first!.toolCalls.map(({ toolName }) => toolName)).toEqual(["look"])
    expect(first!.finishReason).toBe("tool-calls")
    expect(calls).toHaveLength(2)
    const results = calls[1]!.prompt.flatMap(({ role, content }) => (role === "tool" ? content : []))
    expect(results.map((part) => (part as { toolCallId: string }).toolCallId.slice(0, 8)).sort()).toEqual([
      "call_1_0",
      "call_1_1",
    ])
  })

  test("words before a call of Recall are no part of a structured output", async () => {
    const rounds: Round[] = [["text", "Recall"], ["json"]]
    const output = ai.Output.json()
    expect((await ai.generateText({ ...agent(version, { rounds }).ask, output })).output).toEqual({ round: 2 })
    expect(await ai.streamText({ ...agent(version, { rounds }).ask, output }).output).toEqual({ round: 2 })
  })

  test("a second round that cannot be sent is an error part after the text", async () => {
    const { parts, lines } = await streamed(version, { rounds: [["text", "Recall"]], failsFrom: 2 })
    const types = parts.map(({ type }) => type)
    expect(types).toContain("text-delta")
    expect(types.indexOf("error")).toBeGreaterThan(types.indexOf("text-delta"))
    expect(lines).toEqual([])
    const { ask } = agent(version, { rounds: [["text", "Recall"]], failsFrom: 2 })
    await expect(ai.generateText(ask)).rejects.toThrow("the server is gone")
  })

  test("a second round that the server is too busy for is sent again: the SDK repeats only the first", async () => {
    const asked = { rounds: [["text", "Recall"], ["text"]] as Round[], busyAt: 2 }
    const { answer, parts } = await streamed(version, asked)
    expect(parts.some(({ type }) => type === "error")).toBe(false)
    expect(await answer.text).toBe("said 1.0said 2.0")
    expect((await ai.generateText(agent(version, asked).ask)).text).toBe("said 1.0said 2.0")
  })

  test("without Recall the model gets the program's tools alone", async () => {
    const { model, calls } = played([["text"]], { version: version === 7 ? "v4" : "v3" })
    const middleware = strataMiddleware({ dir, cwd: "/nowhere", recall: false })
    const { ask } = agent(version, { rounds: [] })
    await ai.generateText({ ...ask, model: ai.wrapLanguageModel({ model, middleware }) })
    expect(calls[0]!.tools!.map(({ name }) => name)).toEqual(["look"])
  })
})
