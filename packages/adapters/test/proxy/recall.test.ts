import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import type { Answer, Responder, ResponderTurn } from "@strata/sim"
import { frozenClock, startSimulator } from "@strata/sim"
import { describe, expect, onTestFinished, test } from "vitest"
import { Conversations } from "../../src/proxy/index.ts"
import { proxy } from "./raw-upstream.ts"

/** Calls Recall first, then reports the result, and calls the client's tool together with Recall if asked to. */
class Asker implements Responder {
  readonly name = "asker"
  #number = 0

  answer({ request }: ResponderTurn): Answer {
    const last = JSON.stringify(request.messages.at(-1))
    const number = ++this.#number
    const call = (name: string, input: object) =>
      ({ type: "tool_use", id: `toolu_${number}_${name}`, name, input }) as const
    const recall = call("Recall", { search: "staging port" })
    if (last.includes("Quotations") && last.includes("done")) return text("Both are here: 4711.")
    if (last.includes("Quotations")) return text("It is 4711.")
    if (last.includes("both")) return { content: [recall, call("look", {})] }
    return { content: [{ type: "text", text: "I look it up." }, recall] }
  }
}

const text = (words: string): Answer => ({ content: [{ type: "text", text: words }] })

async function client(isStreaming: boolean) {
  const sim = await startSimulator({ responder: new Asker(), clock: frozenClock() })
  const dir = mkdtempSync(join(tmpdir(), "strata-recall-"))
  const plans = new Conversations({ upstream: sim.url, cwd: "/nowhere", env: {}, dir, recall: "always" })
  const { url } = await proxy({ upstream: sim.url, plans })
  onTestFinished(async () => {
    await plans.close()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const api = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 })
  const tools = [{ name: "look", input_schema: { type: "object" as const } }]
  const ask = (messages: Anthropic.MessageParam[]) => {
    const body = { model: "claude-opus-5-5", max_tokens: 500, tools, messages }
    return isStreaming ? api.messages.stream(body).finalMessage() : api.messages.create(body)
  }
  return { sim, plans, ask }
}

const BEGUN: Anthropic.MessageParam = { role: "user", content: "the staging port is 4711. Which one is it?" }

describe.each([true, false])("BEY-11 Recall behind the proxy, streaming %s", (isStreaming) => {
  test("is asked and answered in one answer, which costs what both did", async () => {
    const { sim, plans, ask } = await client(isStreaming)
    const answer = await ask([BEGUN])
    expect(answer.content.map((block) => block.type === "text" && block.text)).toEqual(["I look it up.", "It is 4711."])
    expect(answer.stop_reason).toBe("end_turn")
    const { requests, outputTokens, dollars } = sim.stats().total
    expect([requests, answer.usage.output_tokens]).toEqual([2, outputTokens])
    const [row] = await plans.status()
    expect(row!.cost).toBeCloseTo(dollars, 8)
    const next = await ask([BEGUN, { role: "assistant", content: answer.content }, { role: "user", content: "Sure?" }])
    expect(next.content).toHaveLength(2)
    expect((await plans.status()).map(({ requests: asked }) => asked)).toEqual([2])
  })

  test("together with a call of the client, its result waits for the client's", async () => {
    const { sim, ask } = await client(isStreaming)
    const both: Anthropic.MessageParam = { role: "user", content: `${BEGUN.content as string} Do both.` }
    const answer = await ask([both])
    expect(answer.content).toMatchObject([{ type: "tool_use", name: "look" }])
    expect(answer.stop_reason).toBe("tool_use")
    const { id } = answer.content[0] as Anthropic.ToolUseBlock
    const result = { type: "tool_result" as const, tool_use_id: id, content: "done" }
    const last = await ask([both, { role: "assistant", content: answer.content }, { role: "user", content: [result] }])
    expect(last.content).toMatchObject([{ type: "text", text: "Both are here: 4711." }])
    expect(sim.stats().errors).toEqual({})
  })

  test("a refusal of its second part is an error of the API, and the client can ask again", async () => {
    const { sim, ask } = await client(isStreaming)
    sim.faults.set([{ fault: { kind: "overloaded" }, nth: 2 }])
    const failure = await ask([BEGUN]).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Anthropic.APIError)
    expect(String(failure)).toMatch(/overloaded/i)
    expect((await ask([BEGUN])).content).toHaveLength(2)
  })
})
