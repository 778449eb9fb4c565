/**
 * Core against the simulator: random conversations go through `openConversation`, and every request it prepares is sent to the simulator
 * with the official SDK. The simulator must accept what core's own validator accepts.
 *
 * `FUZZ_RUNS` sets how many conversations, `FUZZ_SEED` which ones.
 */
import Anthropic from "@anthropic-ai/sdk"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Answer, AnswerBlock, Responder, ResponderTurn } from "../../../sim/src/responder.ts"
import type { Simulator } from "../../../sim/src/start.ts"
import { KEY, simulator } from "../../../sim/test/simulator.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import type { ModelRequest } from "../../src/messages/request.ts"
import type { ModelResponse } from "../../src/model/model.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { type DecidingLayer, decidingLayer } from "../deciding-layer.ts"
import { openTestConversation } from "../open.ts"
import { size } from "../size.ts"
import { conversations, decidedConversations, newPlayer, type Player, play, type Step } from "../steps.ts"

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? size(20, 30)), seed: Number(process.env.FUZZ_SEED ?? 1) }
const PREPARE: Step = { kind: "prepare" }

/** Sends a request with core's exact serialization. The SDK would serialize tool inputs differently. */
const clientOf = ({ url }: Simulator) =>
  new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, timeout: 60_000, openTelemetry: false })

async function send(client: Anthropic, request: ModelRequest): Promise<Anthropic.Message> {
  try {
    return await client.messages.create(request)
  } catch (error) {
    if (!(error instanceof Anthropic.APIError)) throw error
    throw new Error(`${error.status} ${error.message}\n${serialiseRequest(request)}`)
  }
}

async function open(model: string): Promise<{ chat: Conversation; player: Player; layer: DecidingLayer }> {
  const layer = decidingLayer()
  const chat = await openTestConversation({ model, layers: [layer] })
  chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
  return { chat, player: newPlayer(layer), layer }
}

const kinds = [
  ["with decisions of layers", decidedConversations],
  ["without layers", conversations],
] as const
test.each(kinds.slice(0, size(1, kinds.length)))(
  "invariant 1, BEY-8: no request that core prepares is refused, %s",
  async (_name, arbitrary) => {
    const client = clientOf(await simulator({ bindThinking: "off" })) // the signatures in these conversations are invented
    let sent = 0
    await fc.assert(
      fc.asyncProperty(arbitrary, async (steps) => {
        const { chat, player } = await open("claude-opus-4-6")
        for (const step of [...steps, PREPARE]) {
          const request = await play(chat, step, player)
          if (!request) continue
          await send(client, request)
          sent++
        }
        await chat.close()
      }),
      RUNS,
    )
    expect(sent).toBeGreaterThan(RUNS.numRuns)
  },
)

type AnswerPart = Exclude<AnswerBlock, { type: "tool_use" }> | { type: "tool_use"; name: string; input: unknown }

/** Gives the answer that the test sets next. */
class NextAnswer implements Responder {
  readonly name = "next"
  content: readonly AnswerPart[] = []

  answer({ nextToolUseId }: ResponderTurn): Answer {
    return {
      content: this.content.map((block) => (block.type === "tool_use" ? { ...block, id: nextToolUseId() } : block)),
    }
  }
}

/** A possible answer of a model at a step: first thinking, then text, then calls. */
function answerOf(step: Extract<Step, { kind: "respond" }>): AnswerPart[] {
  const blocks = step.pieces.flatMap(({ blocks }) => blocks)
  const visible = blocks.flatMap((block): AnswerPart[] => {
    if (block.block === "text" && block.text.trim() !== "") return [{ type: "text", text: block.text }]
    const isCall = block.block === "tool" && /^[\w-]+$/.test(block.name) // another test covers calls that no API would return
    return isCall ? [{ type: "tool_use", name: block.name, input: { path: "a.ts" } }] : []
  })
  const thought = blocks.flatMap((block): AnswerPart[] =>
    block.block === "thinking" ? [{ type: "thinking", thinking: block.text || "Hm." }] : [],
  )
  const all = [...thought.slice(0, 1), ...visible]
  return visible.length > 0 ? all : [...all, { type: "text", text: "Yes." }]
}

test("invariant 1, BEY-8: no request is refused by a model with bound thinking", async () => {
  const responder = new NextAnswer()
  const client = clientOf(await simulator({ responder, bindThinking: "error" }))
  let thoughts = 0
  await fc.assert(
    fc.asyncProperty(conversations, async (steps) => {
      const { chat, player } = await open("claude-opus-5-5")
      for (const step of [...steps, PREPARE]) {
        if (step.kind !== "respond") {
          const request = await play(chat, step, player)
          if (request) await send(client, request)
          continue
        }
        const request = await chat.prepare()
        responder.content = answerOf(step)
        const response = await send(client, request)
        thoughts += response.content.filter(({ type }) => type === "thinking").length
        for (const block of response.content) if (block.type === "tool_use") player.calls.push(block.id)
        player.messages.push(await chat.record(response as ModelResponse))
      }
      await chat.close()
    }),
    RUNS,
  )
  expect(thoughts).toBeGreaterThan(RUNS.numRuns / 2)
})
