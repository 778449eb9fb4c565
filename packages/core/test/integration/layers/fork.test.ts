import { describe, expect, test } from "vitest"
import { z } from "zod/v4"
import type { Answer, ResponderTurn } from "../../../../sim/src/responder.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import type { LayerDependencies } from "../../../src/conversation/default-layers.ts"
import { type ForkOptions, type ForkParent, isForked, runFork } from "../../../src/forks/fork.ts"
import type { Layer, LayerContext } from "../../../src/layers/layer.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, codingTools } from "../agent/agents.ts"
import { cachedAfter, layeredAgent, say, saying, usagesOf } from "./conversations.ts"

const NAME = "claude-opus-5-5"
const never = new AbortController().signal

/** Calls after a thinking block, as models make them: signed, and bound to everything before. */
const thinking =
  (turn: ScriptedTurn): ScriptedTurn =>
  async (given) => {
    const answer = (await (turn as (turn: ResponderTurn) => Answer)(given)) as Answer
    return { ...answer, content: [{ type: "thinking", thinking: "Let me look." }, ...answer.content] }
  }

/** An agent with two open calls, and every byte that it or its forks send. */
async function atWork(onFork: (turn: ResponderTurn) => Answer | string = () => "Done.", more: readonly Tool[] = []) {
  const bodies: string[] = []
  const script = scriptedResponder([
    ...Array.from({ length: 8 }, () => thinking(saying(2_000))),
    thinking(calls(["Grep", { words: 10 }], ["Wait", {}])),
    "The end.",
  ])
  const sim = await simulator({
    bindThinking: "error",
    responder: {
      name: "fork test",
      async answer(turn) {
        if (!isForked(turn.request.messages as never)) return script.answer(turn)
        const given = onFork(turn)
        return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
      },
    },
  })
  const recording: typeof fetch = (url, init) => {
    bodies.push(String(init?.body))
    return fetch(url, init)
  }
  const reached = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const wait: Tool = {
    ...say,
    name: "Wait",
    inputSchema: z.object({}),
    readOnly: false,
    async execute() {
      reached.resolve()
      await release.promise
      return { content: "waited" }
    },
  }
  const found: { context?: LayerContext; surroundings?: LayerDependencies } = {}
  const watching: Layer = {
    name: "watching",
    async afterResponse(context) {
      found.context = context
      return undefined
    },
  }
  const agent = await layeredAgent(sim, {
    model: anthropicModel({ model: NAME, client: client(sim, { fetch: recording }) }),
    tools: [...codingTools(), say, wait, ...more],
    makeLayers: (surroundings) => {
      found.surroundings = surroundings
      return [watching]
    },
  })
  const working = ask(agent, "go")
  await reached.promise
  const { model, tools, reads, toolContext } = found.surroundings!
  const openCalls = engineOf(agent.conversation).views.context.lastResponse!.message.content as readonly {
    type: string
    id: string
  }[]
  const parent: ForkParent = {
    ...{ model, tools, reads, toolContext },
    request: await found.context!.request(),
    openCalls: openCalls.filter(({ type }) => type === "tool_use").map(({ id }) => id),
  }
  const finish = async () => {
    release.resolve()
    return working
  }
  return { sim, agent, parent, bodies, finish }
}

const fork = (parent: ForkParent, directive: string, options: Partial<ForkOptions> = {}) =>
  runFork(parent, { directive, allows: () => true, maxTurns: 1, signal: never, ...options })

/** The request body without cache breakpoints. */
const unmarked = (body: string) => body.replaceAll(',"cache_control":{"type":"ephemeral"}', "")

