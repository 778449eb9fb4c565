/** Switching from a large window to smaller ones: later requests fit, however full the conversation was. */
import { expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { validateRequest } from "../../../src/messages/validate/validator.ts"
import type { Model } from "../../../src/model/model.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { scene } from "../../scripted-agent.ts"

const LARGE = "claude-opus-4-6[1m]"
const MIDDLE = "claude-opus-4-5"
const SMALL = "claude-sonnet-4" // refuses a request if its input and maximum output exceed the window together
const MODELS = { [SMALL]: { window: 32_000, maxOutput: 4_000 } }
const SETTINGS = { models: MODELS, switches: { notes: false, "auto-memory": false, "compact-audit": false } }
const TURN_TOKENS = 5_000

const modelNamed = (name: string): Model => ({
  name,
  provider: "test",
  facts: findModel(name, MODELS).facts,
  async *stream() {
    const content = [{ type: "text" as const, text: "The parser was repaired, and its tests pass." }]
    const usage = { input_tokens: 1_000, output_tokens: 10 }
    yield { type: "response", response: { id: "msg_s", model: name, content, stop_reason: "end_turn", usage } as never }
  },
})

/** Rounds of a tool until the conversation has about this many tokens. */
async function fill({ conversation: chat }: Agent, tokens: number): Promise<void> {
  await chat.add("Go through the logs.")
  for (let round = 0; chat.windowUsage().used < tokens - TURN_TOKENS / 2; round++) {
    const id = `toolu_${round}`
    const input_tokens = chat.windowUsage().used
    await chat.record({
      ...{ id: `msg_${round}`, model: LARGE, stop_reason: "tool_use", usage: { input_tokens, output_tokens: 20 } },
      content: [{ type: "tool_use", id, name: "TodoWrite", input: {} }],
    })
    const content = `round ${round} of the log: ${"several words ".repeat(TURN_TOKENS / 2.6)}`
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] })
  }
}

/** Fits everywhere; not in the smallest; in neither of the two. */
test.each([8_000, 30_000, 185_000])(
  "WIN-7 1M → 200K → 32K with about %i tokens: no request is over the limit of its model",
  async (tokens) => {
    const { open } = scene()
    let agent = await open([], { model: modelNamed(LARGE), settings: SETTINGS, tools: [] })
    await fill(agent, tokens)
    for (const name of [MIDDLE, SMALL]) {
      const target = modelNamed(name)
      await agent.makeRoomFor(target)
      await agent.close()
      agent = await open([], { model: target, settings: SETTINGS, tools: [] })
      const { conversation: chat } = agent
      const before = engineOf(chat).views.compactions.count
      const request = await chat.prepare()
      const inputTokens = engineOf(chat).views.context.size().tokens
      expect(validateRequest({ request, model: target.facts, inputTokens })).toEqual([])
      expect(inputTokens).toBeLessThan(chat.thresholds.limit)
      expect(engineOf(chat).views.compactions.count).toBe(before) // the previous model made the space
    }
  },
)
