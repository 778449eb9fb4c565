/**
 * The processor, called as by Mastra's loop, with the models of its agents. `npm run clients -- --adapters` tests it in Mastra itself,
 * which is too large to be a dependency.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import { type Responder, startSimulator } from "@strata/sim"
import { describe, expect, onTestFinished, test } from "vitest"
import { closeStrata } from "../src/conversation-pool.ts"
import { strataProcessor } from "../src/mastra.ts"

/** Answers with the number of messages in the request, and the last one. */
const counting: Responder = {
  name: "counting",
  answer: ({ request: { messages } }) => ({
    content: [{ type: "text", text: `${messages.length}: ${messages.at(-1)?.content.at(-1)?.text}` }],
  }),
}

interface Prompted {
  readonly role: "user" | "assistant"
  readonly content: readonly { readonly type: "text"; readonly text: string }[]
}
const message = (role: Prompted["role"], text: string): Prompted => ({ role, content: [{ type: "text", text }] })

type Doing = (
  options: object,
) => PromiseLike<{ content?: { text?: string }[]; stream: ReadableStream<{ delta?: string }> }>
interface MastraModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: unknown
  readonly doGenerate: Doing
  readonly doStream: Doing
}

/** Wraps a model like Mastra: a complete result has a stream too. */
function mastraModel(baseURL: string): MastraModel {
  const model = createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: "sk-simulator" })("claude-opus-4-6")
  const { specificationVersion, provider, modelId, supportedUrls } = model
  return {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doGenerate: async (options) =>
      ({ ...(await model.doGenerate(options as never)), stream: new ReadableStream() }) as never,
    doStream: (options) => model.doStream(options as never) as never,
  }
}

async function mastra() {
  const sim = await startSimulator({ responder: counting })
  const dir = mkdtempSync(join(tmpdir(), "strata-mastra-"))
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const model = mastraModel(sim.url)
  const processor = strataProcessor({ dir, cwd: "/nowhere" })
  const step = (threadId: string | undefined, used = processor) =>
    used.processInputStep({ model, messages: [{ threadId }] }).model
  const journals = () => globSync(`${dir}/projects/*/*.jsonl`).map((path) => readFileSync(path, "utf8"))
  return { sim, dir, model, step, journals }
}

async function textIn(stream: ReadableStream<{ delta?: string }>): Promise<string> {
  let text = ""
  for await (const { delta = "" } of stream) text += delta
  return text
}

describe("BEY-11 the processor for Mastra", () => {
  test("goes around the step's model, which answers as it does without, whole and as a stream", async () => {
    const { model, step, journals } = await mastra()
    const wrapped = step("t1")
    expect(wrapped).toMatchObject({ specificationVersion: "v4", provider: model.provider, modelId: "claude-opus-4-6" })
    const first = [message("user", "one")]
    expect((await wrapped.doGenerate({ prompt: first })).content).toMatchObject([{ type: "text", text: "1: one" }])
    const second = [...first, message("assistant", "1: one"), message("user", "two")]
    expect(await textIn((await step("t1").doStream({ prompt: second })).stream)).toBe("3: two")
    expect(journals()).toMatchObject([expect.stringMatching(/"1: one"[\s\S]*"3: two"/)])
  })

  test("each thread is a conversation, also where threads begin alike; the option names another", async () => {
    const { step, journals, dir } = await mastra()
    const prompt = [message("user", "hello")]
    for (const thread of ["t1", "t2"]) await step(thread).doGenerate({ prompt })
    expect(journals()).toHaveLength(2)
    const named = strataProcessor({ dir, cwd: "/nowhere", conversation: "mine" })
    for (const thread of ["t3", "t4"]) await step(thread, named).doGenerate({ prompt })
    expect(journals()).toHaveLength(3)
  })

  test("a thread of which only the newest messages are sent continues with all of them", async () => {
    const { step, journals, sim } = await mastra()
    const prompt: Prompted[] = []
    const newest = 4
    let last = ""
    for (const words of ["one", "two", "three", "four", "five"]) {
      prompt.push(message("user", words))
      const { content = [] } = await step("t1").doGenerate({ prompt: prompt.slice(-newest - 1) })
      last = content[0]!.text!
      prompt.push(message("assistant", last))
    }
    expect(last).toBe("9: five")
    expect(journals()).toHaveLength(1)
    expect(sim.stats().errors).toEqual({})
  })

  test("a model that Mastra could not reach fails with its own error", async () => {
    const { model, dir } = await mastra()
    const error = new Error("Could not find API key")
    const unreachable: MastraModel = {
      ...model,
      doGenerate: async () => ({ stream: ReadableStream.from([{ type: "error", error }]) as never }),
    }
    const { model: wrapped } = strataProcessor({ dir }).processInputStep({ model: unreachable, messages: [] })
    await expect(wrapped.doGenerate({ prompt: [message("user", "hi")] })).rejects.toBe(error)
  })
})
