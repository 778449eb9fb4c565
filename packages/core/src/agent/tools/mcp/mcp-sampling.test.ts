/** Sampling with a real server, through the agent and directly. */
import { expect, onTestFinished, test } from "vitest"
import { IN_MEMORY, openInMemory, serversInMemory } from "../../../../test/mcp-in-memory.ts"
import { ask, calling, scene } from "../../../../test/scripted-agent.ts"
import { call, testContext, textIn } from "../../../../test/tool-context.ts"
import { engineOf } from "../../../conversation/conversation.ts"
import type { SampleModel, SamplingRequest, ToolContext } from "../../../tools/tool.ts"
import { connectMcpServers } from "./mcp.ts"
import type { McpServerConfig } from "./mcp-config.ts"
import { McpSampling } from "./mcp-sampling.ts"

const server = (sampling?: McpServerConfig["sampling"]): McpServerConfig => ({
  ...IN_MEMORY,
  ...(sampling ? { sampling } : {}),
})
const YES = "Yes, in this conversation"

test("PERM-1 the model gets only what the server sent, after the person agreed, and the ledger has it", async () => {
  const { open, requests } = scene()
  const questions: string[] = []
  const turns = [calling("mcp__t__sample"), "pong", calling("mcp__t__sample"), "pong again", "Done."]
  const agent = await open(turns, {
    tools: [...serversInMemory({ t: server() })],
    mode: "bypass",
    system: "You know a secret.",
    promptUser: async ({ text }) => {
      questions.push(text)
      return YES
    },
  })
  await ask(agent, "Ask it")
  expect(JSON.stringify(requests[2]!.messages)).toContain("pong")
  expect(requests[1]).toEqual({
    model: "claude-opus-4-6",
    max_tokens: 10,
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  })
  expect(questions).toEqual([expect.stringContaining("May the MCP server t use the model in this conversation?")])
  const lines = [...engineOf(agent.conversation).views.ledger.lines.values()]
  expect(lines.find(({ purpose }) => purpose === "sampling")).toMatchObject({ requests: 2 })
})

const yes = async (): Promise<string> => YES
const no = async (): Promise<string> => "No"

async function sampled(sampling: McpServerConfig["sampling"], promptUser?: ToolContext["promptUser"]) {
  const samples: SamplingRequest[] = []
  const model: SampleModel = {
    canAsk: promptUser !== undefined,
    ask: async (sample) => {
      samples.push(sample)
      return { text: "pong", model: "m", isCut: false }
    },
  }
  const servers = await connectMcpServers({ t: server(sampling) }, { openTransport: openInMemory, sampling: model })
  onTestFinished(() => servers.close())
  const tool = servers.tools.find(({ name }) => name === "mcp__t__sample")!
  const text = textIn(await call(tool, {}, testContext(promptUser ? { promptUser } : {})))
  return { text, samples }
}

test.each([
  ["the person says no", undefined, no, "The user did not allow this server"],
  ["no one can be asked", undefined, undefined, "Strata does not let servers use its model"],
  ["the settings deny it", "deny", yes, "Strata does not let servers use its model"],
] as const)("PERM-1 the model is not asked where %s", async (_, sampling, askPerson, sentence) => {
  const { text, samples } = await sampled(sampling, askPerson)
  expect(text).toContain(sentence)
  expect(samples).toEqual([])
})

test("where the settings allow it, no one is asked", async () => {
  const { text, samples } = await sampled("allow")
  expect(text).toContain("pong")
  expect(samples).toMatchObject([{ server: "t", maxTokens: 10 }])
})

test("answers are bounded, ten requests a minute; tools, sound and a first message of the model are refused", async () => {
  const samples: SamplingRequest[] = []
  let now = 0
  const sampling = new McpSampling({
    server: "t",
    config: { sampling: "allow" },
    model: {
      canAsk: false,
      ask: async (sample) => {
        samples.push(sample)
        return { text: "so", model: "m", isCut: true }
      },
    },
    now: () => now,
  })
  const context = { promptUser: undefined, signal: new AbortController().signal }
  const userMessage = (content: object) => ({
    role: "user" as const,
    content: content as { type: "text"; text: string },
  })
  const hi = {
    messages: [userMessage({ type: "text", text: "hi" })],
    maxTokens: 100_000,
    includeContext: "allServers" as const,
  }
  const refusals = [
    { ...hi, tools: [{ name: "x", inputSchema: { type: "object" as const } }] },
    { ...hi, messages: [userMessage({ type: "audio", data: "", mimeType: "audio/wav" })] },
    { ...hi, messages: [{ ...hi.messages[0]!, role: "assistant" as const }] },
  ]
  for (const params of refusals) await expect(sampling.answer(params, context)).rejects.toMatchObject({ code: -1 })
  for (let i = 0; i < 10; i++) expect(await sampling.answer(hi, context)).toMatchObject({ stopReason: "maxTokens" })
  await expect(sampling.answer(hi, context)).rejects.toThrow("10 times a minute")
  now = 60_000
  await sampling.answer(hi, context)
  expect(samples).toHaveLength(11)
  expect(samples[0]).toEqual({
    server: "t",
    maxTokens: 4_096,
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  })
})
