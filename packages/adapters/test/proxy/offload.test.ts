/** Large results through the proxy: offloaded if the model can read the file, and only then. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { isAbsolute, join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { frozenClock, startSimulator } from "@strata/sim"
import { expect, onTestFinished, test } from "vitest"
import { isWhole } from "../../../core/test/size.ts"
import type { Answer, Responder, ResponderMessage, ResponderTurn } from "../../../sim/src/responder.ts"
import { Conversations, type ConversationsOptions } from "../../src/proxy/index.ts"
import { proxy } from "./raw-upstream.ts"

const LIMIT = 8_000 // characters; below the client's own limit, so that the layer acts
const CUT = 30_000 // characters; Claude Code returns no more
const LARGE = Array.from({ length: 9_000 }, (_, i) => `line ${i}`).join("\n")
const CUT_BY_CLIENT = LARGE.slice(0, CUT)

interface Call {
  readonly name: string
  readonly input: Record<string, unknown>
  readonly result: string
}

type Block = Readonly<Record<string, unknown>>

/** Makes the given calls one after the other, and records its requests. */
class Caller implements Responder {
  readonly name = "caller"
  next: Call | undefined
  /** The next call of Recall, made once. */
  recalls: Block | undefined
  sent: readonly ResponderMessage[] = []
  #calls = 0

  answer({ request }: ResponderTurn): Answer {
    this.sent = request.messages
    const recalls = this.recalls
    this.recalls = undefined
    if (recalls)
      return { content: [{ type: "tool_use", id: `toolu_${++this.#calls}`, name: "Recall", input: recalls }] }
    const { name, input } = this.next ?? { name: "Bash", input: {} }
    return { content: [{ type: "tool_use", id: `toolu_${++this.#calls}`, name, input }] }
  }
}

/** A client with tools: makes one call, and returns the result that the server receives. */
async function client(options: Partial<ConversationsOptions> = {}) {
  const responder = new Caller()
  const sim = await startSimulator({ responder, clock: frozenClock() })
  const home = mkdtempSync(join(tmpdir(), "strata-put-aside-"))
  const settings = { figures: { "tool-result-limit": LIMIT } }
  const plans = new Conversations({ upstream: sim.url, cwd: "/nowhere", env: {}, dir: home, settings, ...options })
  const { url } = await proxy({ upstream: sim.url, plans })
  onTestFinished(async () => {
    await plans.close()
    await sim.close()
    rmSync(home, { recursive: true, force: true })
  })
  const defaultHeaders = { "strata-conversation": "one" }
  const api = new Anthropic({
    baseURL: url,
    apiKey: "sk-ant-test",
    maxRetries: 0,
    openTelemetry: false,
    defaultHeaders,
  })
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Count the lines." }]
  const ask = (tools: readonly string[]) =>
    api.messages.create({
      model: "claude-opus-5-5",
      max_tokens: 1_000,
      tools: tools.map((name) => ({ name, input_schema: { type: "object" } })),
      messages,
    })
  const shownFor = async (call: Call, tools: readonly string[]): Promise<unknown> => {
    responder.next = call
    const { content } = await ask(tools)
    const id = content.find((block) => block.type === "tool_use")!.id
    const result = { type: "tool_result" as const, tool_use_id: id, content: call.result }
    messages.push({ role: "assistant", content }, { role: "user", content: [result] })
    await ask(tools)
    const blocks = responder.sent.flatMap(({ content }) => content as readonly unknown[] as readonly Block[])
    return blocks.find((block) => block.tool_use_id === id)!.content
  }
  const files = () =>
    readdirSync(home, { recursive: true, encoding: "utf8" }).filter((file) => /tool-results./.test(file))
  return { shownFor, files, responder }
}

const bash = (result: string, command = "make") => ({ name: "Bash", input: { command }, result })

test("BEY-11, L1-1 behind a client that cuts results, they are offloaded in a file that the model can read, whole", async () => {
  const { shownFor } = await client()
  const tools = ["Bash", "Read", "Edit"]
  expect(await shownFor(bash(LARGE.slice(0, LIMIT)), tools)).toBe(LARGE.slice(0, LIMIT))
  const shown = String(await shownFor(bash(CUT_BY_CLIENT), tools))
  const path = /All of it is in (\S+);/.exec(shown)![1]!
  expect(isAbsolute(path)).toBe(true)
  expect(readFileSync(path, "utf8")).toBe(CUT_BY_CLIENT)
  expect(await shownFor({ name: "Read", input: { file_path: path }, result: LARGE }, tools)).toBe(LARGE)
  expect(await shownFor(bash(CUT_BY_CLIENT, `cat ${path}`), tools)).toBe(CUT_BY_CLIENT)
})

test.each([[["get_weather", "search"]], [["mcp__files__read_file", "WebFetch"]]])(
  "BEY-11, L1-1 a model with the tools %s and no Recall has no way to a file, so results stay whole",
  async (tools) => {
    const settings = { switches: { "tool-result-storage": true }, figures: { "tool-result-limit": 1_000 } }
    const { shownFor, files } = await client({ settings, recall: false })
    expect(await shownFor({ name: tools[0]!, input: {}, result: LARGE }, tools)).toBe(LARGE)
    expect(files()).toEqual([])
  },
)

test.runIf(isWhole)(
  "BEY-11, L1-4 where the client takes the tools away, what follows stays whole, and what was put aside is as it was",
  async () => {
    const { shownFor, responder } = await client({ recall: false })
    const first = await shownFor(bash(CUT_BY_CLIENT), ["Bash", "search"])
    expect(first).toContain("<persisted-output>")
    const before = responder.sent
    expect(await shownFor({ name: "search", input: {}, result: LARGE }, ["search"])).toBe(LARGE)
    expect(JSON.stringify(responder.sent.slice(0, before.length)) === JSON.stringify(before)).toBe(true)
  },
)

test("BEY-11, L1-1 a model that can recall gets the handle of an offloaded result, and looks it up", async () => {
  const { shownFor, responder } = await client({ recall: "always" })
  const shown = String(await shownFor({ name: "search", input: {}, result: LARGE }, ["search"]))
  const handle = /Recall: (\S+)/.exec(shown)![1]!
  responder.recalls = { handle, offset: 50_000 }
  await shownFor({ name: "search", input: {}, result: "done" }, ["search"])
  const results = JSON.stringify(responder.sent)
  expect(results).toContain(LARGE.slice(50_000, 51_000).replaceAll("\n", "\\n"))
})
