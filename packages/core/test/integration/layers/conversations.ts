/** Fixtures of the layers' end-to-end tests: an agent with the simulator's clock, and a tool with results of any size. */
import { z } from "zod/v4"
import type { ResponderRequest } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { KEY } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { defaultLayers } from "../../../src/conversation/default-layers.ts"
import type { Usage } from "../../../src/messages/messages.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { agentFor, calls, codingTools, project } from "../agent/agents.ts"

export const MINUTE = 60_000

const THRIFTY = new Set(["tool-results", "microcompact"])

const inputSchema = z.object({ words: z.number() })

/** Named like a tool whose results can be fetched again. Returns this many words. */
export const say: Tool = {
  name: "Grep",
  description: "says words",
  inputSchema,
  readOnly: true,
  question: () => ({ kind: "other", summary: "say" }),
  execute: async (input) => ({
    content: `${"many words ".repeat((input as z.infer<typeof inputSchema>).words / 2)}end`,
  }),
}

export const saying = (words: number) => calls(["Grep", { words }])

/** A number of rounds with this tool, then an answer. */
export const rounds = (count: number, words: number): readonly ScriptedTurn[] => [
  ...Array.from({ length: count }, () => saying(words)),
  "Done.",
]

export function layeredAgent(
  sim: Simulator,
  options: Partial<SingleAgentOptions> & { name?: string } = {},
): Promise<Agent> {
  const { name = "claude-opus-5-5", ...rest } = options
  return agentFor(sim, project(), {
    model: anthropicModel({
      model: name,
      apiKey: KEY,
      baseURL: sim.url,
      random: () => 0,
      delay: async () => undefined,
    }),
    mode: "bypass",
    clock: { now: () => new Date(sim.clock.now()) },
    tools: [...codingTools(), say],
    ...rest,
  })
}

/** Only layers 1 and 2: the model gets no requests except those of the conversation. */
export const thriftyAgent = (sim: Simulator, options: Parameters<typeof layeredAgent>[1] = {}): Promise<Agent> =>
  layeredAgent(sim, {
    makeLayers: (surroundings) => defaultLayers(surroundings).filter(({ name }) => THRIFTY.has(name)),
    ...options,
  })

/** The usage of each response of the conversation, oldest first. */
export const usagesOf = ({ conversation: chat }: Agent): readonly Usage[] =>
  engineOf(chat)
    .views.context.storedMessages()
    .flatMap((message) => (message.type === "assistant" ? (message.message.usage ?? []) : []))

/** How much of the request is in the server's cache after a response. */
export const cachedAfter = ({ cache_read_input_tokens, cache_creation_input_tokens }: Usage): number =>
  (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0)

/** The texts of the results in a request that the simulator got. */
export const resultsIn = ({ messages }: ResponderRequest): readonly string[] =>
  messages.flatMap(({ content }) =>
    content.filter(({ type }) => type === "tool_result").map((block) => String(block.content)),
  )

export const cleared = (texts: readonly string[]) =>
  texts.filter((text) => text.startsWith("[Old tool result content cleared]")).length
