/** CACHE-3 against the cache: each request reads what the previous one wrote, however many blocks are in between. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type CacheOutcome, type PrefixItem, PromptCache } from "../../../../sim/src/cache/prompt-cache.ts"
import { MODEL, scripted, simulator } from "../../../../sim/test/simulator.ts"
import { type Block, toBlocks } from "../../../src/messages/blocks.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import { placeBreakpoints } from "../../../src/model/cache/breakpoints.ts"
import { ask, modelAt, play } from "./model.ts"

type Message = ModelRequest["messages"][number]

const TOOLS = [{ name: "Read", description: "reads ".repeat(300), input_schema: { type: "object" as const } }]
const SYSTEM = "You are thorough. ".repeat(300)
const words = (count: number, turn: number): Block[] =>
  Array.from({ length: count }, (_, i) => ({ type: "text", text: `${turn}.${i} ${"word ".repeat(20)}` }))

/** A request with breakpoints in the form in which the cache sees it: ten tokens per block. */
function toItems({ tools = [], system = [], messages }: ModelRequest): PrefixItem[] {
  return [...tools, ...toBlocks(system), ...messages.flatMap(({ content }) => toBlocks(content))].map((item) => {
    const { cache_control: mark, ...bare } = item as unknown as { cache_control?: object }
    return { hash: JSON.stringify(bare), tokens: 10, ...(mark ? { breakpoint: "5m" as const } : {}) }
  })
}

function send(cache: PromptCache, request: ModelRequest, options = {}): CacheOutcome {
  const items = toItems(placeBreakpoints(request, options))
  const outcome = cache.lookUp({ items, scope: "test", minimum: 0, now: 0 })
  cache.commit(outcome)
  return outcome
}

describe("CACHE-3, CACHE-7 read(n) = read(n−1) + written(n−1)", () => {
  /** An answer and the user's next message or, after an interruption, more text in the same message. */
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ answerTokens: fc.integer({ min: 1, max: 50 }), next: fc.integer({ min: 1, max: 50 }) }),
    },
    { weight: 1, arbitrary: fc.record({ more: fc.integer({ min: 1, max: 19 }) }) }, // 20 positions, including the one with the breakpoint
  )

  test("in every growing conversation", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), (steps, withPrompt) => {
        const cache = new PromptCache()
        const prompt = withPrompt ? { tools: TOOLS, system: SYSTEM } : {}
        let messages: Message[] = [{ role: "user", content: words(3, 0) }]
        let before = send(cache, ask({ ...prompt, messages }))
        for (const [index, grown] of steps.entries()) {
          const turn = index + 1
          const last = messages.at(-1)!
          messages =
            "more" in grown
              ? [
                  ...messages.slice(0, -1),
                  { role: "user", content: [...toBlocks(last.content), ...words(grown.more, turn)] },
                ]
              : [
                  ...messages,
                  { role: "assistant", content: words(grown.answerTokens, turn) },
                  { role: "user", content: words(grown.next, turn) },
                ]
          const now = send(cache, ask({ ...prompt, messages }))
          expect(now.read).toBe(before.read + before.write5m)
          expect(now.uncached).toBe(0)
          before = now
        }
      }),
    )
  })

  test("a fork reads everything its parent wrote and writes nothing", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), (answerTokens, asked) => {
        const cache = new PromptCache()
        const parent = ask({ tools: TOOLS, system: SYSTEM, messages: [{ role: "user", content: words(30, 0) }] })
        const written = send(cache, parent)
        const messages: Message[] = [
          ...parent.messages,
          { role: "assistant", content: words(answerTokens, 1) },
          { role: "user", content: words(asked, 1) },
        ]
        const fork = send(cache, { ...parent, messages }, { writesCache: false })
        expect(fork).toMatchObject({ read: written.write5m, write5m: 0 })
      }),
    )
  })
})

describe("CACHE-3 over HTTP", () => {
  test("each request reads what earlier ones wrote, even after a turn of forty blocks", async () => {
    const calls = Array.from({ length: 20 }, (_, i) => ({
      type: "tool_use" as const,
      id: `toolu_${i}`,
      name: "Read",
      input: { path: `${i}.ts` },
    }))
    const sim = await simulator({ responder: scripted("Well.", calls, "Done.") })
    const model = modelAt(sim)
    let messages: Message[] = [{ role: "user", content: words(5, 0) }]
    let expected = 0
    for (const turn of [1, 2, 3]) {
      const { response } = await play(model, ask({ tools: TOOLS, system: SYSTEM, messages }))
      const { cache_read_input_tokens, cache_creation_input_tokens, input_tokens } = response!.usage
      expect(cache_read_input_tokens).toBe(expected)
      expect(cache_creation_input_tokens).toBeGreaterThan(0)
      expect(input_tokens).toBe(0)
      expected += cache_creation_input_tokens!
      const results = turn === 2 ? calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" })) : []
      messages = [
        ...messages,
        { role: "assistant", content: response!.content as Block[] },
        { role: "user", content: [...(results as Block[]), ...words(3, turn)] },
      ]
    }
  })

  test("a fork that asks about the conversation writes no cache entry", async () => {
    const sim = await simulator({ responder: scripted("Well.", "A summary.", "Go on.") })
    const model = modelAt(sim)
    const parent = ask({
      model: MODEL,
      tools: TOOLS,
      system: SYSTEM,
      messages: [{ role: "user", content: words(5, 0) }],
    })
    const first = await play(model, parent)
    const written = first.response!.usage.cache_creation_input_tokens
    const messages: Message[] = [
      ...parent.messages,
      { role: "assistant", content: first.response!.content as Block[] },
      { role: "user", content: "Summarise it." },
    ]
    const fork = await play(model, { ...parent, messages }, { writesCache: false })
    expect(fork.response!.usage).toMatchObject({ cache_read_input_tokens: written, cache_creation_input_tokens: 0 })
  })
})