describe("a fork over the wire", () => {
  test("L7-2 five at once: on the wire only the directive differs, and all read the parent's part from the cache", async () => {
    const { sim, agent, parent, bodies, finish } = await atWork()
    const parentBody = unmarked(bodies.at(-1)!)
    const sent = bodies.length
    const directives = ["alpha", "beta", "gamma", "delta", "epsilon"]
    const outcomes = await Promise.all(directives.map((directive) => fork(parent, directive)))
    expect(outcomes.map(({ ended, text }) => [ended, text])).toEqual(directives.map(() => ["answer", "Done."]))

    const forked = bodies.slice(sent).map(unmarked)
    const beginnings = directives.map((directive) => {
      const body = forked.find((each) => each.includes(`\\n\\n${directive}\\n<`))!
      return body.slice(0, body.indexOf(`\\n\\n${directive}\\n<`))
    })
    expect(new Set(beginnings).size).toBe(1)
    const shared = parentBody.slice(0, parentBody.lastIndexOf("]}]")) // up to the end of the parent's last block
    expect(beginnings[0]!.startsWith(shared)).toBe(true)

    for (const { responses } of outcomes) {
      const { usage } = responses[0]!
      expect(usage.cache_read_input_tokens).toBe(cachedAfter(usagesOf(agent).at(-1)!))
      expect(usage.cache_creation_input_tokens).toBe(0)
      expect(usage.cache_read_input_tokens! / (usage.cache_read_input_tokens! + usage.input_tokens)).toBeGreaterThan(
        0.95,
      )
    }
    expect((await finish()).end).toMatchObject({ reason: "answer", text: "The end." })
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })

  test("L7-1 with several turns it also reads its own earlier ones, and the parent misses nothing", async () => {
    const { agent, parent, finish } = await atWork((turn) => {
      const last = turn.request.messages.at(-1)!.content.at(-1)!
      return last.type === "tool_result"
        ? "Looked."
        : { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Grep", input: { words: 500 } }] }
    })
    const outcome = await fork(parent, "Look.", { maxTurns: 3 })
    expect(outcome).toMatchObject({ ended: "answer", text: "Looked.", turns: 2 })
    const [first, second] = outcome.responses.map(({ usage }) => usage)
    expect(second!.cache_read_input_tokens).toBe(cachedAfter(first!))
    await finish()
    const [before, last] = usagesOf(agent).slice(-2)
    expect(last!.cache_read_input_tokens).toBe(cachedAfter(before!))
  })

  test("L7-3 the tool that makes forks stays in a fork's list, and fails there with a clear message", async () => {
    const results: string[] = []
    const state: { parent?: ForkParent } = {}
    const agentTool: Tool = {
      ...say,
      name: "Agent",
      inputSchema: z.object({ prompt: z.string() }),
      async execute(input) {
        const { text } = await fork(state.parent!, (input as { prompt: string }).prompt)
        return { content: text }
      },
    }
    const { parent, finish } = await atWork(
      (turn) => {
        const last = turn.request.messages.at(-1)!.content.at(-1)!
        expect(turn.request.tools?.map(({ name }) => name)).toContain("Agent")
        if (last.type === "tool_result") {
          results.push(String(last.content))
          return "So be it."
        }
        // a fork of the fork would begin with the messages of this one
        state.parent = { ...parent, request: { ...parent.request, messages: turn.request.messages as never } }
        return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Agent", input: { prompt: "again" } }] }
      },
      [agentTool],
    )
    expect(await fork(parent, "Start another.", { maxTurns: 3 })).toMatchObject({ ended: "answer", text: "So be it." })
    expect(results).toEqual([expect.stringMatching(/^A fork cannot start another fork, so nothing was started/)])
    await finish()
  })

  test.runIf(isWhole)("L7-1 aborted with its parent, in the middle of an answer", async () => {
    const stop = new AbortController()
    const { parent, finish } = await atWork(() => `${"many words ".repeat(500)}end`)
    const outcome = await fork(parent, "Talk.", { signal: stop.signal, onText: () => stop.abort() })
    expect(outcome).toMatchObject({ ended: "aborted", turns: 0 })
    await finish()
  })
})
